// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a directory is exported. {@link #DEFAULT} is a good choice; {@code with...} gives it with one thing changed.
 *
 * @param readOnly whether everything that would change something is refused with NFS3ERR_ROFS
 * @param squash whose claims are not believed, if the server runs as root
 * @param anonymous who the disbelieved become
 * @param user whom the server takes itself for; null for {@link ServerUser#current}
 * @param maxReadBytes most bytes of one READ (rtmax)
 * @param maxWriteBytes most bytes of one WRITE (wtmax)
 * @param maxDirectoryBytes most bytes of one READDIR or READDIRPLUS reply, whatever the call allows
 * @param maxNodes files and directories of which is remembered where they are (about 200 bytes each); ancestors of remembered ones come on top
 * @param maxOpenDirectories directories that are kept open
 * @param maxOpenFiles files that are kept open
 * @param idleFileTime after how long an open file that nobody uses is closed
 * @param maxListedNames names in the directory listings that are kept for calls which go on with one
 */
public record ExportOptions(
        boolean readOnly,
        Squash squash,
        Identity anonymous,
        @Nullable ServerUser user,
        int maxReadBytes,
        int maxWriteBytes,
        int maxDirectoryBytes,
        int maxNodes,
        int maxOpenDirectories,
        int maxOpenFiles,
        Duration idleFileTime,
        int maxListedNames) {

    /** Writable, root squashed to 65534 but for root of this machine, payloads of 1 MiB. */
    public static final ExportOptions DEFAULT = new ExportOptions(
            false,
            Squash.ROOT,
            new Identity(65534, 65534, List.of()),
            null,
            1 << 20,
            1 << 20,
            1 << 20,
            500_000,
            256,
            256,
            Duration.ofSeconds(30),
            1_000_000);

    /** Checks the bounds. */
    public ExportOptions {
        requireAtLeast(1024, maxReadBytes, "maxReadBytes");
        requireAtLeast(1024, maxWriteBytes, "maxWriteBytes");
        requireAtLeast(1024, maxDirectoryBytes, "maxDirectoryBytes");
        requireAtLeast(16, maxNodes, "maxNodes");
        requireAtLeast(4, maxOpenDirectories, "maxOpenDirectories");
        requireAtLeast(1, maxOpenFiles, "maxOpenFiles");
        requireAtLeast(0, maxListedNames, "maxListedNames");
        if (idleFileTime.isNegative()) {
            throw new IllegalArgumentException("idleFileTime is negative: " + idleFileTime);
        }
    }

    private static void requireAtLeast(int least, int value, String what) {
        if (value < least) {
            throw new IllegalArgumentException(what + " is " + value + ", less than " + least);
        }
    }

    /** These, read-only or not. */
    public ExportOptions withReadOnly(boolean value) {
        return new ExportOptions(
                value,
                squash,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with another squash. */
    public ExportOptions withSquash(Squash value) {
        return new ExportOptions(
                readOnly,
                value,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with another anonymous user. */
    public ExportOptions withAnonymous(Identity value) {
        return new ExportOptions(
                readOnly,
                squash,
                value,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with a server that takes itself for that user. */
    public ExportOptions withUser(ServerUser value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                value,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with another bound of READ. */
    public ExportOptions withMaxReadBytes(int value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                value,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with another bound of WRITE. */
    public ExportOptions withMaxWriteBytes(int value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                maxReadBytes,
                value,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with another bound of READDIR and READDIRPLUS. */
    public ExportOptions withMaxDirectoryBytes(int value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                value,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with so many files remembered. */
    public ExportOptions withMaxNodes(int value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                value,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with so many directories kept open. */
    public ExportOptions withMaxOpenDirectories(int value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                value,
                maxOpenFiles,
                idleFileTime,
                maxListedNames);
    }

    /** These, with so many files kept open. */
    public ExportOptions withMaxOpenFiles(int value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                value,
                idleFileTime,
                maxListedNames);
    }

    /** These, with files kept open for another time. */
    public ExportOptions withIdleFileTime(Duration value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                value,
                maxListedNames);
    }

    /** These, with so many names kept. */
    public ExportOptions withMaxListedNames(int value) {
        return new ExportOptions(
                readOnly,
                squash,
                anonymous,
                user,
                maxReadBytes,
                maxWriteBytes,
                maxDirectoryBytes,
                maxNodes,
                maxOpenDirectories,
                maxOpenFiles,
                idleFileTime,
                value);
    }
}
