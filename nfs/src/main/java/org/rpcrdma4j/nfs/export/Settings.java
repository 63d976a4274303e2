// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;

/** The system calls that set attributes, none of which follows a symbolic link. */
final class Settings {

    private static final String MODE = "unix:mode";

    private Settings() {}

    /**
     * Sets the mode of a regular file or directory. Java opens the file for that, so it must not be a pipe or a device, and a user without privileges
     * must be able to read or write it; if neither, the mode is set by path, as there is no privilege that a link could abuse.
     */
    static void setMode(Path path, int mode, boolean privileged) throws IOException {
        try {
            Files.setAttribute(path, MODE, mode, LinkOption.NOFOLLOW_LINKS);
        } catch (AccessDeniedException e) {
            if (privileged || FileStatus.read(path).isSymbolicLink()) {
                throw e;
            }
            Files.setAttribute(path, MODE, mode);
        }
    }

    /** Sets the mode of an open file by its entry in {@code /proc/self/fd}. */
    static void setModeOfOpen(Path entry, int mode) throws IOException {
        Files.setAttribute(entry, MODE, mode);
    }

    /** Sets the owner, then the group, as far as they are to be others. */
    static void setOwner(Path path, FileStatus now, int uid, int gid) throws IOException {
        if (uid != now.uid()) {
            Files.setAttribute(path, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
        }
        if (gid != now.gid()) {
            Files.setAttribute(path, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
        }
    }

    /** Sets times, of a symbolic link itself. Java opens the file for that, if it isn't one. */
    static void setTimes(Path path, SetTime access, SetTime modify) throws IOException, Refusal {
        FileTime accessTime = timeOf(access);
        FileTime modifyTime = timeOf(modify);
        if (accessTime != null || modifyTime != null) {
            Files.getFileAttributeView(path, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setTimes(modifyTime, accessTime, null);
        }
    }

    private static @Nullable FileTime timeOf(SetTime time) throws Refusal {
        return switch (time) {
            case SetTime.Keep _ -> null;
            case SetTime.Server _ -> FileTime.from(Instant.now());
            case SetTime.To to -> {
                check(to);
                yield FileTime.from(to.time().toInstant());
            }
        };
    }

    /** RFC 1813, Section 2.6: nanoseconds are less than a second. */
    static void check(SetTime time) throws Refusal {
        if (time instanceof SetTime.To to && !to.time().isValid()) {
            throw new Refusal(Status.INVAL);
        }
    }

    /** Cuts or extends an open file, by its entry in {@code /proc/self/fd}. */
    static void setSize(OpenFiles.Entry entry, long size) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(entry.path.toFile(), "rw")) {
            file.setLength(size);
        } catch (FileNotFoundException e) {
            // The mode does not allow it any more; the channel was opened before.
            setSizeByChannel(entry, size);
        }
    }

    private static void setSizeByChannel(OpenFiles.Entry entry, long size) throws IOException {
        if (size > entry.channel.size()) {
            entry.channel.write(ByteBuffer.allocate(1), size - 1);
        } else {
            entry.channel.truncate(size);
        }
    }
}
