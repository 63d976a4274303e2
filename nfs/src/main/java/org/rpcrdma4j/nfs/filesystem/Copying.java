// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.CreateMode;
import org.rpcrdma4j.nfs.client.NfsBuffer;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsListing;
import org.rpcrdma4j.nfs.client.NfsReader;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.client.NfsWriter;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * Copies or moves one file between two paths of this provider, be they in one file system or in two. Data goes through this process: NFS
 * version 3 has no copy at the server.
 */
final class Copying {

    private final NfsFilePath source;
    private final NfsFilePath target;
    private final NfsVolume from;
    private final NfsVolume to;
    private final boolean replace;
    private final boolean atomic;
    private final boolean copyAttributes;
    private final boolean follow;

    Copying(NfsFilePath source, NfsFilePath target, CopyOption... options) {
        this.source = source;
        this.target = target;
        from = source.getFileSystem().volume();
        to = target.getFileSystem().volume();
        Set<CopyOption> all = new HashSet<>();
        for (CopyOption option : options) {
            if (!(Objects.requireNonNull(option) instanceof StandardCopyOption)
                    && option != LinkOption.NOFOLLOW_LINKS) {
                throw new UnsupportedOperationException("cannot copy or move with " + option);
            }
            all.add(option);
        }
        replace = all.contains(StandardCopyOption.REPLACE_EXISTING);
        atomic = all.contains(StandardCopyOption.ATOMIC_MOVE);
        copyAttributes = all.contains(StandardCopyOption.COPY_ATTRIBUTES);
        follow = !all.contains(LinkOption.NOFOLLOW_LINKS);
    }

    static void requireSame(NfsFilePath one, NfsFilePath other) {
        if (one.getFileSystem() != other.getFileSystem()) {
            throw new ProviderMismatchException(one + " and " + other + " are in different file systems");
        }
    }

    /** Deletes a file, a link or an empty directory. */
    static void delete(NfsFilePath path) throws IOException {
        NfsVolume volume = path.getFileSystem().volume();
        if (volume.attributes(path.location(), false).isDirectory()) {
            volume.removeDirectory(path.location());
        } else {
            volume.remove(path.location());
        }
    }

    void copy() throws IOException {
        if (atomic) {
            throw new UnsupportedOperationException("ATOMIC_MOVE is for moving");
        }
        NfsFile file = Failures.about(source, () -> from.file(source.location(), follow));
        if (makeRoom(file, false)) {
            copy(file, copyAttributes);
        }
    }

    void move() throws IOException {
        boolean isSameFileSystem = source.getFileSystem() == target.getFileSystem();
        if (atomic && !isSameFileSystem) {
            throw new AtomicMoveNotSupportedException(
                    source.toString(), target.toString(), "in different file systems");
        }
        NfsFile file = Failures.about(source, () -> from.file(source.location(), false));
        if (!atomic && !makeRoom(file, isSameFileSystem)) {
            return;
        }
        if (isSameFileSystem) {
            if (renamed() || !makeRoom(file, false)) {
                return;
            }
        }
        if (file.attributes().isDirectory()) {
            requireEmpty(file);
        }
        copy(file, true);
        Failures.doing(source, () -> delete(source));
    }

    /** Whether it was done by a rename; not if the server has the two paths on different disks. */
    private boolean renamed() throws IOException {
        try {
            from.rename(source.location(), target.location());
            return true;
        } catch (NfsException e) {
            if (!Failures.is(e, Status.XDEV)) {
                throw Failures.translate(e, source, target);
            }
            if (atomic) {
                throw new AtomicMoveNotSupportedException(source.toString(), target.toString(), e.getMessage());
            }
            return false;
        }
    }

    private void requireEmpty(NfsFile directory) throws IOException {
        Failures.doing(source, () -> {
            try (NfsListing listing = from.list(directory)) {
                if (listing.next() != null) {
                    throw new DirectoryNotEmptyException(source.toString());
                }
            }
        });
    }

