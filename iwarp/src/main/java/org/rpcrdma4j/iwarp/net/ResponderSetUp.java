// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaResponder;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRefusal.Reason;

/**
 * One accepted socket on its way to a connection.
 *
 * <pre>
 *   reading the Request ──► asking the program ──► writing the Reply ──► over (established)
 *        │                        │                       └──► over (failed, closed)
 *        ├────────────────────────┴──► over (R=1 sent, then an orderly close)
 *        └──► over (malformed, silent or gone: closed without a frame)
 * </pre>
 *
 * <p>Owns the socket until it is over. Threads: the loop's, save for {@link #answer} and {@link #abandon}.
 */
final class ResponderSetUp implements ReadyHandler {
    private enum State {
        READING_REQUEST,
        ASKING,
        WRITING_REPLY,
        OVER
    }

    /** Who admits set-ups and is told what becomes of them. Called on the loop's thread. */
    interface Gate {
        /** Whether one more Request may wait for an answer; each true is followed by one {@link #answered}. */
        boolean tryAsk();

        /** Gives the Request to the program. */
        void ask(InboundRequest request);

        void answered();

        /** The set-up has no more use for its place. */
        void gone(ResponderSetUp setUp);
    }

    private static final byte[] NOTHING = {};

    private final EventLoop loop;
    private final SocketChannel channel;
    private final SetUpConfig config;
    private final Gate gate;
    private final Counters counters;
    private final WireLog log;
    private MpaResponder mpa;
    private String where = "MPA set-up";
    private State state = State.READING_REQUEST;
    private boolean requestBegan;
    private boolean asked;
    private @Nullable Registration registration;
    private @Nullable LoopTimer deadline;
    private @Nullable SetUpListener listener;
    private @Nullable EstablishedStream stream;
    private @Nullable ConnectRefusal ending;
    private ByteBuffer reply = ByteBuffer.wrap(NOTHING);

    ResponderSetUp(
            EventLoop loop, SocketChannel channel, SetUpConfig config, Gate gate, Counters counters, WireLog log) {
        this.loop = loop;
        this.channel = channel;
        this.config = config;
        this.gate = gate;
        this.counters = counters;
        this.log = log;
        mpa = new MpaResponder(config.wishes());
    }

    EventLoop loop() {
        return loop;
    }

    /** The first step, on the loop's thread. */
    void begin() {
        if (state == State.OVER) {
            return;
        }
        try {
            where = "MPA set-up with " + channel.getRemoteAddress();
            registration = loop.register(channel, SelectionKey.OP_READ, this);
            arm(config.deadline());
        } catch (IOException | RejectedExecutionException e) {
            fail(Reason.LOCAL, "no place on the loop: " + e);
        }
    }

    /** Gives the program's answer to the loop; from any thread. */
    void answer(Runnable decision, @Nullable SetUpListener told) {
        if (!loop.task(decision).schedule() && told != null) {
            told.onRefused(new ConnectRefusal(Reason.LOCAL, "the device is closed"));
        }
    }

    /** The listener closes: who waits for an answer is rejected, who has not asked is cut off. From any thread. */
    void abandon() {
        loop.task(() -> {
                    if (state == State.ASKING) {
                        sayNo(mpa.reject(NOTHING), new ConnectRefusal(Reason.LOCAL, "the listener is closed"));
                    } else if (state == State.READING_REQUEST) {
                        fail(Reason.LOCAL, "the listener is closed");
                    }
                })
                .schedule();
    }

    @Override
    public void onReady(int readyOps) {
        try {
            switch (state) {
                case READING_REQUEST -> readRequest();
                case ASKING -> requireQuiet();
                case WRITING_REPLY -> writeReply();
                case OVER -> {}
            }
        } catch (IOException e) {
            fail(Reason.CLOSED_BY_PEER, "connection lost in state " + state + ": " + e);
        } catch (MpaException e) {
            malformed(WireLog.detail(e));
        }
    }

    @Override
    public void onLoopClosed() {
        fail(Reason.LOCAL, "the device is closed");
    }

    private void readRequest() throws IOException, MpaException {
        ByteBuffer staging = loop.staging();
        staging.clear();
        int count = channel.read(staging);
        if (count < 0) {
            String detail = WireLog.detail(mpa.endOfStream());
            // Not of a peer that sent nothing: such are probes of monitors and balancers, and only counted.
            if (requestBegan) {
                log.badInput(where, detail);
            }
            fail(Reason.CLOSED_BY_PEER, detail);
            return;
        }
        requestBegan |= count > 0;
        staging.flip();
        if (mpa.onBytes(staging)) {
            judge();
        }
    }

    private void judge() throws IOException {
        byte[] no = mpa.automaticReject();
        if (no != null) {
            sayNo(no, new ConnectRefusal(Reason.PROTOCOL_ERROR, "the Request asks for markers"));
        } else if (!gate.tryAsk()) {
            counters.increment(Counter.ACCEPT_BACKLOG_FULL);
            sayNo(mpa.reject(NOTHING), new ConnectRefusal(Reason.LOCAL, "too many requests wait for an answer"));
        } else {
            ask();
        }
    }

    private void ask() throws IOException {
        asked = true;
        state = State.ASKING;
        arm(config.decision());
        InboundRequest request = new InboundRequest(
                this, mpa.request(), (InetSocketAddress) channel.getRemoteAddress(), (InetSocketAddress)
                        channel.getLocalAddress());
        counters.increment(Counter.ACCEPT_REQUESTS);
        try {
            gate.ask(request);
        } catch (RuntimeException | Error e) {
            if (request.tryClaim()) {
                sayNo(mpa.reject(NOTHING), new ConnectRefusal(Reason.LOCAL, "the request handler failed: " + e));
            }
            throw e;
        }
    }

