// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.OtherThreads;
import org.rpcrdma4j.iwarp.rdmap.CopyBuffers;
import org.rpcrdma4j.iwarp.rdmap.FpduBatch;
import org.rpcrdma4j.iwarp.rdmap.OutboundStream;
import org.rpcrdma4j.iwarp.rdmap.StreamContext;
import org.rpcrdma4j.iwarp.rdmap.StreamFault;

/**
 * The sending half of a connection.
 *
 * <p>Whoever has something to send calls {@link #transmit}: its caller becomes the transmitter if nobody is, else the transmitter does one
 * more round. It never waits for the peer: a write takes what the socket takes, the rest follows when the loop finds the socket
 * writable.
 */
final class Transmitter {
    private static final long BYTES_PER_TURN = 2 << 20;

    private final Connection connection;
    private final SocketChannel channel;
    private final FpduBatch batch;
    private final OutboundStream outbound;
    private final LoopTask again;

    /** Rounds asked for; above 0 somebody transmits. */
    private final AtomicInteger rounds = new AtomicInteger();

    private volatile boolean blocked;
    private volatile boolean finSent;
    private boolean hasSent;
    private @Nullable StreamFault fault;

    Transmitter(
            Connection connection,
            SocketChannel channel,
            StreamContext context,
            CopyBuffers copies,
            int maxUlpdu,
            boolean crc) {
        this.batch = new FpduBatch(copies);
        this.connection = connection;
        this.channel = channel;
        this.outbound = new OutboundStream(context, batch, maxUlpdu, crc);
        this.again = connection.loop().task(this::transmit);
    }

    OutboundStream outbound() {
        return outbound;
    }

    /** Whether our FIN is sent. */
    boolean finSent() {
        return finSent;
    }

    /** The socket takes bytes again. Loop thread. */
    void onWritable() {
        // ORDER: the interest is taken back before the next round may ask for it again.
        connection.interest(SelectionKey.OP_READ);
        blocked = false;
        transmit();
    }

    /** Sends what can be sent; from any thread. Never waits. */
    void transmit() {
        if (rounds.getAndIncrement() != 0) {
            return;
        }
        int done = 1;
        while (done != 0) {
            if (round()) {
                done = rounds.addAndGet(-done);
            } else {
                // Others on this thread have their turn first; whoever asked for a round meanwhile is served by it.
                rounds.set(0);
                again.schedule();
                return;
            }
        }
    }

    /** Sends until nothing is left or the socket is full; false if it has sent its share before that. */
    private boolean round() {
        try {
            long budget = BYTES_PER_TURN;
            while (!blocked && !finSent && !connection.isEnding()) {
                if (batch.isEmpty() && !refill()) {
                    return true;
                }
                budget -= write();
                if (budget < 0) {
                    return false;
                }
            }
        } catch (IOException e) {
            connection.lost("write", e);
        } catch (Throwable e) {
            // Whatever it is, nobody else must find the transmitter busy for good.
            connection.endByBug(e);
        } finally {
            batch.leaveAll();
        }
        return true;
    }

    /** Fills the empty batch; false if there is nothing to send. */
    private boolean refill() throws IOException {
        boolean filled = false;
        if (fault == null) {
            try {
                filled = outbound.fill();
            } catch (StreamFault e) {
                failed(e);
                filled = !batch.isEmpty();
            }
        }
        if (!filled && fault != null) {
            connection.endByFault(fault);
        } else if (!filled && connection.mayFinish()) {
            finSent = true;
            channel.shutdownOutput();
            connection.awaitFin();
        }
        return filled;
    }

    private long write() throws IOException {
        if (batch.mustReenter() && !batch.reenter()) {
            failed(outbound.lost(batch.lostOwner(), batch.lostOffset()));
            return 0;
        }
        long written = channel.write(batch.entries(), batch.firstEntry(), batch.entriesLeft());
        batch.accepted(written);
        if (!batch.isEmpty()) {
            // ORDER: copied out while it is still entered: once it is left, its memory may be gone.
            batch.copyOutBegun();
        }
        batch.leaveAll();
        for (Object owner = batch.nextCompleted(); owner != null; owner = batch.nextCompleted()) {
            outbound.accepted(owner);
        }
        if (!batch.isEmpty()) {
            // ORDER: marked before the loop can find the socket writable.
            blocked = true;
            connection.interest(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }
        if (!hasSent) {
            hasSent = true;
            connection.onFirstSent();
        }
        return written;
    }

    /** The first fault is what is reported; what was posted before still goes out, if the peer takes it soon. */
    private void failed(StreamFault first) {
        if (fault == null) {
            fault = first;
            connection.limitFault(first);
        }
    }

    /** Keeps everybody from transmitting for good; waits for a round that is under way. Not from inside one. */
    void stop() {
        for (int tries = 0; !rounds.compareAndSet(0, 1); tries++) {
            OtherThreads.pause(tries);
        }
    }

    /** After {@link #stop}: the rest of an FPDU that has begun to leave, and behind it what else is to be said. */
    ByteBuffer lastWords(@Nullable ByteBuffer terminate) {
        batch.cutAfterBegun();
        int length = (int) batch.remaining() + (terminate == null ? 0 : terminate.remaining());
        ByteBuffer words = ByteBuffer.allocate(length);
        batch.copyRest(words);
        if (terminate != null) {
            words.put(terminate);
        }
        return words.flip();
    }
}
