// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.System.Logger.Level;
import java.net.SocketAddress;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.dcache.oncrpc4j.rpc.ReplyQueue;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;

/**
 * The reply queue of one transport: where oncrpc4j tells, and nowhere else, that a caller does not wait any more.
 *
 * <p>A call is in oncrpc4j's queue for as long as its caller waits, and in the table here for as long as its memory may be open to the server.
 * {@link #get} from outside is giving up: it returns when the memory is shut. Timeouts are kept by the transport, so oncrpc4j's timer
 * thread is never started: its timer would tell the caller too early.
 */
final class RdmaReplyQueue extends ReplyQueue {

    private static final System.Logger LOG = System.getLogger(RdmaReplyQueue.class.getName());

    private final ConcurrentMap<Integer, PendingCall> open = new ConcurrentHashMap<>();
    private final Executor executor;
    private final long fenceLimitNanos;

    /**
     * A queue without calls.
     *
     * @param executor where callbacks are told of a late end
     * @param fenceLimitNanos how long giving up may take at most
     */
    RdmaReplyQueue(Executor executor, long fenceLimitNanos) {
        this.executor = executor;
        this.fenceLimitNanos = fenceLimitNanos;
    }

    /**
     * Registers a call, on the thread that sends it next.
     *
     * @throws DuplicateXidException if a call of the same XID has not ended; that one is not touched
     */
    @Override
    public void registerKey(
            int xid,
            SocketAddress address,
            @Nullable CompletionHandler<RpcReply, RpcTransport> callback,
            long timeout,
            @Nullable TimeUnit unit)
            throws DuplicateXidException {
        PendingCall call = new PendingCall(xid, callback, executor, timeout, unit);
        if (open.putIfAbsent(xid, call) != null) {
            throw new DuplicateXidException(xid);
        }
        try {
            super.registerKey(xid, address, call, 0, null);
        } catch (java.io.EOFException e) {
            open.remove(xid, call);
            throw new AssertionError("oncrpc4j's queue does not throw", e);
        }
    }

    /** The call that was registered with this XID and has not ended. */
    @Nullable
    PendingCall find(int xid) {
        return open.get(xid);
    }

    /** The call's memory is shut, or it was never sent: its XID may be used again. */
    void ended(PendingCall call) {
        open.remove(call.xid(), call);
    }

    /** Takes a call that has ended out of the queue; false if its caller does not wait any more. */
    boolean take(PendingCall call) {
        return super.get(call.xid()) != null;
    }

    /**
     * Takes the callback of a call: what oncrpc4j does when the caller does not wait any more. The call is given up, and its memory shut to the
     * server by the time that this returns.
     */
    @Override
    public @Nullable CompletionHandler<RpcReply, RpcTransport> get(int xid) {
        CompletionHandler<RpcReply, RpcTransport> callback = super.get(xid);
        if (callback instanceof PendingCall call && !call.giveUp(fenceLimitNanos)) {
            LOG.log(
                    Level.WARNING,
                    "memory of call 0x{0} was not shut in time after it was given up",
                    Integer.toHexString(xid));
        }
        return callback;
    }

    /** Calls whose memory may be open, or that were not sent yet. */
    int openCalls() {
        return open.size();
    }
}
