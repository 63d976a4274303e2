// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsReader;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.client.NfsWriter;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.SetAttributes;

/**
 * An open file. What is read in order is read ahead; what is written is sent behind, and is sure when {@link #close} has returned, or each
 * write with SYNC. Whoever reads after a write sees what was written: the write is brought to its end first, and what was read ahead is
 * dropped.
 *
 * <p>With APPEND each write goes where the file ended when it was opened, or where this channel wrote last: NFS version 3 has no append, so
 * two who append to one file at once overwrite each other.
 *
 * <p>Any thread may call any method; one at a time works, others wait, {@link #close} too. A thread that is interrupted while it waits for
 * the server gets an {@link java.io.InterruptedIOException}, and is still interrupted; the channel stays open, its position is where it
 * was, and the same may be tried again. A {@link #close} that is interrupted closes the channel, and throws: what was written may be lost.
 */
final class NfsFileChannel implements SeekableByteChannel, NfsFileSystem.Resource {

    private final NfsFilePath path;
    private final NfsVolume volume;
    private final NfsFile file;
    private final OpenMode mode;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable NfsReader reader;
    private @Nullable NfsWriter writer;
    private long position;
    private long appendAt;
    /** Where the last byte ends that was written and may not have arrived; 0 if there is none. */
    private long unflushedEnd;

    private volatile boolean open = true;

    NfsFileChannel(NfsFilePath path, NfsVolume volume, NfsFile file, OpenMode mode) {
        this.path = path;
        this.volume = volume;
        this.file = file;
        this.mode = mode;
        appendAt = file.attributes().size();
        position = mode.append() ? appendAt : 0;
    }

    private <T> T locked(Failures.Operation<T> operation) throws IOException {
        lock.lock();
        try {
            if (!open) {
                throw new ClosedChannelException();
            }
            return Failures.about(path, operation);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only buffer");
        }
        return locked(() -> {
            if (!mode.read()) {
                throw new NonReadableChannelException();
            }
            flush();
            NfsReader from = reader;
            if (from == null) {
                from = volume.openRead(file);
                reader = from;
            }
            int length = from.read(position, into);
            position += Math.max(0, length);
            return length;
        });
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return locked(() -> {
            NfsWriter to = writer();
            int length = from.remaining();
            long at = mode.append() ? appendAt : position;
            if (length > 0) {
                unflushedEnd = Math.max(unflushedEnd, at + length);
                to.write(at, from);
                position = at + length;
                appendAt = position;
            }
            if (mode.sync()) {
                flush();
            }
            return length;
        });
    }

    private NfsWriter writer() {
        if (!mode.write()) {
            throw new NonWritableChannelException();
        }
        NfsWriter to = writer;
        if (to == null) {
            to = volume.openWrite(file);
            writer = to;
        }
        return to;
    }

    private void flush() throws IOException {
        NfsWriter to = writer;
        if (to == null || unflushedEnd == 0) {
            return;
        }
        to.flush();
        unflushedEnd = 0;
        forgetWhatWasReadAhead();
    }

    private void forgetWhatWasReadAhead() {
        NfsReader from = reader;
        if (from != null) {
            from.seek(position);
        }
    }

    @Override
    public long position() throws IOException {
        return locked(() -> position);
    }

    @Override
    public SeekableByteChannel position(long newPosition) throws IOException {
        if (newPosition < 0) {
            throw new IllegalArgumentException("negative position " + newPosition);
        }
        return locked(() -> {
            position = newPosition;
            return this;
        });
    }

    /** The file's size as the server says it now, or what was written if that is longer. */
    @Override
    public long size() throws IOException {
        return locked(() -> Math.max(volume.refreshed(file).attributes().size(), unflushedEnd));
    }

    @Override
    public SeekableByteChannel truncate(long size) throws IOException {
        if (size < 0) {
            throw new IllegalArgumentException("negative size " + size);
        }
        return locked(() -> {
            if (!mode.write()) {
                throw new NonWritableChannelException();
            }
            flush();
            if (size < volume.refreshed(file).attributes().size()) {
                var _ = volume.setAttributes(file, SetAttributes.NONE.withSize(size));
                appendAt = size;
            }
            position = Math.min(position, size);
            forgetWhatWasReadAhead();
            return this;
        });
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean needsServerToClose() {
        return mode.write() || mode.deleteOnClose();
    }

    /**
     * Brings what was written to stable storage, and gives back all memory, whatever becomes of that.
     *
     * @throws IOException if something that was written may be lost
     */
    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            if (open) {
                open = false;
                Failures.doing(path, this::end);
            }
        } finally {
            lock.unlock();
        }
    }

    private void end() throws IOException {
        NfsReader from = reader;
        NfsWriter to = writer;
        try {
            if (from != null) {
                from.close();
            }
            if (to != null) {
                to.close();
            }
        } finally {
            path.getFileSystem().unregister(this);
            if (mode.deleteOnClose()) {
                delete();
            }
        }
    }

    /** As {@link java.nio.file.StandardOpenOption#DELETE_ON_CLOSE} says: as well as can be. */
    private void delete() throws IOException {
        try {
            volume.remove(path.location());
        } catch (NfsException e) {
            System.getLogger(NfsFileChannel.class.getName()).log(System.Logger.Level.DEBUG, "not deleted", e);
        }
    }

    @Override
    public String toString() {
        return "NfsFileChannel[" + path + ", " + mode + "]";
    }
}
