// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.Rtr;
import org.rpcrdma4j.iwarp.rdmap.CopyBuffers;
import org.rpcrdma4j.iwarp.rdmap.Opcode;
import org.rpcrdma4j.iwarp.rdmap.StreamContext;
import org.rpcrdma4j.iwarp.rdmap.StreamFault;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/**
 * A connection in full operation: its two halves, {@link Transmitter} and {@link Receiver}, move bytes between the socket and the two
 * directions of the stream; this sees to its beginning and its end.
 *
 * <pre>
 *   running --close--> closing: what was posted is sent, FIN, the peer's FIN awaited
 *      |                  |
 *      +------ end -------+--> ending --stop--> stopped --> socket closed
 * </pre>
 *
 * <p><b>End.</b> The first cause wins ({@link #end}). The stream is stopped once ({@link #stop}): nobody transmits or receives any more, then
 * the owner flushes, then the socket is closed on the loop, in order where the cause allows.
 *
 * <p><b>Threads.</b> Receiving is the loop's; transmitting is done by whoever has something to send. Neither waits for the peer, so a stuck
 * peer holds up no thread. All methods may be called from any thread unless they say otherwise.
 */
public final class Connection implements ReadyHandler {
    /** The queue pair, as its connection sees it. */
    public interface Owner {
        /** The end has begun: nothing is executed any more. From any thread, no lock held. */
        void onEnding();

        /** No thread touches memory of work requests any more: flush. From any thread. */
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

    private final EventLoop loop;
    private final SocketChannel channel;
    private final StreamContext context;
    private final ConnectionTimes times;
    private final ConnectionReport report;
    private final Owner owner;
    private final boolean crc;
    private final Transmitter transmitter;
    private final Receiver receiver;
    private final LoopTask stopTask;
    private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();
    private final AtomicReference<@Nullable LoopTimer> closeLimit = new AtomicReference<>();
    private final ReentrantLock stopping = new ReentrantLock();
    private boolean stopped;
    private volatile boolean closing;
    private volatile @Nullable Registration registration;
    private int kicks;

    /**
     * Makes a connection of an established stream. It moves nothing before {@link #start}.
     *
     * @param copies the device's
     * @param maxUlpdu largest ULPDU to send
     */
    public Connection(
            EstablishedStream stream,
            EventLoop loop,
            StreamContext context,
            CopyBuffers copies,
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
        this.transmitter = new Transmitter(this, channel, context, copies, maxUlpdu, crc);
        boolean awaitsRtrResponse = report.isInitiator() && stream.mpa().rtr() == Rtr.READ;
        this.receiver = new Receiver(this, channel, context, crc, awaitsRtrResponse);
        this.stopTask = loop.task(this::stop);
    }

    EventLoop loop() {
        return loop;
    }

    ConnectionReport report() {
        return report;
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
        // ORDER: before anybody may transmit, who would ask for more interest on a full socket.
        newRegistration.interest(SelectionKey.OP_READ);
        if (report.isInitiator()) {
            transmitter.outbound().allow(rtr);
        }
        receiver.start(leftover);
        transmit();
    }

    @Override
    public void onReady(int readyOps) {
        if ((readyOps & SelectionKey.OP_WRITE) != 0) {
            transmitter.onWritable();
        }
        if ((readyOps & SelectionKey.OP_READ) != 0) {
            receiver.onReadable();
        }
    }

    @Override
    public void onLoopClosed() {
        end(new Ending(Cause.LOCAL_CLOSE, "the device was closed", null));
        stop();
    }

    void interest(int ops) {
        Registration current = registration;
        if (current != null) {
            current.interest(ops);
        }
    }

    /** Sends what can be sent. Never waits. */
    public void transmit() {
        transmitter.transmit();
    }

    // A peer that has not answered yet.

    void onFirstReceived() {
        transmitter.outbound().peerHasSent();
    }

    /** Linux siw can overlook an FPDU right behind its Reply; one more, of no effect, wakes it. */
    void onFirstSent() {
        if (report.isInitiator() && times.kickNanos() > 0) {
            loop.schedule(times.kickNanos(), this::kickIfSilent);
        }
    }

    private void kickIfSilent() {
        if (receiver.peerHasSent() || isEnding() || kicks == times.maxKicks()) {
            return;
        }
        kicks++;
        report.kicked();
        transmitter.outbound().kick();
        transmit();
        loop.schedule(times.kickNanos(), this::kickIfSilent);
    }

    // Closing in order.

    /** Ends in order: what was posted is sent, then FIN. The owner takes no posts any more. */
    public void close() {
        limit(times.closeNanos(), "closed; the peer was slow");
        closing = true;
        transmit();
    }

