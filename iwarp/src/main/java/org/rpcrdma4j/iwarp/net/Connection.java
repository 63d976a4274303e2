// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.Rtr;
import org.rpcrdma4j.iwarp.rdmap.FpduBatch;
import org.rpcrdma4j.iwarp.rdmap.InboundStream;
import org.rpcrdma4j.iwarp.rdmap.Opcode;
import org.rpcrdma4j.iwarp.rdmap.OutboundStream;
import org.rpcrdma4j.iwarp.rdmap.RemoteTerminate;
import org.rpcrdma4j.iwarp.rdmap.StreamContext;
import org.rpcrdma4j.iwarp.rdmap.StreamFault;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/**
 * A connection in full operation: moves bytes between its socket and the two directions of its stream.
 *
 * <p><b>Who works.</b> The loop's thread receives. Whoever has something to send transmits: {@link #transmit} makes its caller the
 * transmitter if nobody is, else the transmitter does one more round. Neither ever waits for the peer: a write takes what the socket
 * takes, the rest follows when the loop says so. So a stuck peer holds up no thread.
 *
 * <p><b>End.</b> The first cause wins ({@link #end}); the stream is stopped once ({@link #stop}): nobody transmits or receives any more,
 * then the owner flushes, then the socket is closed on the loop, in order where the cause allows.
 *
 * <pre>
 *   running --close--> closing: what was posted is sent, FIN, the peer's FIN awaited
 *      |                  |
 *      +------ end -------+--> stopped --> socket closed
 * </pre>
 */
public final class Connection implements ReadyHandler {
    /** The queue pair, as its connection sees it. */
    public interface Owner {
        /** The end has begun: nothing is executed any more. From any thread, no lock held. */
        void onEnding();

        /** No thread touches memory of work requests any more: flush. From any thread, no lock held. */
        void onStopped();

        /** Everything is over. On the loop's thread. */
        void onEnded(Ending ending);
    }

    /**
     * Why a connection ended.
     *
     * @param cause as reported
     * @param detail in words
     * @param terminate what is sent or was received; null for none
     */
    public record Ending(
            Cause cause, String detail, @Nullable TerminateMessage terminate) {}

    private static final int READS_PER_TURN = 4;
    private static final long WRITE_BYTES_PER_TURN = 2 << 20;

    private final EventLoop loop;
    private final SocketChannel channel;
    private final StreamContext context;
    private final ConnectionTimes times;
    private final ConnectionReport report;
    private final Owner owner;
    private final boolean crc;
    private final FpduBatch batch = new FpduBatch();
    private final OutboundStream outbound;
    private final InboundStream inbound;
    private final LoopTask transmitTask;
    private final LoopTask stopTask;
    private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();

    /** Rounds asked of the transmitter; above 0 somebody transmits. */
    private final AtomicInteger rounds = new AtomicInteger();

    private volatile boolean blocked;
    private @Nullable StreamFault fault;
    private boolean hasSent;

    private final ReentrantLock receiving = new ReentrantLock();
    private final ReentrantLock stopping = new ReentrantLock();
    private boolean stopped;
    private volatile boolean closing;
    private volatile boolean finSent;
    private final AtomicReference<@Nullable LoopTimer> closeLimit = new AtomicReference<>();
    private boolean peerHasSent;
    private int kicks;
    private final Carry carry;
    private @Nullable MemorySegment stagingMemory;
    private volatile @Nullable Registration registration;

    /**
     * Makes a connection of an established stream. It moves nothing before {@link #start}.
     *
     * @param maxUlpdu largest ULPDU to send
     */
    public Connection(
            EstablishedStream stream,
            EventLoop loop,
            StreamContext context,
            int maxUlpdu,
            ConnectionTimes times,
            ConnectionReport report,
            Owner owner) {
        this.loop = loop;
        this.channel = stream.channel();
        this.context = context;
        this.times = times;
        this.report = report;
        this.owner = owner;
        this.crc = stream.mpa().crc();
        this.outbound = new OutboundStream(context, batch, maxUlpdu, crc);
        this.inbound = new InboundStream(
                context, crc, report.isInitiator() && stream.mpa().rtr() == Rtr.READ);
        this.carry = new Carry(loop.carries());
        this.transmitTask = loop.task(this::transmit);
        this.stopTask = loop.task(this::stop);
    }

    /**
     * Begins to move bytes. On the loop's thread.
     *
     * @param newRegistration of the channel on the loop; its handler becomes this
     * @param leftover bytes that came before
     * @param rtr what an initiator has to send first; null for none
     */
    public void start(Registration newRegistration, ByteBuffer leftover, @Nullable Opcode rtr) {
        registration = newRegistration;
        newRegistration.handler(this);
        ByteBuffer staging = loop.staging();
        stagingMemory = MemorySegment.ofBuffer(staging.duplicate().clear());
        if (report.isInitiator()) {
            outbound.allow(rtr);
        }
        if (leftover.hasRemaining()) {
            carry.keep(leftover);
            staging.clear();
            carry.restore(staging);
            receiving.lock();
            try {
                received(staging.flip());
            } finally {
                receiving.unlock();
            }
        }
        newRegistration.interest(SelectionKey.OP_READ);
        transmit();
    }

