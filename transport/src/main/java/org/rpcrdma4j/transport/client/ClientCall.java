// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.time.Deadlines;
import org.rpcrdma4j.transport.wire.TransportHeader;

/**
 * One call on its way, from {@code send} to its end. A carrier that is used for one call after another.
 *
 * <pre>
 *           +------------ connection lost -----------+
 *           v                                        |
 *  IDLE -> QUEUED --sent--> SENT --reply--> REPLIED -+--fenced--> IDLE
 *             |               |                                    ^
 *             |               +--deadline, cancel--> GIVEN_UP --+--+ answered meanwhile, or connection lost
 *             |                                                 |  |
 *             +--deadline, cancel, failure----------------------|--+
 *                                              fenced, no reply v  | late reply, or connection lost
 *                                                       UNANSWERED-+
 * </pre>
 *
 * <table>
 * <caption>Who owns what</caption>
 * <tr><th>state</th><th>caller's memory</th><th>credit</th><th>deadline entry stands for</th></tr>
 * <tr><td>QUEUED</td><td>the call; nobody looks at it</td><td>none</td><td>the call's deadline</td></tr>
 * <tr><td>SENT</td><td>device and server</td><td>taken</td><td>the call's deadline</td></tr>
 * <tr><td>REPLIED</td><td>being shut</td><td>given back</td><td>the grace for the fence</td></tr>
 * <tr><td>GIVEN_UP</td><td>being shut</td><td>taken until a late reply</td><td>the grace for the fence</td></tr>
 * <tr><td>UNANSWERED</td><td>the caller's again: it has its outcome</td><td>taken until a late reply</td><td>the call's deadline</td></tr>
 * </table>
 *
 * <p>All of it is used inside the monitor; the transitions are {@link Requester}'s.
 */
final class ClientCall extends Deadlines.Entry {

    /** The older one first. */
    static final Comparator<ClientCall> BY_ORDER = Comparator.comparingLong(ClientCall::order);

    /** See the picture. */
    enum State {
        IDLE,
        QUEUED,
        SENT,
        REPLIED,
        GIVEN_UP,
        UNANSWERED
    }

    /** Links of {@link CallQueue}. */
    @Nullable
    ClientCall previousInQueue;

    /** Links of {@link CallQueue}. */
    @Nullable
    ClientCall nextInQueue;

    private final TransportHeader offered = new TransportHeader();
    private final CallMemory memory;
    private @Nullable RequestSlot slot;
    private State state = State.IDLE;
    private int xid;
    private long order;
    private long beginNanos;
    private long endNanos;
    private @Nullable CallMessage message;
    private @Nullable PendingReply pending;

    private @Nullable ClientConnection connection;
    private int transmissions;
    private boolean offersPad;
    private long sentNanos;
    private long answerNanos;
    private boolean answered;
    private @Nullable String dropped;

    private @Nullable MemorySegment replyMemory;
    private long replyBytes;
    private long placedBytes;
    private @Nullable TransportException failure;

    private @Nullable CallEnd end;

    ClientCall(BounceBuffers bounces) {
        memory = new CallMemory(bounces);
    }

    /** A new call; its end is a value of the client's clock. */
    void begin(CallMessage newMessage, PendingReply newPending, long newOrder, long newBeginNanos, long newEndNanos) {
        beginNanos = newBeginNanos;
        answerNanos = newBeginNanos;
        message = newMessage;
        pending = newPending;
        xid = newMessage.xid();
        order = newOrder;
        endNanos = newEndNanos;
        transmissions = 0;
        dropped = null;
        enterQueue();
    }

    /** Waits to be sent, for the first time or again: of an earlier connection nothing is left. */
    void enterQueue() {
        state = State.QUEUED;
        connection = null;
        answered = false;
        replyMemory = null;
        placedBytes = 0;
        failure = null;
        offered.clear();
    }

    /** It is appended to the connection's send queue. */
    void sent(ClientConnection newConnection, long nowNanos) {
        state = State.SENT;
        connection = newConnection;
        sentNanos = nowNanos;
        transmissions++;
    }

    /** Its reply is there. */
    void replied(MemorySegment newReplyMemory, long newReplyBytes, long newPlacedBytes) {
        state = State.REPLIED;
        answered = true;
        replyMemory = newReplyMemory;
        replyBytes = newReplyBytes;
        placedBytes = newPlacedBytes;
    }