    /** Whether our FIN is all that is left to send. */
    boolean mayFinish() {
        if (!closing) {
            return false;
        }
        context.lock().lock();
        try {
            return context.sends().isEmpty() && context.inboundReads().isEmpty();
        } finally {
            context.lock().unlock();
        }
    }

    void awaitFin() {
        limit(times.drainNanos(), "closed; the peer did not");
    }

    private void limit(long nanos, String detail) {
        LoopTimer before =
                closeLimit.getAndSet(loop.schedule(nanos, () -> end(new Ending(Cause.LOCAL_CLOSE, detail, null))));
        if (before != null) {
            before.cancel();
        }
    }

    // Causes of the end.

    boolean isEnding() {
        return ending.get() != null;
    }

    void lost(String doing, IOException e) {
        end(new Ending(Cause.CONNECTION_LOST, doing + ": " + e.getMessage(), null));
    }

    /** @param betweenMessages whether nothing is missing of what the peer began */
    void endOfStream(boolean betweenMessages) {
        if (transmitter.finSent()) {
            end(new Ending(Cause.LOCAL_CLOSE, "closed in order", null));
        } else if (betweenMessages) {
            end(new Ending(Cause.REMOTE_CLOSE, "the peer closed in order", null));
        } else {
            end(new Ending(Cause.CONNECTION_LOST, "the peer closed in the middle of a message", null));
        }
    }

    void endByViolation(IwarpException violation, @Nullable TerminateMessage answer) {
        String detail = violation.terminateError() + ": " + violation.getMessage();
        if (end(new Ending(Cause.LOCAL_ERROR, detail, answer))) {
            report.violation(detail, violation.terminateError());
        }
    }

    void endByPeer(TerminateMessage message) {
        report.terminateReceived(message);
        end(new Ending(Cause.REMOTE_ERROR, message.toString(), message));
    }

    /** A request of ours has failed: a peer that takes nothing of what was posted before it holds up the report only so long. */
    void limitFault(StreamFault fault) {
        loop.schedule(times.drainNanos(), () -> endByFault(fault));
    }

    void endByFault(StreamFault fault) {
        TerminateError error = fault.terminate().error();
        String detail = error + ": " + fault.getMessage();
        if (end(new Ending(Cause.LOCAL_ERROR, detail, fault.terminate()))) {
            report.violation(detail, error);
        }
    }

    void endByBug(Throwable e) {
        report.bug(e);
        TerminateMessage message = TerminateMessage.of(TerminateError.RDMAP_LOCAL_CATASTROPHIC);
        end(new Ending(Cause.LOCAL_ERROR, "internal error: " + e, message));
    }

    /**
     * Begins the end; the rest happens soon on the loop, or in {@link #stop}.
     *
     * @return whether this was the first cause, the one that counts
     */
    public boolean end(Ending cause) {
        boolean first = ending.compareAndSet(null, cause);
        if (first) {
            owner.onEnding();
            stopTask.schedule();
        }
        return first;
    }

    /**
     * Stops the stream, once: when this returns nobody transmits or receives, and the owner has flushed. Not from inside either; {@link
     * #end} comes first.
     */
    public void stop() {
        Ending cause = ending.get();
        assert cause != null : "stop without end";
        stopping.lock();
        try {
            if (stopped) {
                return;
            }
            stopped = true;
            // ORDER: first nobody transmits and nobody receives, for good; then work requests are given back.
            transmitter.stop();
            receiver.stop();
            ByteBuffer lastWords = lastWords(cause);
            owner.onStopped();
            if (!loop.task(() -> closeSocket(cause, lastWords)).schedule()) {
                TcpOptions.closeQuietly(channel);
            }
        } finally {
            stopping.unlock();
        }
    }

    private ByteBuffer lastWords(Ending cause) {
        TerminateMessage terminate = cause.cause() == Cause.LOCAL_ERROR ? cause.terminate() : null;
        if (terminate == null || transmitter.finSent()) {
            return transmitter.lastWords(null);
        }
        report.terminateSent(terminate);
        return transmitter.lastWords(terminate.fpdu(crc));
    }

    private void closeSocket(Ending cause, ByteBuffer lastWords) {
        receiver.release();
        LoopTimer limit = closeLimit.get();
        if (limit != null) {
            limit.cancel();
        }
        Registration current = registration;
        if (endsInOrder(cause.cause()) && current != null && current.isValid()) {
            OrderlyClose.begin(current, transmitter.finSent() ? null : lastWords, times.drainNanos(), () -> {});
        } else {
            TcpOptions.closeQuietly(channel);
        }
        owner.onEnded(cause);
    }

    private static boolean endsInOrder(Cause cause) {
        return switch (cause) {
            case LOCAL_ERROR, REMOTE_CLOSE, REMOTE_ERROR -> true;
            case LOCAL_CLOSE, CONNECTION_LOST -> false;
        };
    }
}
