// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** A channel that takes so many bytes, in pieces of at most seven, and then fails; and fails to bring them to the disk when told so. */
final class FaultyChannel extends FileChannel {

    final java.io.ByteArrayOutputStream taken = new java.io.ByteArrayOutputStream();
    private final int room;
    boolean syncFails;

    FaultyChannel(int room) {
        this.room = room;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
        if (position != taken.size()) {
            throw new AssertionError("written at " + position + " where " + taken.size() + " comes next");
        }
        int n = Math.min(Math.min(7, source.remaining()), room - taken.size());
        if (n == 0) {
            throw new IOException("No space left on device");
        }
        for (int i = 0; i < n; i++) {
            taken.write(source.get());
        }
        return n;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        if (syncFails) {
            throw new IOException("Input/output error");
        }
    }

    @Override
    public int read(ByteBuffer into) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long newPosition) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long size() {
        return taken.size();
    }

    @Override
    public FileChannel truncate(long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int read(ByteBuffer into, long position) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void implCloseChannel() {}
}
