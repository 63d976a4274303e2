// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;

/** Takes data in order, such as standard output, a pipe or a device. The channel stays the caller's. */
final class StreamSink implements Sink {
    private static final int BUFFER_BYTES = 1 << 20;

    private final WritableByteChannel channel;

    StreamSink(WritableByteChannel channel) {
        this.channel = channel;
    }

    @Override
    public boolean keepsHoles() {
        return false;
    }

    @Override
    public Piece buffer() {
        return Piece.in(Arena.ofAuto().allocate(BUFFER_BYTES));
    }

    @Override
    public void write(Piece piece) throws IOException {
        try (piece) {
            write(piece.offset(), piece.data());
        }
    }

    @Override
    public void write(long offset, MemorySegment data) throws IOException {
        ByteBuffer bytes = data.asByteBuffer();
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    @Override
    public @Nullable NfsFile finish(long size) {
        return null;
    }

    @Override
    public void abort() {
        // What was written is gone.
    }
}
