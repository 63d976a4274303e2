// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

/**
 * All that a connection needs for one call, from its Receive to the completion of its reply's Send; used again for the next.
 *
 * <pre>
 *   FREE -> RECEIVED -> PULLING -> QUEUED -> RUNNING -> REPLYING -> FREE
 *              |  no Read chunks       ^        |           ^
 *              +-----------------------+        |           |
 *              +---- error reply ---------------------------+
 * </pre>
 *
 * Owner: the connection, inside its monitor, except RUNNING, when it is the thread that runs the handler, and then the one that replies.
 * The receive buffer is held until the reply is ready to be posted, send buffer and result memory until the Send is complete.
 */
final class RequestSlot implements Runnable, Outbox.Entry {

    /** Where the call is. */
    enum State {
        FREE,
        /** Decoded; waits for memory or a send buffer. */
        RECEIVED,
        /** Its Read chunks are being read. */
        PULLING,
        /** Complete; waits for a handler thread. */
        QUEUED,
        /** With the handler, until it replies. */
        RUNNING,
        /** The reply waits for its place in the send queue, or for the completion of its Send. */
        REPLYING
    }

    /** No buffer. */
    static final int NONE = -1;

    final ServerConnection connection;
    final int index;
    final TransportHeader header = new TransportHeader();
    final ReplyPlanner planner = new ReplyPlanner();
    final List<MemorySegment> message = new ArrayList<>(4);
    final List<PooledBuffer> results = new ArrayList<>(2);
    final List<MemoryRegion> foreign = new ArrayList<>(0);
    final Runnable dispatch = this::dispatch;
    final SourceList sources = new SourceList();
    private final Carriers[] carriers = {new Carriers(), new Carriers()};
    private int writesUsed;
    SendRequest send = carriers[0].send;
    ArrayList<SendQueueRequest> chain = carriers[0].chain;
    private ArrayList<RdmaWriteRequest> writes = carriers[0].writes;

    State state = State.FREE;
    int generation;
    int receiveBuffer = NONE;
    int receiveLength;
    int sendBuffer = NONE;
    long reservedBytes;
    long resultBytes;
    int stamp;
    boolean usesChunks;
    boolean hasInvalidateKey;
    int invalidateKey;
    /** Whether the answer is an RDMA_ERROR, whose bytes are in the send buffer once there is one. */
    ErrorReply error = ErrorReply.NONE;

    @Nullable
    CallAssembler assembler;

    @Nullable
    PooledBuffer pulled;

    int nextRead;
    int readsComplete;
    long pullBegan;
    long waitBegan;
    int sendBytes;
    /** How much of the chain was posted, and how many places that part takes. */
    int chainPosted;

    int placesTaken;

    List<SendQueueRequest> posting = chain;

    @Nullable
    PooledBuffer copyBuffer;

    long copyUsed;

    @Nullable
    Runnable released;

    private @Nullable EligibilityCheck argumentCheck;

    @Nullable
    EligibleResults eligible;

    final IntPredicate isEligible = piece -> eligible != null && eligible.isEligible(piece);

    /** What is answered instead of an RPC reply. */
    enum ErrorReply {
        NONE,
        ERR_VERS,
        ERR_CHUNK
    }

    /** The work requests of one reply. */
    private static final class Carriers {
        private final SendRequest send = new SendRequest();
        private final ArrayList<SendQueueRequest> chain = new ArrayList<>(1);
        private final ArrayList<RdmaWriteRequest> writes = new ArrayList<>(0);
    }

    RequestSlot(ServerConnection connection, int index) {
        this.connection = connection;
        this.index = index;
    }

    CallAssembler assembler(long maxPayloadBytes) {
        CallAssembler found = assembler;
        if (found == null) {
            found = new CallAssembler(maxPayloadBytes);
            assembler = found;
        }
        return found;
    }

    /** The next Write carrier, empty. It joins the chain when {@link #chain} takes it. */
    RdmaWriteRequest nextWrite() {
        if (writesUsed == writes.size()) {
            writes.add(new RdmaWriteRequest());
        }
        return writes.get(writesUsed++).clearSges().signaled(false);
    }

    EligibilityCheck eligibilityCheck(Bindings bindings, CallAssembler call) {
        EligibilityCheck found = argumentCheck;
        if (found == null) {
            found = new EligibilityCheck(bindings, call);
            argumentCheck = found;
        }
        return found;
    }

    EligibleResults eligibleResults(Bindings bindings) {
        EligibleResults found = eligible;
        if (found == null) {
            found = new EligibleResults(bindings);
            eligible = found;
        }
        return found;
    }

    /** The request's buffer that the memory lies in, if any. */
    @Nullable
    PooledBuffer bufferOf(MemorySegment piece) {
        PooledBuffer arguments = pulled;
        if (arguments != null && arguments.holds(piece)) {
            return arguments;
        }
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i).holds(piece)) {
                return results.get(i);
            }
        }
        return null;
    }

    void resetReply() {
        sources.clear();
        chain.clear();
        posting = chain;
        writesUsed = 0;
        chainPosted = 0;
        placesTaken = 0;
    }

    /**
     * Ends one use; the next one has a number and work requests of its own. The device may still be looking at those of the last reply
     * though its completion has come: ORDER: posts are made one after the other, so when they are used for the next but one, the thread
     * that posted them has left.
     */
    void nextUse() {
        generation++;
        Carriers next = carriers[generation & 1];
        send = next.send;
        chain = next.chain;
        writes = next.writes;
    }

    private void dispatch() {
        connection.replies().dispatch(this);
    }

    /** On a handler thread. */
    @Override
    public void run() {
        connection.replies().serve(this);
    }

    @Override
    public List<? extends SendQueueRequest> chain() {
        return posting;
    }

    @Override
    public void onRefused(PostResult.Refused refused) {
        connection.onReplyRefused(this, refused);
    }

    @Override
    public String toString() {
        return "xid " + Integer.toHexString(header.xid()) + " " + state;
    }
}
