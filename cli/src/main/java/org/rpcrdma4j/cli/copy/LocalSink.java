// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;

/** A new local file. What is written is with the kernel at once. */
final class LocalSink implements Sink {
    private static final int BUFFER_BYTES = 1 << 20;

    private final FileChannel channel;
    private final LocalSide side;
    private final NfsPath path;
    private @Nullable MemorySegment memory;
    private long end;

    LocalSink(FileChannel channel, LocalSide side, NfsPath path) {
        this.channel = channel;
        this.side = side;
        this.path = path;
    }

    @Override
    public boolean keepsHoles() {
        return true;
    }

    @Override
    public Piece buffer() {
        // The same each time: whoever got it before has written it.
        MemorySegment known = memory;
        if (known == null) {
            known = Arena.ofAuto().allocate(BUFFER_BYTES);
            memory = known;
        }
        return Piece.in(known);
    }

    @Override
    public void write(Piece piece) throws IOException {
        try (piece) {
            write(piece.offset(), piece.data());
        }
    }

    @Override
    public void write(long offset, MemorySegment data) throws IOException {
        try {
            ByteBuffer bytes = data.asByteBuffer();
            while (bytes.hasRemaining()) {
                channel.write(bytes, offset + bytes.position());
            }
            end = Math.max(end, offset + data.byteSize());
        } catch (IOException e) {
            throw CopyException.of("write", side.display(path), e);
        }
    }

    @Override
    public NfsFile finish(long size) throws IOException {
        if (size > end) {
            // No method of a channel makes a file longer but this.
            write(size - 1, MemorySegment.ofArray(new byte[1]));
        }
        try {
            channel.close();
        } catch (IOException e) {
            throw CopyException.of("write", side.display(path), e);
        }
        NfsFile file = side.find(path, false);
        if (file == null) {
            throw new CopyException("cannot write " + side.display(path) + ": somebody removed it");
        }
        return file;
    }

    @Override
    public void abort() {
        try {
            channel.close();
        } catch (IOException _) {
            // It will be removed.
        }
    }
}
