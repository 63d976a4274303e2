// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.local;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.PathBytes;

/**
 * Names are bytes (RFC 1813, Section 3.2), on the wire and in the file system; a {@link Path} keeps them, but takes and gives them only as text, in
 * the platform's encoding, or as a file: URI, whose percent-encoding is of bytes. So ASCII goes by text, which is the same in the encodings
 * that Linux platforms have, and everything else by URI.
 */
public final class LocalPaths {

    private static final boolean ASCII_IS_TEXT = Set.of("UTF-8", "ANSI_X3.4-1968", "US-ASCII", "ISO-8859-1")
            .contains(System.getProperty("sun.jnu.encoding", ""));

    /** Nothing is below it, so a URI of a path there says nothing about directories. */
    private static final Path NOWHERE = Path.of("/dev/null");

    private static final String NOWHERE_TEXT = "/dev/null/";
    private static final HexFormat HEX = HexFormat.of();

    private LocalPaths() {}

    /**
     * The relative path of one name.
     *
     * @throws IllegalArgumentException if it can't be a name: empty, or with a slash or a zero byte in it
     */
    public static Path toPath(FileName name) {
        if (!name.isPlain() && !name.isDots()) {
            throw new IllegalArgumentException("not the name of a file: \"" + name + "\"");
        }
        return toPath(name.bytes());
    }

    private static Path toPath(byte[] name) {
        if (ASCII_IS_TEXT && isAscii(name)) {
            return Path.of(new String(name, StandardCharsets.US_ASCII));
        }
        StringBuilder uri = new StringBuilder(8 + 3 * name.length).append("file:///");
        for (byte b : name) {
            uri.append('%');
            HEX.toHexDigits(uri, b);
        }
        return Path.of(URI.create(uri.toString())).getFileName();
    }

    /** The last name of a path, which must have one. */
    public static FileName nameOf(Path path) {
        Path name = path.getFileName();
        if (name == null) {
            throw new IllegalArgumentException("a path without a name: " + path);
        }
        return FileName.of(bytesOf(name));
    }

    /** What a path says; the inverse of {@link #toTarget}, but for slashes at its end and double ones. */
    public static PathBytes toBytes(Path target) {
        if (!target.isAbsolute()) {
            return PathBytes.of(bytesOf(target));
        }
        int names = target.getNameCount();
        byte[] relative = names == 0 ? new byte[0] : bytesOf(target.subpath(0, names));
        byte[] absolute = new byte[relative.length + 1];
        absolute[0] = '/';
        System.arraycopy(relative, 0, absolute, 1, relative.length);
        return PathBytes.of(absolute);
    }

    private static byte[] bytesOf(Path relative) {
        if (ASCII_IS_TEXT) {
            byte[] text = relative.toString().getBytes(StandardCharsets.UTF_8);
            if (isAscii(text)) {
                return text;
            }
        }
        String uri = NOWHERE.resolve(relative).toUri().getRawPath();
        return decode(uri.substring(NOWHERE_TEXT.length()));
    }

    private static byte[] decode(String encoded) {
        byte[] bytes = new byte[encoded.length()];
        int length = 0;
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c == '%') {
                bytes[length++] = (byte) HexFormat.fromHexDigits(encoded, i + 1, i + 3);
                i += 2;
            } else {
                bytes[length++] = (byte) c;
            }
        }
        return Arrays.copyOf(bytes, length);
    }

    /**
     * The path for a symbolic link to say. A {@link Path} has neither double slashes nor one at its end, so they are lost; that changes nothing
     * of what the link means but that it may be a file.
     *
     * @throws InvalidPathException if no link can say it: it is empty, or holds a zero byte
     */
    public static Path toTarget(PathBytes target) {
        byte[] bytes = target.bytes();
        if (bytes.length == 0) {
            throw new InvalidPathException("", "empty");
        }
        Path path = bytes[0] == '/' ? Path.of("/") : Path.of("");
        int start = 0;
        for (int end = 0; end <= bytes.length; end++) {
            if (end < bytes.length && bytes[end] == 0) {
                throw new InvalidPathException(target.toString(), "a zero byte");
            }
            if (end == bytes.length || bytes[end] == '/') {
                if (end > start) {
                    path = path.resolve(toPath(Arrays.copyOfRange(bytes, start, end)));
                }
                start = end + 1;
            }
        }
        return path;
    }

    private static boolean isAscii(byte[] bytes) {
        for (byte b : bytes) {
            if (b < 0) {
                return false;
            }
        }
        return true;
    }
}
