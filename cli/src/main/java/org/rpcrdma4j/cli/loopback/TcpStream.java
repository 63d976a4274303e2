// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * A stream over a plain blocking socket: one thread writes piece after piece, another reads. Both go round in as much memory as {@link
 * RdmaStream} does, so that neither has the processor's caches to itself.
 */
public final class TcpStream implements ByteStream {
    private final TcpPair pair;
    private final ByteBuffer out = ByteBuffer.allocateDirect(RdmaStream.IN_FLIGHT * PIECE_BYTES);
    private final ByteBuffer in = ByteBuffer.allocateDirect(RdmaStream.IN_FLIGHT * PIECE_BYTES);

    private TcpStream(TcpPair pair) {
        this.pair = pair;
    }

    /** Connects. */
    public static TcpStream open() throws IOException {
        return new TcpStream(TcpPair.open());
    }

    @Override
    public Sample move(int pieces) throws IOException {
        Sample.Meter meter = new Sample.Meter();
        long total = (long) pieces * PIECE_BYTES;
        CompletableFuture<Long> received = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("tcp-receiver").start(() -> receive(total, received));
        for (int i = 0; i < pieces; i++) {
            int at = i % RdmaStream.IN_FLIGHT * PIECE_BYTES;
            out.limit(at + PIECE_BYTES).position(at);
            while (out.hasRemaining()) {
                pair.client().write(out);
            }
        }
        Await.result(received, "plain TCP stream", () -> "receiving");
        return meter.sample(total);
    }

    private void receive(long total, CompletableFuture<Long> received) {
        try {
            long left = total;
            while (left > 0) {
                if (in.position() == in.capacity()) {
                    in.clear();
                }
                int end = Math.min(in.capacity(), in.position() + PIECE_BYTES);
                int count = pair.server().read(in.limit(end));
                if (count < 0) {
                    throw new IOException("end of stream, " + left + " bytes missing");
                }
                left -= count;
            }
            received.complete(total);
        } catch (IOException e) {
            received.completeExceptionally(new UncheckedIOException(e));
        }
    }

    @Override
    public void close() throws IOException {
        pair.close();
    }
}
