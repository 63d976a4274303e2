// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/** A local file, as long as it was when it was found. */
final class LocalSource implements Source {
    private final FileChannel channel;
    private final String name;
    private final long size;
    private long offset;

    /** @param size 0 also if nobody knows, as with the kernel's own files; then the end is where it is */
    LocalSource(FileChannel channel, String name, long size) {
        this.channel = channel;
        this.name = name;
        this.size = size;
    }

    @Override
    public @Nullable Piece next(Sink sink) throws IOException {
        if (size > 0 && offset >= size) {
            return null;
        }
        Piece piece = sink.buffer();
        try {
            ByteBuffer into = piece.memory().asByteBuffer();
            if (size > 0) {
                into.limit((int) Math.min(into.capacity(), size - offset));
            }
            fill(into);
            if (size > 0 && into.hasRemaining()) {
                throw new CopyException("cannot read " + name + ": it became shorter while it was read, from " + size
                        + " to " + (offset + into.position()) + " bytes");
            }
            if (into.position() == 0) {
                piece.close();
                return null;
            }
            piece.filled(offset, into.position());
            offset += into.position();
            return piece;
        } catch (IOException | RuntimeException e) {
            piece.close();
            throw e;
        }
    }

    private void fill(ByteBuffer into) throws IOException {
        try {
            int read = 0;
            while (read >= 0 && into.hasRemaining()) {
                read = channel.read(into, offset + into.position());
            }
        } catch (IOException e) {
            throw CopyException.of("read", name, e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