    @Override
    public void onReady(int readyOps) {
        if ((readyOps & SelectionKey.OP_WRITE) != 0) {
            // ORDER: the interest is taken back before the next round may ask for it again.
            setInterest(SelectionKey.OP_READ);
            blocked = false;
            transmit();
        }
        if ((readyOps & SelectionKey.OP_READ) != 0) {
            receive();
        }
    }

    @Override
    public void onLoopClosed() {
        end(new Ending(Cause.LOCAL_CLOSE, "the device was closed", null));
        stop();
    }

    private void setInterest(int ops) {
        Registration current = registration;
        if (current != null) {
            current.interest(ops);
        }
    }

    // Receiving.

    private void receive() {
        receiving.lock();
        try {
            if (stopped) {
                return;
            }
            for (int i = 0; i < READS_PER_TURN && ending.get() == null; i++) {
                ByteBuffer staging = loop.staging().clear();
                carry.restore(staging);
                int count = channel.read(staging);
                if (count < 0) {
                    carry.keep(staging.flip());
                    endOfStream();
                    return;
                }
                boolean more = !staging.hasRemaining();
                received(staging.flip());
                if (!more) {
                    break;
                }
            }
        } catch (IOException e) {
            end(new Ending(Cause.CONNECTION_LOST, "read: " + e.getMessage(), null));
        } catch (RuntimeException e) {
            endByBug(e);
        } finally {
            receiving.unlock();
        }
        if (inbound.takeWakesSender()) {
            transmit();
        }
    }

    private void received(ByteBuffer staging) {
        MemorySegment memory = stagingMemory;
        assert memory != null : "not started";
        try {
            inbound.receive(staging, memory);
        } catch (IwarpException e) {
            TerminateMessage answer =
                    inbound.offenderIsTerminate(staging) || !e.terminateError().isReported()
                            ? null
                            : inbound.terminateFor(e, staging);
            report.violation(String.valueOf(e.getMessage()), e.terminateError());
            end(new Ending(Cause.LOCAL_ERROR, e.terminateError() + ": " + e.getMessage(), answer));
        } catch (RemoteTerminate e) {
            report.terminateReceived(e.message());
            failNamedRead(e.message());
            end(new Ending(Cause.REMOTE_ERROR, e.message().toString(), e.message()));
        }
        carry.keep(staging);
        if (!peerHasSent && inbound.fpdus() > 0) {
            peerHasSent = true;
            outbound.peerHasSent();
            transmit();
        }
    }

    private void failNamedRead(TerminateMessage message) {
        context.lock().lock();
        try {
            var read = context.sends().oldestRead();
            if (read != null && InboundStream.namesReadAt(message, read.sinkStag())) {
                context.sends().finish(read, Status.REMOTE_ACCESS_ERROR);
            }
        } finally {
            context.lock().unlock();
        }
    }

    private void endOfStream() {
        if (finSent) {
            end(new Ending(Cause.LOCAL_CLOSE, "closed in order", null));
        } else if (carry.isEmpty() && !inbound.isInsideMessage()) {
            end(new Ending(Cause.REMOTE_CLOSE, "the peer closed in order", null));
        } else {
            end(new Ending(Cause.CONNECTION_LOST, "the peer closed in the middle of a message", null));
        }
    }

    // Transmitting.

    /** Sends what can be sent; from any thread. Never waits. */
    public void transmit() {
        if (rounds.getAndIncrement() != 0) {
            return;
        }
        int done = 1;
        do {
            round();
            done = rounds.addAndGet(-done);
        } while (done != 0);
    }

    private void round() {
        try {
            long budget = WRITE_BYTES_PER_TURN;
            while (!blocked && !finSent && ending.get() == null) {
                if (batch.isEmpty() && !refill()) {
                    return;
                }
                long written = write();
                if (blocked) {
                    return;
                }
                budget -= written;
                if (budget < 0) {
                    // Others on this thread have their turn first.
                    transmitTask.schedule();
                    return;
                }
            }
        } catch (IOException e) {
            end(new Ending(Cause.CONNECTION_LOST, "write: " + e.getMessage(), null));
        } catch (RuntimeException e) {
            endByBug(e);
        } finally {
            batch.leaveAll();
        }
    }

    /** Fills the empty batch; false if there is nothing to send. */
    private boolean refill() {
        boolean filled = false;
        if (fault == null) {
            try {
                filled = outbound.fill();
            } catch (StreamFault e) {
                fault = e;
                filled = !batch.isEmpty();
            }
        }
        StreamFault now = fault;
        if (!filled && now != null) {
            report.violation(String.valueOf(now.getMessage()), now.terminate().error());
            end(new Ending(Cause.LOCAL_ERROR, now.terminate() + ": " + now.getMessage(), now.terminate()));
        } else if (!filled && closing) {
            finishClosing();
        }
        return filled;
    }

