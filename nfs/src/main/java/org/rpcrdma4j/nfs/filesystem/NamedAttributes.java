// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.UserPrincipal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;

/** Attributes by names, such as {@code posix:permissions,owner} or {@code unix:*}. */
final class NamedAttributes {

    static final Set<String> VIEWS = Set.of("basic", "posix", "owner", "unix");

    private static final List<String> BASIC = List.of(
            "lastModifiedTime",
            "lastAccessTime",
            "creationTime",
            "size",
            "isRegularFile",
            "isDirectory",
            "isSymbolicLink",
            "isOther",
            "fileKey");
    private static final List<String> POSIX = join(BASIC, List.of("permissions", "owner", "group"));
    private static final List<String> UNIX =
            join(POSIX, List.of("mode", "ino", "dev", "rdev", "nlink", "uid", "gid", "ctime"));

    private NamedAttributes() {}

    private static List<String> join(List<String> first, List<String> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    /**
     * The names of a view.
     *
     * @throws UnsupportedOperationException if there is no such view
     */
    private static List<String> namesOf(String view) {
        return switch (view) {
            case "basic" -> BASIC;
            case "posix" -> POSIX;
            case "owner" -> List.of("owner");
            case "unix" -> UNIX;
            default -> throw new UnsupportedOperationException("no attribute view \"" + view + "\"");
        };
    }

    private static String viewOf(String attributes) {
        int colon = attributes.indexOf(':');
        return colon < 0 ? "basic" : attributes.substring(0, colon);
    }

    private static String rest(String attributes) {
        return attributes.substring(attributes.indexOf(':') + 1);
    }

    static Map<String, Object> read(NfsAttributeView file, String attributes) throws IOException {
        List<String> known = namesOf(viewOf(attributes));
        Set<String> wanted = new java.util.LinkedHashSet<>();
        for (String name : rest(attributes).split(",", -1)) {
            if (name.equals("*")) {
                wanted.addAll(known);
            } else if (known.contains(name)) {
                wanted.add(name);
            } else {
                throw new IllegalArgumentException("no attribute \"" + name + "\" in " + attributes);
            }
        }
        NfsFileAttributes found = file.readAttributes();
        Map<String, Object> values = new LinkedHashMap<>();
        wanted.forEach(name -> values.put(name, value(found, name)));
        return values;
    }

    private static Object value(NfsFileAttributes file, String name) {
        Attributes raw = file.raw();
        return switch (name) {
            case "lastModifiedTime" -> file.lastModifiedTime();
            case "lastAccessTime" -> file.lastAccessTime();
            case "creationTime" -> file.creationTime();
            case "size" -> file.size();
            case "isRegularFile" -> file.isRegularFile();
            case "isDirectory" -> file.isDirectory();
            case "isSymbolicLink" -> file.isSymbolicLink();
            case "isOther" -> file.isOther();
            case "fileKey" -> file.fileKey();
            case "permissions" -> file.permissions();
            case "owner" -> file.owner();
            case "group" -> file.group();
            case "mode" -> raw.mode() | typeBits(raw);
            case "ino" -> raw.fileId();
            case "dev" -> raw.fileSystem();
            case "rdev" -> Integer.toUnsignedLong(raw.deviceMajor()) << 32 | Integer.toUnsignedLong(raw.deviceMinor());
            case "nlink" -> raw.links();
            case "uid" -> raw.uid();
            case "gid" -> raw.gid();
            case "ctime" -> file.changeTime();
            default -> throw new IllegalArgumentException("no attribute \"" + name + "\"");
        };
    }

    /** What Unix has in front of the permission bits. */
    private static int typeBits(Attributes raw) {
        return switch (raw.type()) {
            case REGULAR -> 0100000;
            case DIRECTORY -> 0040000;
            case BLOCK_DEVICE -> 0060000;
            case CHARACTER_DEVICE -> 0020000;
            case SYMBOLIC_LINK -> 0120000;
            case SOCKET -> 0140000;
            case FIFO -> 0010000;
        };
    }

    static void set(NfsAttributeView file, String attribute, Object value) throws IOException {
        String name = rest(attribute);
        if (!namesOf(viewOf(attribute)).contains(name)) {
            throw new IllegalArgumentException("no attribute \"" + name + "\" in " + attribute);
        }
        switch (name) {
            case "lastModifiedTime" -> file.setTimes((FileTime) value, null, null);
            case "lastAccessTime" -> file.setTimes(null, (FileTime) value, null);
            case "creationTime" -> file.setTimes(null, null, (FileTime) value);
            case "permissions" -> file.set(SetAttributes.NONE.withMode(FileMode.bits((Set<?>) value)));
            case "owner" -> file.setOwner((UserPrincipal) value);
            case "group" -> file.setGroup((GroupPrincipal) value);
            case "mode" -> file.set(SetAttributes.NONE.withMode((Integer) value & 07777));
            case "uid" -> file.set(SetAttributes.NONE.withUid((Integer) value));
            case "gid" -> file.set(SetAttributes.NONE.withGid((Integer) value));
            default -> throw new UnsupportedOperationException("cannot be set: " + attribute);
        }
    }
}
