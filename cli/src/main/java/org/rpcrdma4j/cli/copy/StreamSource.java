// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import org.jspecify.annotations.Nullable;

/** Data of unknown length, such as standard input. The channel stays the caller's. */
final class StreamSource implements Source {
    private final ReadableByteChannel channel;
    private final String name;
    private long offset;
    private boolean ended;

    StreamSource(ReadableByteChannel channel, String name) {
        this.channel = channel;
        this.name = name;
    }

    @Override
    public @Nullable Piece next(Sink sink) throws IOException {
        if (ended) {
            return null;
        }
        Piece piece = sink.buffer();
        try {
            ByteBuffer into = piece.memory().asByteBuffer();
            while (!ended && into.hasRemaining()) {
                ended = channel.read(into) < 0;
            }
            if (into.position() == 0) {
                piece.close();
                return null;
            }
            piece.filled(offset, into.position());
            offset += into.position();
            return piece;
        } catch (IOException e) {
            piece.close();
            throw CopyException.of("read", name, e);
        }
    }

    @Override
    public void close() {}
}