    /** Its reply says, or is, a failure. */
    void repliedBy(TransportException newFailure) {
        state = State.REPLIED;
        answered = true;
        failure = newFailure;
    }

    /** Its caller does not wait any more; its credit stays taken. */
    void givenUp(TransportException newFailure) {
        state = State.GIVEN_UP;
        failure = newFailure;
        if (connection != null) {
            connection.credits().loseCaller();
        }
    }

    /** The caller has its outcome; the server has not answered yet. */
    void remainsUnanswered() {
        state = State.UNANSWERED;
        forgetCaller();
    }

    /** Ended: may be used for another call. */
    void ended() {
        state = State.IDLE;
        connection = null;
        forgetCaller();
    }

    private void forgetCaller() {
        message = null;
        pending = null;
        replyMemory = null;
        failure = null;
        offered.clear();
    }

    State state() {
        return state;
    }

    /** Whether its caller may still give it up. */
    boolean canBeGivenUp() {
        return state == State.QUEUED || state == State.SENT;
    }

    /** Whether its caller waits no more for the server. */
    boolean isGivenUp() {
        return state == State.GIVEN_UP || state == State.UNANSWERED;
    }

    int xid() {
        return xid;
    }

    /** Rises from call to call. */
    long order() {
        return order;
    }

    /** When it was given to the client. */
    long beginNanos() {
        return beginNanos;
    }

    /** When its reply came, or it was given up, so that its memory began to be shut. */
    long answerNanos() {
        return answerNanos;
    }

    /** See {@link #answerNanos()}. */
    void answerNanos(long nanos) {
        answerNanos = nanos;
    }

    /** When its caller stops waiting. */
    long endNanos() {
        return endNanos;
    }

    CallMessage message() {
        return require(message);
    }

    /** The carrier for how it ends. */
    CallEnd nextEnd(@Nullable EligibilityCheck check) {
        CallEnd next = end;
        if (next == null || next.isUnderWay()) {
            next = new CallEnd(check);
            end = next;
        }
        return next;
    }

    PendingReply pending() {
        return require(pending);
    }

    /** What the header of its last transmission offered. */
    TransportHeader offered() {
        return offered;
    }

    /** Whether the last segment of its Write chunk takes the pad, not data. */
    boolean offersPad() {
        return offersPad;
    }

    /** See {@link #offersPad()}. */
    void offersPad(boolean value) {
        offersPad = value;
    }

    /** The memory that it offers. */
    CallMemory memory() {
        return memory;
    }

    /** Its part of the connection, while it is in flight and its memory not shut. */
    @Nullable
    RequestSlot slot() {
        return slot;
    }

    /** Bound and unbound by the slot. */
    void slot(@Nullable RequestSlot newSlot) {
        slot = newSlot;
    }

    /** Where it was sent; null while it waits. */
    @Nullable
    ClientConnection connection() {
        return connection;
    }

    /** On how many connections it was sent. */
    int transmissions() {
        return transmissions;
    }

    /** When it was sent last. */
    long sentNanos() {
        return sentNanos;
    }

    /** Whether the server answered, in whatever way, on the connection that it was sent on. */
    boolean isAnswered() {
        return answered;
    }

    /** A reply came after the call had been given up. */
    void answeredLate() {
        answered = true;
    }

    /** A malformed reply was dropped: the deadline's error tells of it. */
    void noteDropped(String reason) {
        dropped = reason;
    }

    /**
     * Why its deadline has passed, for its caller.
     *
     * @param connector tells why it was not even sent
     */
    String timeoutDetail(Connector connector) {
        if (dropped != null) {
            return "no valid reply in time; dropped: " + dropped;
        }
        return state == State.SENT ? "no reply in time" : "not sent in time: " + connector;
    }

    @Nullable
    MemorySegment replyMemory() {
        return replyMemory;
    }

    /** How much of it is the reply. */
    long replyBytes() {
        return replyBytes;
    }

    long placedBytes() {
        return placedBytes;
    }

    @Nullable
    TransportException failure() {
        return failure;
    }

    private <T> T require(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException(this + " has no caller");
        }
        return value;
    }

    /** What errors call it. */
    String name() {
        return "call 0x" + Integer.toHexString(xid);
    }

    @Override
    public String toString() {
        return name() + " " + state;
    }
}
