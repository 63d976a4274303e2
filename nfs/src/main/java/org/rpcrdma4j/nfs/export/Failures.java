// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * The one place where failures of the local file system become statuses. Java has types for a few of them; of the others only the C library's
 * text is left, in whatever language the process speaks: run in the C locale, or they are all NFS3ERR_IO.
 */
final class Failures {

    private static final Map<String, Status> BY_TEXT = Map.ofEntries(
            Map.entry("Operation not permitted", Status.PERM),
            Map.entry("No such file or directory", Status.NOENT),
            Map.entry("Input/output error", Status.IO),
            Map.entry("No such device or address", Status.NXIO),
            Map.entry("Permission denied", Status.ACCES),
            // A mount point cannot be removed or replaced.
            Map.entry("Device or resource busy", Status.ACCES),
            Map.entry("Text file busy", Status.ACCES),
            Map.entry("File exists", Status.EXIST),
            Map.entry("Invalid cross-device link", Status.XDEV),
            Map.entry("No such device", Status.NODEV),
            Map.entry("Not a directory", Status.NOTDIR),
            Map.entry("Is a directory", Status.ISDIR),
            Map.entry("Invalid argument", Status.INVAL),
            Map.entry("Invalid or incomplete multibyte or wide character", Status.INVAL),
            Map.entry("File too large", Status.FBIG),
            Map.entry("No space left on device", Status.NOSPC),
            Map.entry("Read-only file system", Status.ROFS),
            Map.entry("Too many links", Status.MLINK),
            Map.entry("File name too long", Status.NAMETOOLONG),
            Map.entry("Directory not empty", Status.NOTEMPTY),
            Map.entry("Disk quota exceeded", Status.DQUOT),
            Map.entry("Stale file handle", Status.STALE),
            Map.entry("Too many levels of symbolic links", Status.ACCES),
            Map.entry("Operation not supported", Status.NOTSUPP),
            // Descriptors and memory come back.
            Map.entry("Too many open files", Status.JUKEBOX),
            Map.entry("Too many open files in system", Status.JUKEBOX),
            Map.entry("Cannot allocate memory", Status.JUKEBOX),
            Map.entry("Resource temporarily unavailable", Status.JUKEBOX));

    private Failures() {}

    /** What to answer. */
    static Status statusOf(Exception failure) {
        return switch (failure) {
            case Refusal refusal -> refusal.status();
            case NfsException refused -> refused.status();
            case NoSuchFileException _ -> Status.NOENT;
            case FileAlreadyExistsException _ -> Status.EXIST;
            case DirectoryNotEmptyException _ -> Status.NOTEMPTY;
            case AccessDeniedException _ -> Status.ACCES;
            case NotDirectoryException _ -> Status.NOTDIR;
            case NotLinkException _ -> Status.INVAL;
            case FileSystemLoopException _ -> Status.ACCES;
            case AtomicMoveNotSupportedException _ -> Status.XDEV;
            case FileSystemException e -> byText(e.getReason());
            // A channel of the cache was closed by an interrupt: the next call opens another one.
            case ClosedChannelException _ -> Status.JUKEBOX;
            case IOException e -> byText(e.getMessage());
            case NonReadableChannelException _, NonWritableChannelException _ -> Status.SERVERFAULT;
            default -> Status.SERVERFAULT;
        };
    }

    private static Status byText(@Nullable String text) {
        if (text == null) {
            return Status.IO;
        }
        Status status = BY_TEXT.get(text);
        return status == null ? Status.IO : status;
    }
}
