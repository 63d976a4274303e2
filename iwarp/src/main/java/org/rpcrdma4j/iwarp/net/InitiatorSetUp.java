// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.MpaInitiator;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRefusal.Reason;
import org.rpcrdma4j.verbs.cm.Octets;

/**
 * Connects: TCP, Request, Reply, under one deadline.
 *
 * <pre>
 *   connecting ──► writing the Request ──► reading the Reply ──► over (established)
 *       └───────────────┴──────────────────────┴──► over (refused; the socket is closed, at once or in order)
 * </pre>
 *
 * <p>Whatever happens, and in whatever order deadline, end of stream and cancel come, the listener gets one result. Owns the
 * channel until then. Threads: the loop's, save for {@link #start} and {@link #cancel}.
 */
public final class InitiatorSetUp {
    private enum State {
        CONNECTING,
        WRITING_REQUEST,
        READING_REPLY,
        OVER
    }

    private final EventLoop loop;
    private final InetSocketAddress remote;
    private final SetUpConfig config;
    private final Counters counters;
    private final WireLog log;
    private final SetUpListener listener;
    private final ReadyHandler handler = new Handler();
    private State state = State.CONNECTING;
    private MpaWishes wishes;
    private MpaInitiator mpa;
    private ByteBuffer request;
    private boolean replyBegan;
    private @Nullable LoopTimer deadline;
    private @Nullable SocketChannel channel;
    private @Nullable Registration registration;

    private InitiatorSetUp(
            EventLoop loop,
            InetSocketAddress remote,
            SetUpConfig config,
            Counters counters,
            WireLog log,
            SetUpListener listener) {
        this.loop = loop;
        this.remote = remote;
        this.config = config;
        this.counters = counters;
        this.log = log;
        this.listener = listener;
        wishes = config.wishes();
        mpa = new MpaInitiator(wishes, config.privateData().toByteArray());
        request = ByteBuffer.wrap(mpa.request());
    }

    /**
     * Begins to connect; from any thread.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public static InitiatorSetUp start(
            EventLoop loop,
            InetSocketAddress remote,
            SetUpConfig config,
            Counters counters,
            WireLog log,
            SetUpListener listener) {
        InitiatorSetUp setUp = new InitiatorSetUp(loop, remote, config, counters, log, listener);
        if (!loop.task(setUp::begin).schedule()) {
            setUp.refuse(new ConnectRefusal(Reason.LOCAL, "the device is closed"));
        }
        return setUp;
    }

    /** Gives up, from any thread. The listener is told, unless it has its result already. */
    public void cancel() {
        // Once the loop has ended there is a result.
        loop.task(() -> closeAndRefuse(Reason.LOCAL, "cancelled")).schedule();
    }

    private void begin() {
        if (state == State.OVER) {
            return;
        }
        deadline = loop.schedule(config.deadline().toNanos(), this::expire);
        if (remote.isUnresolved()) {
            closeAndRefuse(Reason.UNREACHABLE, "no address for " + remote.getHostString());
            return;
        }
        connect();
    }

    private void expire() {
        counters.increment(Counter.SET_UP_TIMEOUTS);
        String missing = switch (state) {
            case CONNECTING -> "no TCP connection";
            case WRITING_REQUEST -> "the Request could not be written";
            case READING_REPLY -> "no complete Reply";
            case OVER -> "";
        };
        closeAndRefuse(Reason.TIMED_OUT, missing + " within " + config.deadline());
    }

    private void connect() {
        state = State.CONNECTING;
        SocketChannel opened;
        try {
            opened = SocketChannel.open();
            channel = opened;
            TcpOptions.apply(opened);
            registration = loop.register(opened, 0, handler);
        } catch (IOException | RejectedExecutionException e) {
            closeAndRefuse(Reason.LOCAL, "no socket: " + e);
            return;
        }
        try {
            if (opened.connect(remote)) {
                sendRequest(opened, registration);
            } else {
                registration.interest(SelectionKey.OP_CONNECT);
            }
        } catch (IOException | IllegalArgumentException e) {
            closeAndRefuse(Reason.UNREACHABLE, "cannot connect: " + e);
        }
    }

    private void proceed(SocketChannel open, Registration registered) {
        try {
            switch (state) {
                case CONNECTING -> finishConnect(open, registered);
                case WRITING_REQUEST -> writeRequest(open, registered);
                case READING_REPLY -> readReply(open, registered);
                case OVER -> registered.interest(0);
            }
        } catch (IOException e) {
            // The kind of the exception does not tell who failed; the peer's reset is by far the most likely.
            lost("connection lost in state " + state + ": " + e);
        } catch (MpaException e) {
            malformed(registered, e);
        }
    }

    private void finishConnect(SocketChannel open, Registration registered) throws IOException {
        boolean connected;
        try {
            connected = open.finishConnect();
        } catch (ConnectException | NoRouteToHostException e) {
            closeAndRefuse(Reason.UNREACHABLE, "cannot connect: " + e);
            return;
        }
        // Any other failure passes on: TCP was connected, and reset before we looked.
        if (connected) {
            sendRequest(open, registered);
        }
    }

    private void sendRequest(SocketChannel open, Registration registered) throws IOException {
        state = State.WRITING_REQUEST;
        writeRequest(open, registered);
    }