    private long write() throws IOException {
        if (batch.mustReenter() && !batch.reenter()) {
            fault = outbound.lost(batch.lostOwner(), batch.lostOffset());
            if (batch.isEmpty()) {
                return 0;
            }
        }
        long written = channel.write(batch.entries(), batch.firstEntry(), batch.entriesLeft());
        batch.leaveAll();
        batch.accepted(written);
        for (Object owner = batch.nextCompleted(); owner != null; owner = batch.nextCompleted()) {
            outbound.accepted(owner);
        }
        if (!batch.isEmpty()) {
            batch.copyOutBegun();
            // ORDER: marked before the loop can find the socket writable.
            blocked = true;
            setInterest(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }
        if (!hasSent) {
            hasSent = true;
            expectAnswer();
        }
        return written;
    }

    /** Linux siw can overlook an FPDU right behind its Reply; one more, of no effect, wakes it. */
    private void expectAnswer() {
        if (report.isInitiator() && times.kickNanos() > 0) {
            loop.schedule(times.kickNanos(), this::kickIfSilent);
        }
    }

    private void kickIfSilent() {
        if (peerHasSent || ending.get() != null || kicks == times.maxKicks()) {
            return;
        }
        kicks++;
        report.kicked();
        outbound.kick();
        transmit();
        loop.schedule(times.kickNanos(), this::kickIfSilent);
    }

    // Ending.

    /** Ends in order: what was posted is sent, then FIN. From any thread; the owner takes no posts any more. */
    public void close() {
        closing = true;
        limit(times.closeNanos(), "closed; the peer was slow");
        transmit();
    }

    private void finishClosing() {
        context.lock().lock();
        try {
            if (!context.sends().isEmpty() || !context.inboundReads().isEmpty()) {
                return;
            }
        } finally {
            context.lock().unlock();
        }
        finSent = true;
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            end(new Ending(Cause.CONNECTION_LOST, "close: " + e.getMessage(), null));
        }
        limit(times.drainNanos(), "closed; the peer did not");
    }

    private void limit(long nanos, String detail) {
        LoopTimer before =
                closeLimit.getAndSet(loop.schedule(nanos, () -> end(new Ending(Cause.LOCAL_CLOSE, detail, null))));
        if (before != null) {
            before.cancel();
        }
    }

    private void endByBug(RuntimeException e) {
        report.bug(e);
        end(new Ending(
                Cause.LOCAL_ERROR,
                "internal error: " + e,
                TerminateMessage.of(TerminateError.RDMAP_LOCAL_CATASTROPHIC)));
    }

    /** Begins the end; only the first cause counts. From any thread. The rest happens soon on the loop, or in {@link #stop}. */
    public void end(Ending cause) {
        if (ending.compareAndSet(null, cause)) {
            owner.onEnding();
            stopTask.schedule();
        }
    }

    /**
     * Stops the stream, once: when this returns nobody transmits or receives, and the owner has flushed. From any thread that does
     * neither; {@link #end} comes first.
     */
    public void stop() {
        Ending cause = ending.get();
        assert cause != null : "stop without end";
        stopping.lock();
        try {
            if (stopped) {
                return;
            }
            // ORDER: first nobody transmits and nobody receives, for good; then work requests are given back.
            for (int spins = 0; !rounds.compareAndSet(0, 1); spins++) {
                if (spins < 1_000) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
            receiving.lock();
            stopped = true;
            receiving.unlock();
            ByteBuffer lastWords = lastWords(cause);
            owner.onStopped();
            if (!loop.task(() -> closeSocket(cause, lastWords)).schedule()) {
                TcpOptions.closeQuietly(channel);
            }
        } finally {
            stopping.unlock();
        }
    }

    /** The rest of an FPDU that has begun, and the Terminate if one is due. */
    private @Nullable ByteBuffer lastWords(Ending cause) {
        batch.cutAfterBegun();
        TerminateMessage terminate = cause.cause() == Cause.LOCAL_ERROR ? cause.terminate() : null;
        int rest = (int) batch.remaining();
        ByteBuffer fpdu = terminate == null || finSent ? ByteBuffer.allocate(0) : terminate.fpdu(crc);
        if (terminate != null) {
            report.terminateSent(terminate);
        }
        ByteBuffer words = ByteBuffer.allocateDirect(rest + fpdu.remaining());
        batch.copyRest(words);
        return words.put(fpdu).flip();
    }

    private void closeSocket(Ending cause, @Nullable ByteBuffer lastWords) {
        Registration current = registration;
        carry.drop();
        LoopTimer limit = closeLimit.get();
        if (limit != null) {
            limit.cancel();
        }
        boolean inOrder = cause.cause() == Cause.LOCAL_ERROR
                || cause.cause() == Cause.REMOTE_CLOSE
                || cause.cause() == Cause.REMOTE_ERROR;
        if (inOrder && current != null && current.isValid()) {
            OrderlyClose.begin(current, finSent ? null : lastWords, times.drainNanos(), () -> {});
        } else {
            TcpOptions.closeQuietly(channel);
        }
        owner.onEnded(cause);
    }
}
