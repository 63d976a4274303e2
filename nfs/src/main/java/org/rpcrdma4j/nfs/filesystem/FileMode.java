// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/** Permission bits. */
final class FileMode {

    /** Of a new file for which nobody says otherwise, before the process's mask. */
    static final int FILE = 0666;

    /** Of a new directory. */
    static final int DIRECTORY = 0777;

    private static final int USUAL_MASK = 022;
    private static final PosixFilePermission[] FROM_HIGHEST = PosixFilePermission.values();

    /** Read once, as nothing in a JVM changes it. */
    private static final int MASK = mask();

    private FileMode() {}

    /** The process's mask as Linux tells it; elsewhere the usual one. */
    private static int mask() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("Umask:")) {
                    return Integer.parseInt(line.substring("Umask:".length()).strip(), 8) & 0777;
                }
            }
        } catch (IOException | NumberFormatException e) {
            System.getLogger(FileMode.class.getName()).log(System.Logger.Level.DEBUG, "no mask of the process", e);
        }
        return USUAL_MASK;
    }

    /** RFC 1813, Section 2.6: the lowest nine bits, from the owner's reading to others' executing. */
    static Set<PosixFilePermission> permissions(int mode) {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (PosixFilePermission permission : FROM_HIGHEST) {
            if ((mode & bit(permission)) != 0) {
                permissions.add(permission);
            }
        }
        return permissions;
    }

    static int bits(Set<?> permissions) {
        int mode = 0;
        for (Object permission : permissions) {
            mode |= bit((PosixFilePermission) permission);
        }
        return mode;
    }

    private static int bit(PosixFilePermission permission) {
        return switch (permission) {
            case OWNER_READ -> 0400;
            case OWNER_WRITE -> 0200;
            case OWNER_EXECUTE -> 0100;
            case GROUP_READ -> 0040;
            case GROUP_WRITE -> 0020;
            case GROUP_EXECUTE -> 0010;
            case OTHERS_READ -> 0004;
            case OTHERS_WRITE -> 0002;
            case OTHERS_EXECUTE -> 0001;
        };
    }

    /**
     * The mode of a new file: what {@code posix:permissions} says, else the given bits; less the process's mask.
     *
     * @throws UnsupportedOperationException if there is another attribute
     */
    static int ofNew(int usual, FileAttribute<?>... attributes) {
        int mode = usual;
        for (FileAttribute<?> attribute : attributes) {
            if (!attribute.name().equals("posix:permissions") || !(attribute.value() instanceof Set<?> permissions)) {
                throw new UnsupportedOperationException("cannot be set when a file is made: " + attribute.name());
            }
            mode = bits(permissions);
        }
        return masked(mode);
    }

    static int masked(int mode) {
        return mode & ~MASK;
    }
}
