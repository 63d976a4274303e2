// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.Time;

/**
 * What lstat says of a file, from Java's "unix" attributes.
 *
 * @param mode with the bits of the type
 * @param birth when the inode was made, in nanoseconds since 1970: of use only if the file system has it ({@link Births})
 */
record FileStatus(
        long inode,
        long device,
        long birth,
        int mode,
        int links,
        int uid,
        int gid,
        long rawDevice,
        long size,
        FileTime accessTime,
        FileTime modifyTime,
        FileTime changeTime) {

    static final int SET_UID = 04000;
    static final int SET_GID = 02000;
    static final int STICKY = 01000;

    /** The bits that SETATTR sets. */
    static final int MODE_BITS = 07777;

    private static final int TYPE_BITS = 0170000;
    private static final long BLOCK = 4096;
    private static final String WANTED =
            "unix:ino,dev,creationTime,mode,nlink,uid,gid,rdev,size,lastAccessTime,lastModifiedTime,ctime";

    /** Reads it, of the file itself if it is a symbolic link. */
    static FileStatus read(Path path) throws IOException {
        return of(Files.readAttributes(path, WANTED, LinkOption.NOFOLLOW_LINKS));
    }

    /** Reads that of an open file by its entry in {@code /proc/self/fd}. */
    static FileStatus ofOpen(Path entry) throws IOException {
        return of(Files.readAttributes(entry, WANTED));
    }

    private static FileStatus of(Map<String, Object> all) throws IOException {
        return new FileStatus(
                number(all, "ino"),
                number(all, "dev"),
                time(all, "creationTime").to(TimeUnit.NANOSECONDS),
                (int) number(all, "mode"),
                (int) number(all, "nlink"),
                (int) number(all, "uid"),
                (int) number(all, "gid"),
                number(all, "rdev"),
                number(all, "size"),
                time(all, "lastAccessTime"),
                time(all, "lastModifiedTime"),
                time(all, "ctime"));
    }

    private static long number(Map<String, Object> all, String name) throws IOException {
        if (all.get(name) instanceof Number number) {
            return number.longValue();
        }
        throw new IOException("no attribute unix:" + name);
    }

    private static FileTime time(Map<String, Object> all, String name) throws IOException {
        if (all.get(name) instanceof FileTime time) {
            return time;
        }
        throw new IOException("no attribute unix:" + name);
    }

    FileType type() {
        return switch (mode & TYPE_BITS) {
            case 0040000 -> FileType.DIRECTORY;
            case 0120000 -> FileType.SYMBOLIC_LINK;
            case 0060000 -> FileType.BLOCK_DEVICE;
            case 0020000 -> FileType.CHARACTER_DEVICE;
            case 0010000 -> FileType.FIFO;
            case 0140000 -> FileType.SOCKET;
            default -> FileType.REGULAR;
        };
    }

    boolean isDirectory() {
        return (mode & TYPE_BITS) == 0040000;
    }

    boolean isRegular() {
        return (mode & TYPE_BITS) == 0100000;
    }

    boolean isSymbolicLink() {
        return (mode & TYPE_BITS) == 0120000;
    }

    /** RFC 1813, Section 2.6: fattr3. Java does not tell the blocks of a file, so what it uses is taken to be its size, in whole blocks. */
    Attributes attributes(long fileSystem) {
        long used = size > Long.MAX_VALUE - BLOCK ? size : (size + BLOCK - 1) / BLOCK * BLOCK;
        FileType type = type();
        boolean isDevice = type == FileType.BLOCK_DEVICE || type == FileType.CHARACTER_DEVICE;
        return new Attributes(
                type,
                mode & MODE_BITS,
                links,
                uid,
                gid,
                size,
                used,
                isDevice ? major(rawDevice) : 0,
                isDevice ? minor(rawDevice) : 0,
                fileSystem,
                inode,
                Time.of(accessTime.toInstant()),
                Time.of(modifyTime.toInstant()),
                Time.of(changeTime.toInstant()));
    }

    private static int major(long device) {
        return (int) ((device >>> 8 & 0xfff) | (device >>> 32 & ~0xfffL));
    }

    private static int minor(long device) {
        return (int) ((device & 0xff) | (device >>> 12 & ~0xffL));
    }
}