    /** RFC 5044, Section 7.1.2: the initiator sends nothing between its Request and the complete Reply. */
    private void requireQuiet() throws IOException {
        ByteBuffer staging = loop.staging();
        staging.clear();
        int count = channel.read(staging);
        if (count < 0) {
            fail(Reason.CLOSED_BY_PEER, "the peer did not wait for the answer");
        } else if (count > 0) {
            malformed("expected nothing behind the Request, found " + count + " bytes");
        }
    }

    /** The program said yes. Loop thread. */
    void accept(byte[] privateData, int irdWish, int ordWish, SetUpListener told) {
        if (state != State.ASKING) {
            told.onRefused(ending == null ? new ConnectRefusal(Reason.LOCAL, "set-up over") : ending);
            return;
        }
        listener = told;
        onReady(SelectionKey.OP_READ);
        if (state != State.ASKING || registration == null) {
            return;
        }
        MpaFrame request = mpa.request();
        MpaResponder.Acceptance acceptance = mpa.accept(privateData, irdWish, ordWish);
        reply = ByteBuffer.wrap(acceptance.reply());
        EstablishedStream made = new EstablishedStream(
                channel, loop, registration, acceptance.established(), ByteBuffer.allocateDirect(0));
        stream = made;
        try {
            // ORDER: ready for FPDUs before the first byte of the Reply (RFC 5044, Section 7.1.2, rule 2).
            told.onPrepare(made);
        } catch (RuntimeException e) {
            sayNo(rejectionOf(request), new ConnectRefusal(Reason.LOCAL, "not ready for the connection: " + e));
            return;
        }
        state = State.WRITING_REPLY;
        noLongerAsking();
        arm(config.deadline());
        onReady(SelectionKey.OP_WRITE);
    }

    /** The program said no. Loop thread. */
    void reject(byte[] privateData, int neededOrd) {
        if (state != State.ASKING) {
            return;
        }
        onReady(SelectionKey.OP_READ);
        if (state == State.ASKING) {
            byte[] no = neededOrd < 0 ? mpa.reject(privateData) : mpa.reject(privateData, neededOrd);
            sayNo(no, new ConnectRefusal(Reason.LOCAL, "rejected by the program"));
        }
    }

    /** R=1 in place of an acceptance that was drawn up but not sent: the Request is judged anew. */
    private byte[] rejectionOf(MpaFrame request) {
        mpa = new MpaResponder(config.wishes());
        try {
            mpa.onBytes(ByteBuffer.wrap(request.encode()));
        } catch (MpaException e) {
            throw new AssertionError("a valid Request became invalid", e);
        }
        return mpa.reject(NOTHING);
    }

    private void writeReply() throws IOException {
        channel.write(reply);
        if (registration == null || stream == null || listener == null) {
            throw new AssertionError("a Reply without an acceptance");
        }
        if (reply.hasRemaining()) {
            registration.interest(SelectionKey.OP_WRITE);
            return;
        }
        over();
        registration.interest(0);
        gate.gone(this);
        counters.increment(Counter.ACCEPT_ESTABLISHED);
        try {
            listener.onEstablished(stream);
        } catch (RuntimeException | Error e) {
            TcpOptions.closeQuietly(channel);
            throw e;
        }
    }

    private void expire() {
        counters.increment(Counter.SET_UP_TIMEOUTS);
        switch (state) {
            case READING_REQUEST -> {
                log.badInput(where, "no complete Request within " + config.deadline());
                fail(Reason.TIMED_OUT, "no complete Request within " + config.deadline());
            }
            case ASKING ->
                sayNo(
                        mpa.reject(NOTHING),
                        new ConnectRefusal(Reason.TIMED_OUT, "not answered within " + config.decision()));
            case WRITING_REPLY -> fail(Reason.TIMED_OUT, "the Reply could not be written in " + config.deadline());
            case OVER -> {}
        }
    }

    private void malformed(String detail) {
        counters.increment(Counter.SET_UP_MALFORMED);
        log.badInput(where, detail);
        // RFC 5044, Section 7.1.2, rule 2: TCP is closed, nothing is sent.
        fail(Reason.PROTOCOL_ERROR, detail);
    }

    private void fail(Reason reason, String detail) {
        if (state == State.OVER) {
            return;
        }
        over();
        TcpOptions.closeQuietly(channel);
        counters.increment(Counter.ACCEPT_FAILED);
        gate.gone(this);
        refused(new ConnectRefusal(reason, detail));
    }

    /** Sends a Reply with R=1 and keeps the place until the peer had time to read it. */
    private void sayNo(byte[] rejection, ConnectRefusal refusal) {
        over();
        counters.increment(Counter.ACCEPT_REJECTED);
        if (registration == null) {
            throw new AssertionError("a Request without a registration");
        }
        OrderlyClose.begin(
                registration, ByteBuffer.wrap(rejection), config.drain().toNanos(), () -> gate.gone(this));
        refused(refusal);
    }

    private void refused(ConnectRefusal refusal) {
        ending = refusal;
        if (listener != null) {
            listener.onRefused(refusal);
        }
    }

    private void over() {
        state = State.OVER;
        noLongerAsking();
        if (deadline != null) {
            deadline.cancel();
        }
    }

    private void noLongerAsking() {
        if (asked) {
            asked = false;
            gate.answered();
        }
    }

    private void arm(Duration limit) {
        if (deadline != null) {
            deadline.cancel();
        }
        deadline = loop.schedule(limit.toNanos(), this::expire);
    }
}
