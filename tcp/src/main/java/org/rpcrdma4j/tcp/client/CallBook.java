// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.ConnectFailedException;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.Counters;

/** The calls of one client that have not ended: which wait, which are on the connection, and what those that end are told. In the monitor. */
final class CallBook {

    /** Given-up calls of one connection whose replies are still remembered; with more, the connection is ended. */
    private static final int MOST_ABANDONED = 1 << 16;

    private final TcpClientOptions options;
    private final Counters<TcpClientCounter> counters;
    private final CallTimer deadlines;
    /** All that have not ended, in the order in which they came. */
    private final Map<Integer, TcpCall> calls = new LinkedHashMap<>();

    private final ArrayDeque<TcpCall> over = new ArrayDeque<>();
    private LinkedHashSet<TcpCall> waiting = new LinkedHashSet<>();
    private int inFlight;
    private @Nullable TcpConnection current;

    CallBook(TcpClientOptions options, Counters<TcpClientCounter> counters, CallTimer deadlines) {
        this.options = options;
        this.counters = counters;
        this.deadlines = deadlines;
    }

    static TransportException failure(Kind kind, TcpCall call, String detail) {
        return failure(kind, call, detail, null);
    }

    static TransportException failure(Kind kind, TcpCall call, String detail, @Nullable ConnectFailedException cause) {
        return new TransportException(
                kind, call.transmissions > 0, "call 0x" + Integer.toHexString(call.xid) + ": " + detail, cause);
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    @Nullable
    TcpConnection current() {
        return current;
    }

    /** Calls go over this connection from now on. */
    void connect(TcpConnection connection, TcpRequester requester) {
        current = connection;
        pump(requester);
    }

    /** A new call: it is taken, or is over at once. */
    void add(TcpCall call, TcpRequester requester, boolean isClosed) {
        TransportException refusal = isClosed ? failure(Kind.CLOSED, call, "the client is closed") : refusal(call);
        if (refusal != null) {
            counters.increment(TcpClientCounter.FAILURES);
            call.decide(null, refusal);
            over.add(call);
            return;
        }
        calls.put(call.xid, call);
        waiting.add(call);
        long timeout = call.message.timeoutNanos();
        deadlines.add(call, timeout > 0 ? timeout : options.callTimeout().toNanos());
        pump(requester);
    }

    private @Nullable TransportException refusal(TcpCall call) {
        TcpConnection connection = current;
        if (calls.containsKey(call.xid) || (connection != null && connection.abandoned.contains(call.xid))) {
            throw new IllegalArgumentException(
                    "a call of the XID 0x" + Integer.toHexString(call.xid) + " may still be answered");
        }
        if (call.message.totalBytes() > options.maxRecordBytes()) {
            return failure(
                    Kind.MESSAGE_TOO_LONG,
                    call,
                    call.message.totalBytes() + " bytes; a record has up to " + options.maxRecordBytes());
        }
        if (waiting.size() >= options.maxQueued() && inFlight + waiting.size() >= options.maxInFlight()) {
            return failure(Kind.TOO_MANY_CALLS, call, waiting.size() + " calls wait");
        }
        if (!call.isMemoryShared()) {
            return failure(Kind.REGISTRATION_FAILED, call, "memory that is closed, or of one thread alone");
        }
        return null;
    }

    /** Gives the connection as many of the waiting calls as may be in flight. */
    private void pump(TcpRequester requester) {
        TcpConnection connection = current;
        while (connection != null && inFlight < options.maxInFlight() && !waiting.isEmpty()) {
            TcpCall call = waiting.getFirst();
            if (!connection.submit(requester, call)) {
                return;
            }
            waiting.removeFirst();
            call.connection = connection;
            inFlight++;
        }
    }

    /** Ends a call without a reply; returns whether the connection still uses its memory, so that it is not over yet. */
    boolean giveUp(TcpCall call, TransportException failure, TcpRequester requester) {
        if (call.isDecided()) {
            return false;
        }
        call.decide(null, failure);
        waiting.remove(call);
        TcpConnection connection = call.connection;
        if (connection != null && call.transmissions > 0) {
            connection.abandoned.add(call.xid);
            if (connection.abandoned.size() > MOST_ABANDONED) {
                connection.breakOff();
            }
        }
        endIfOver(call, requester);
        return !call.isOver();
    }

    /** All that have not ended; a copy. */
    List<TcpCall> all() {
        return new ArrayList<>(calls.values());
    }

    /** All that wait to be sent; a copy. */
    List<TcpCall> allWaiting() {
        return new ArrayList<>(waiting);
    }

    /** The call's bytes are to be written; false if it is not to be sent any more. */
    boolean beginWrite(TcpCall call, TcpConnection connection) {
        if (call.isDecided() || !connection.equals(call.connection)) {
            return false;
        }
        call.isWriting = true;
        call.transmissions++;
        counters.increment(TcpClientCounter.TRANSMISSIONS);
        if (call.transmissions > 1) {
            counters.increment(TcpClientCounter.RETRANSMISSIONS);
        }
        return true;
    }

    void endWrite(TcpCall call, TcpRequester requester) {
        call.isWriting = false;
        endIfOver(call, requester);
    }

    /** The call that a reply is for; null if it is for none, or none any more. */
    @Nullable
    TcpCall beginRead(int xid, TcpConnection connection) {
        TcpCall call = calls.get(xid);
        if (call == null || call.transmissions == 0 || call.isDecided() || !connection.equals(call.connection)) {
            connection.abandoned.remove(xid);
            return null;
        }
        call.isReading = true;
        return call;
    }

    /** Reading has ended: with a reply, a failure of this call, or, with neither, the end of the connection. */
    void endRead(
            TcpCall call,
            TcpConnection connection,
            @Nullable Reply reply,
            @Nullable TransportException failure,
            TcpRequester requester) {
        call.isReading = false;
        if (call.isDecided()) {
            connection.abandoned.remove(call.xid);
        } else if (reply != null || failure != null) {
            call.decide(reply, failure);
        }
        endIfOver(call, requester);
    }

    private void endIfOver(TcpCall call, TcpRequester requester) {
        if (!call.isOver() || !calls.remove(call.xid, call)) {
            return;
        }
        deadlines.remove(call);
        if (call.connection != null) {
            call.connection = null;
            inFlight--;
        }
        counters.increment(call.reply != null ? TcpClientCounter.REPLIES : TcpClientCounter.FAILURES);
        over.add(call);
        pump(requester);
    }

    /**
     * The connection has ended, and nothing uses its calls' memory: they wait again, in their old order, before the others; but those that
     * were sent too often fail. Returns whether any waits again.
     */
    boolean takeBack(TcpConnection connection, TcpRequester requester) {
        current = null;
        LinkedHashSet<TcpCall> again = new LinkedHashSet<>();
        for (TcpCall call : all()) {
            if (connection.equals(call.connection)) {
                call.connection = null;
                inFlight--;
                if (call.transmissions < options.maxTransmissions()) {
                    again.add(call);
                } else {
                    String detail = "it was sent on " + call.transmissions + " connections, and each was lost";
                    giveUp(call, failure(Kind.CONNECTION_LOST, call, detail), requester);
                }
            }
        }
        boolean anyAgain = !again.isEmpty();
        again.addAll(waiting);
        waiting = again;
        return anyAgain;
    }

    /** A call whose deadline has come; null if there is no more. */
    @Nullable
    TcpCall nextExpired() {
        return deadlines.nextExpired();
    }

    /** A call whose end is to be told; null if there is none. */
    @Nullable
    TcpCall pollOver() {
        return over.poll();
    }

    @Override
    public String toString() {
        return waiting.size() + " calls wait, " + inFlight + " in flight: "
                + calls.values().stream().limit(8).toList();
    }
}