    /**
     * Removes what is at the target, if it may be replaced.
     *
     * @param isRenamed whether a rename follows, which replaces a file by a file in one step, so that nothing is lost if it fails
     * @return false if that is the source itself, so that there is nothing to do
     */
    private boolean makeRoom(NfsFile file, boolean isRenamed) throws IOException {
        NfsFile there = existing();
        if (there == null) {
            return true;
        }
        if (source.getFileSystem() == target.getFileSystem() && NfsFileSystemProvider.isSame(file, there)) {
            return false;
        }
        if (!replace) {
            throw new FileAlreadyExistsException(target.toString());
        }
        if (isRenamed && !file.attributes().isDirectory() && !there.attributes().isDirectory()) {
            return true;
        }
        Failures.doing(target, () -> {
            if (there.attributes().isDirectory()) {
                to.removeDirectory(target.location());
            } else {
                to.remove(target.location());
            }
        });
        return true;
    }

    private @Nullable NfsFile existing() throws IOException {
        try {
            return to.file(target.location(), false);
        } catch (NfsException e) {
            if (Failures.is(e, Status.NOENT)) {
                return null;
            }
            throw Failures.translate(e, target, null);
        }
    }

    private void copy(NfsFile file, boolean withAttributes) throws IOException {
        Attributes attributes = file.attributes();
        SetAttributes mode = SetAttributes.NONE.withMode(FileMode.masked(attributes.mode() & 0777));
        switch (attributes.type()) {
            case SYMBOLIC_LINK -> {
                var text = Failures.about(source, () -> from.readLink(file.path()));
                Failures.doing(target, () -> {
                    var _ = to.createSymbolicLink(target.location(), text, SetAttributes.NONE);
                });
            }
            case DIRECTORY -> {
                NfsFile made = Failures.about(target, () -> to.createDirectory(target.location(), mode));
                finish(made, attributes, withAttributes);
            }
            case REGULAR -> {
                NfsFile made = Failures.about(target, () -> to.createFile(target.location(), CreateMode.NEW, mode));
                boolean done = false;
                try {
                    copyData(file, made);
                    finish(made, attributes, withAttributes);
                    done = true;
                } finally {
                    if (!done) {
                        removeHalf();
                    }
                }
            }
            default ->
                throw new FileSystemException(
                        source.toString(), target.toString(), "cannot copy a " + attributes.type());
        }
    }

    private void copyData(NfsFile file, NfsFile made) throws IOException {
        NfsWriter writer = to.openWrite(made);
        boolean done = false;
        try (NfsReader reader = from.openRead(file)) {
            while (true) {
                NfsBuffer buffer = Failures.<@Nullable NfsBuffer>about(source, reader::next);
                if (buffer == null) {
                    break;
                }
                Failures.doing(target, () -> write(writer, buffer));
            }
            Failures.doing(target, writer::close);
            done = true;
        } finally {
            if (!done) {
                writer.abort();
            }
        }
    }

    /** Within one volume the memory that was read into is written from; another volume's memory is not to be had. */
    private void write(NfsWriter writer, NfsBuffer buffer) throws IOException {
        if (from == to) {
            writer.write(buffer.offset(), buffer, buffer.length());
            return;
        }
        try (buffer) {
            writer.write(buffer.offset(), buffer.data());
        }
    }

    private void finish(NfsFile made, Attributes attributes, boolean withAttributes) throws IOException {
        if (!withAttributes) {
            return;
        }
        // ORDER: the owner first. Most may not give files away; that is no failure, but then nobody becomes another by
        // running the copy.
        int mode = attributes.mode();
        try {
            var _ = to.setAttributes(
                    made, SetAttributes.NONE.withUid(attributes.uid()).withGid(attributes.gid()));
        } catch (NfsException e) {
            System.getLogger(Copying.class.getName()).log(System.Logger.Level.DEBUG, "owner not kept", e);
            mode &= 01777;
        }
        SetAttributes kept = SetAttributes.NONE
                .withMode(mode)
                .withTimes(new SetTime.To(attributes.accessTime()), new SetTime.To(attributes.modifyTime()));
        Failures.doing(target, () -> {
            var _ = to.setAttributes(made, kept);
        });
    }

    private void removeHalf() throws IOException {
        try {
            to.remove(target.location());
        } catch (IOException e) {
            System.getLogger(Copying.class.getName()).log(System.Logger.Level.WARNING, "half a file is left", e);
        }
    }
}
