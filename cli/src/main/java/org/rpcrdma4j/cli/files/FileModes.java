// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileType;

/** Permissions, as people write them and as this process gives them. */
public final class FileModes {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final int USUAL_UMASK = 022;
    private static final int SET_USER = 04000;
    private static final int SET_GROUP = 02000;
    private static final int STICKY = 01000;

    private FileModes() {}

    /** The permissions that this process does not give to what it makes: with NFS that is the client's to know. 022 if it can't be found out. */
    public static int umask() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith("Umask:")) {
                    return Integer.parseInt(line.substring("Umask:".length()).strip(), 8);
                }
            }
        } catch (IOException | NumberFormatException e) {
            System.getLogger(FileModes.class.getName()).log(System.Logger.Level.DEBUG, "no umask in " + STATUS, e);
        }
        return USUAL_UMASK;
    }

    /** Type and permissions as {@code ls -l} writes them: drwxr-x--T. */
    public static String text(Attributes attributes) {
        int mode = attributes.mode();
        char[] text = {
            letter(attributes.type()),
            bit(mode, 0400, 'r'),
            bit(mode, 0200, 'w'),
            execute(mode, 0100, SET_USER, 's'),
            bit(mode, 0040, 'r'),
            bit(mode, 0020, 'w'),
            execute(mode, 0010, SET_GROUP, 's'),
            bit(mode, 0004, 'r'),
            bit(mode, 0002, 'w'),
            execute(mode, 0001, STICKY, 't')
        };
        return new String(text);
    }

    private static char letter(FileType type) {
        return switch (type) {
            case REGULAR -> '-';
            case DIRECTORY -> 'd';
            case BLOCK_DEVICE -> 'b';
            case CHARACTER_DEVICE -> 'c';
            case SYMBOLIC_LINK -> 'l';
            case SOCKET -> 's';
            case FIFO -> 'p';
        };
    }

    private static char bit(int mode, int bit, char letter) {
        return (mode & bit) != 0 ? letter : '-';
    }

    private static char execute(int mode, int bit, int special, char letter) {
        boolean executable = (mode & bit) != 0;
        if ((mode & special) == 0) {
            return executable ? 'x' : '-';
        }
        return executable ? letter : Character.toUpperCase(letter);
    }

    /** What the file is, in words. */
    public static String words(FileType type) {
        return switch (type) {
            case REGULAR -> "regular file";
            case DIRECTORY -> "directory";
            case BLOCK_DEVICE -> "block device";
            case CHARACTER_DEVICE -> "character device";
            case SYMBOLIC_LINK -> "symbolic link";
            case SOCKET -> "socket";
            case FIFO -> "fifo";
        };
    }
}