    private void writeRequest(SocketChannel open, Registration registered) throws IOException {
        open.write(request);
        if (request.hasRemaining()) {
            registered.interest(SelectionKey.OP_WRITE);
        } else {
            state = State.READING_REPLY;
            registered.interest(SelectionKey.OP_READ);
        }
    }

    private void readReply(SocketChannel open, Registration registered) throws IOException, MpaException {
        ByteBuffer staging = loop.staging();
        staging.clear();
        int count = open.read(staging);
        if (count < 0) {
            lost(WireLog.detail(mpa.endOfStream()));
            return;
        }
        replyBegan |= count > 0;
        staging.flip();
        MpaOutcome outcome = mpa.onBytes(staging);
        switch (outcome) {
            case null -> {}
            case MpaOutcome.Established agreed -> agreed(open, registered, agreed, staging);
            case MpaOutcome.Rejected rejected -> {
                over();
                OrderlyClose.begin(registered, null, config.drain().toNanos(), () -> {});
                refuse(refusal(Reason.REJECTED, "the peer's program said no", rejected));
            }
            case MpaOutcome.Refused refused -> {
                giveUp(registered, refused.terminate());
                log.badInput(where(), refused.reason());
                refuse(refusal(Reason.PROTOCOL_ERROR, refused.reason(), refused));
            }
        }
    }

    private void agreed(
            SocketChannel open, Registration registered, MpaOutcome.Established agreed, ByteBuffer staging) {
        over();
        registered.interest(0);
        // RFC 5044, Section 7.1.2: what follows the Reply are FPDUs; none of their bytes may be lost.
        ByteBuffer leftover =
                ByteBuffer.allocateDirect(staging.remaining()).put(staging).flip();
        EstablishedStream stream = new EstablishedStream(open, loop, registered, agreed, leftover);
        try {
            listener.onPrepare(stream);
        } catch (RuntimeException e) {
            // RFC 6581, Section 9.3: a local failure of the set-up is told to the peer before the end.
            giveUp(registered, TerminateError.MPA_LOCAL_CATASTROPHIC);
            refuse(new ConnectRefusal(Reason.LOCAL, "not ready for the connection: " + e));
            return;
        }
        counters.increment(Counter.CONNECT_ESTABLISHED);
        try {
            listener.onEstablished(stream);
        } catch (RuntimeException | Error e) {
            TcpOptions.closeQuietly(open);
            throw e;
        }
    }

    private void lost(String detail) {
        // RFC 6581, Section 10: a peer without the enhanced form ends the connection; the plain form may be tried then.
        if (config.retryPlain() && wishes.enhanced() && !replyBegan && state != State.OVER) {
            counters.increment(Counter.CONNECT_RETRIED_PLAIN);
            close();
            wishes = wishes.plain();
            mpa = new MpaInitiator(wishes, config.privateData().toByteArray());
            request = ByteBuffer.wrap(mpa.request());
            connect();
            return;
        }
        closeAndRefuse(Reason.CLOSED_BY_PEER, detail);
    }

    private void malformed(Registration registered, MpaException e) {
        counters.increment(Counter.SET_UP_MALFORMED);
        String detail = WireLog.detail(e);
        log.badInput(where(), detail);
        // RFC 5044, Section 7.1.2, rule 3: a malformed Reply is answered by the end of the connection only.
        giveUp(registered, null);
        refuse(new ConnectRefusal(Reason.PROTOCOL_ERROR, detail));
    }

    /** Ends the connection behind a Reply: after a pause, with a Terminate if there is something to be told. */
    private void giveUp(Registration registered, @Nullable TerminateError error) {
        over();
        registered.interest(0);
        ByteBuffer lastWords = error == null ? null : TerminateMessage.of(error).fpdu(true);
        Runnable end =
                () -> OrderlyClose.begin(registered, lastWords, config.drain().toNanos(), () -> {});
        if (config.giveUpPause().isZero()) {
            end.run();
        } else {
            loop.schedule(config.giveUpPause().toNanos(), end);
        }
    }

    private void closeAndRefuse(Reason reason, String detail) {
        if (state != State.OVER) {
            over();
            close();
            refuse(new ConnectRefusal(reason, detail));
        }
    }

    private void over() {
        state = State.OVER;
        if (deadline != null) {
            deadline.cancel();
        }
    }

    private void refuse(ConnectRefusal refusal) {
        counters.increment(Counter.ofRefusedConnect(refusal.reason()));
        listener.onRefused(refusal);
    }

    private void close() {
        if (channel != null) {
            TcpOptions.closeQuietly(channel);
        }
    }

    private String where() {
        return "MPA set-up with " + remote;
    }

    private static ConnectRefusal refusal(Reason reason, String detail, MpaOutcome outcome) {
        return new ConnectRefusal(
                reason,
                detail,
                Octets.of(outcome.privateData()),
                Math.max(outcome.peerIrd(), 0),
                Math.max(outcome.peerOrd(), 0));
    }

    private final class Handler implements ReadyHandler {
        @Override
        public void onReady(int readyOps) {
            if (channel != null && registration != null) {
                proceed(channel, registration);
            }
        }

        @Override
        public void onLoopClosed() {
            closeAndRefuse(Reason.LOCAL, "the device is closed");
        }
    }
}
