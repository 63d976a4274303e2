// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.queue.SendSlot;
import org.rpcrdma4j.iwarp.rdmap.InboundStream;
import org.rpcrdma4j.iwarp.rdmap.RemoteTerminate;
import org.rpcrdma4j.iwarp.rdmap.StreamContext;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * The receiving half of a connection: reads into the loop's staging buffer and hands whole FPDUs to the stream. Works on the loop's
 * thread, under a lock by which {@link #stop} can end it from any other.
 */
final class Receiver {
    private static final int READS_PER_TURN = 4;

    private final Connection connection;
    private final SocketChannel channel;
    private final StreamContext context;
    private final InboundStream inbound;
    private final ReentrantLock lock = new ReentrantLock();
    private final Carry carry;
    private @Nullable MemorySegment stagingMemory;
    private boolean stopped;
    private volatile boolean peerHasSent;

    Receiver(
            Connection connection,
            SocketChannel channel,
            StreamContext context,
            boolean crc,
            boolean awaitsRtrResponse) {
        this.connection = connection;
        this.channel = channel;
        this.context = context;
        this.inbound = new InboundStream(context, crc, awaitsRtrResponse);
        this.carry = new Carry(connection.loop().carries());
    }

    /** Whether a whole FPDU has come. */
    boolean peerHasSent() {
        return peerHasSent;
    }

    /** Takes what came before the loop reads on. */
    void start(ByteBuffer leftover) {
        lock.lock();
        try {
            ByteBuffer staging = connection.loop().staging().clear();
            stagingMemory = MemorySegment.ofBuffer(staging);
            if (leftover.hasRemaining() && !stopped) {
                received(staging.put(leftover).flip(), stagingMemory);
                keepRest(staging);
            }
        } catch (Throwable e) {
            connection.endByBug(e);
        } finally {
            lock.unlock();
        }
        wakeTransmitter();
    }

    /** Reads what is there, up to a bound. */
    void onReadable() {
        lock.lock();
        try {
            MemorySegment memory = stagingMemory;
            if (!stopped && memory != null && !connection.isEnding()) {
                readAll(memory);
            }
        } catch (IOException e) {
            connection.lost("read", e);
        } catch (Throwable e) {
            // Whatever it is, the stream is not whole any more.
            connection.endByBug(e);
        } finally {
            lock.unlock();
        }
        wakeTransmitter();
    }

    private void readAll(MemorySegment memory) throws IOException {
        ByteBuffer staging = connection.loop().staging().clear();
        carry.restore(staging);
        boolean more = true;
        for (int i = 0; more; i++) {
            int count = channel.read(staging);
            more = !staging.hasRemaining() && i + 1 < READS_PER_TURN;
            staging.flip();
            if (count < 0) {
                keepRest(staging);
                connection.endOfStream(carry.isEmpty() && !inbound.isInsideMessage());
                return;
            }
            received(staging, memory);
            more &= !connection.isEnding();
            if (more) {
                staging.compact();
            } else {
                keepRest(staging);
            }
        }
    }

    private void received(ByteBuffer staging, MemorySegment memory) {
        try {
            inbound.receive(staging, memory);
        } catch (IwarpException e) {
            boolean answered = e.terminateError().isReported() && !inbound.offenderIsTerminate();
            connection.endByViolation(e, answered ? inbound.terminateFor(e, staging) : null);
            // RFC 5041, Section 7.1: what follows is dropped, however much it is.
            staging.position(staging.limit());
        } catch (RemoteTerminate e) {
            failNamedRead(e.message());
            connection.endByPeer(e.message());
            staging.position(staging.limit());
        }
        long empty = inbound.takeEmptySegments();
        if (empty > 0) {
            connection.report().emptySegments(empty);
        }
    }

    /** The staging buffer is given up: others use it. */
    private void keepRest(ByteBuffer staging) {
        if (connection.isEnding()) {
            // What came behind the end is of no use to anybody, and may be more than one FPDU.
            carry.drop();
        } else {
            carry.keep(staging);
        }
    }

    private void failNamedRead(TerminateMessage message) {
        context.lock().lock();
        try {
            SendSlot named = context.sends().findOpenRead(read -> InboundStream.names(message, read));
            if (named != null) {
                context.sends().finish(named, Status.REMOTE_ACCESS_ERROR);
            }
        } finally {
            context.lock().unlock();
        }
    }

    /** ORDER: with the lock given back, since transmitting may do much. */
    private void wakeTransmitter() {
        boolean first = !peerHasSent && inbound.fpdus() > 0;
        if (first) {
            peerHasSent = true;
            connection.onFirstReceived();
        }
        if (inbound.takeWakesSender() || first) {
            connection.transmit();
        }
    }

    /** Ends receiving for good; waits for a reading that is under way. Not from inside one. */
    void stop() {
        lock.lock();
        try {
            stopped = true;
        } finally {
            lock.unlock();
        }
    }

    /** Lets go of memory. Loop thread, after {@link #stop}. */
    void release() {
        carry.drop();
    }
}
