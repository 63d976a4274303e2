// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.PathBytes;

/**
 * A path below an export: names, from its root on. Names are bytes. {@code .} and {@code ..} are kept as they are; whoever walks the path
 * gives them their meaning.
 *
 * @param names the names; none for the root
 */
public record NfsPath(List<FileName> names) {

    /** The export's root. */
    public static final NfsPath ROOT = new NfsPath(List.of());

    private static final String UNRESERVED =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@";

    /**
     * Keeps a copy of the names.
     *
     * @throws IllegalArgumentException if a name is empty or holds a slash or a zero byte
     */
    public NfsPath {
        names = List.copyOf(names);
        for (FileName name : names) {
            if (!name.isPlain() && !name.isDots()) {
                throw new IllegalArgumentException("not the name of a file: \"" + name + "\"");
            }
        }
    }

    /** A path of names. */
    public static NfsPath of(FileName... names) {
        return new NfsPath(List.of(names));
    }

    /** A path from text in UTF-8, cut at slashes; empty names are left out. */
    public static NfsPath parse(String text) {
        return parse(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A path from bytes, cut at slashes; empty names are left out. */
    public static NfsPath parse(byte[] bytes) {
        List<FileName> names = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= bytes.length; i++) {
            if (i == bytes.length || bytes[i] == '/') {
                if (i > start) {
                    names.add(FileName.of(java.util.Arrays.copyOfRange(bytes, start, i)));
                }
                start = i + 1;
            }
        }
        return new NfsPath(names);
    }

    /** Whether it is the root. */
    public boolean isRoot() {
        return names.isEmpty();
    }

    /** Number of names. */
    public int depth() {
        return names.size();
    }

    /** The last name; null for the root. */
    public @Nullable FileName name() {
        return names.isEmpty() ? null : names.getLast();
    }

    /** The path without its last name; null for the root. */
    public @Nullable NfsPath parent() {
        return names.isEmpty() ? null : first(names.size() - 1);
    }

    /** The path of the first names. */
    public NfsPath first(int count) {
        return new NfsPath(names.subList(0, count));
    }

    /** The path of the names after the first ones. */
    public NfsPath after(int count) {
        return new NfsPath(names.subList(count, names.size()));
    }

    /** The path with one name more. */
    public NfsPath resolve(FileName name) {
        List<FileName> more = new ArrayList<>(names);
        more.add(name);
        return new NfsPath(more);
    }

    /** The path with one name more, in UTF-8. */
    public NfsPath resolve(String name) {
        return resolve(FileName.of(name));
    }

    /** The path with the other's names behind its own. */
    public NfsPath resolve(NfsPath other) {
        List<FileName> more = new ArrayList<>(names);
        more.addAll(other.names);
        return new NfsPath(more);
    }

    /** Whether it begins with all names of the other. */
    public boolean startsWith(NfsPath other) {
        return names.size() >= other.names.size()
                && names.subList(0, other.names.size()).equals(other.names);
    }

    /** The bytes that MOUNT and symbolic links carry: a slash before each name, one slash for the root. */
    public PathBytes toPathBytes() {
        java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        for (FileName name : names) {
            bytes.write('/');
            bytes.writeBytes(name.bytes());
        }
        return names.isEmpty() ? PathBytes.of("/") : PathBytes.of(bytes.toByteArray());
    }

    /** As the path of a URL: a slash before each name, bytes that are not plain percent-encoded. */
    public String toUrlPath() {
        StringBuilder text = new StringBuilder();
        for (FileName name : names) {
            text.append('/');
            for (byte b : name.bytes()) {
                if (UNRESERVED.indexOf(b) >= 0) {
                    text.append((char) b);
                } else {
                    text.append(String.format(Locale.ROOT, "%%%02X", b));
                }
            }
        }
        return text.isEmpty() ? "/" : text.toString();
    }

    /** For people: a slash before each name, unprintable bytes as {@code \xHH}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (FileName name : names) {
            text.append('/').append(name);
        }
        return text.isEmpty() ? "/" : text.toString();
    }
}
