// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.xdr.XdrException;

/**
 * The way to the server for one connection of a client: a client of its own, so that the server sees one connection for each, with the XIDs
 * as they are, and its reply cache can tell a retransmission from a new call.
 *
 * <p>Any thread may call any method; nothing blocks but {@link #forward}, for memory.
 */
final class Upstream {

    private static final System.Logger LOG = System.getLogger(Upstream.class.getName());

    /** Replies of up to so many bytes come without a chunk, so they need no memory. */
    private static final long SMALL_REPLY = 3072;

    private final RpcClient client;
    private final BridgeOptions options;
    private final Set<Integer> underWay = ConcurrentHashMap.newKeySet();

    Upstream(RpcClient client, BridgeOptions options) {
        this.client = client;
        this.options = options;
    }

    /** Sends a call on; its end comes later. */
    void forward(ForwardedCall call) {
        options.count(BridgeCounter.CALLS);
        switch (CallPlan.of(call.message(), options.bindings())) {
            case CallPlan.Sent plan -> send(call, plan);
            case CallPlan.Answered answer -> {
                options.count(BridgeCounter.ANSWERED_HERE);
                call.replyHeader(answer.header());
            }
            case CallPlan.NoCall other -> call.dropConnection(other.what());
        }
    }

    private void send(ForwardedCall call, CallPlan.Sent plan) {
        CallHeader header = plan.header();
        if (!underWay.add(header.xid())) {
            options.count(BridgeCounter.DUPLICATES);
            call.dropDuplicate();
            return;
        }
        try {
            MemorySegment target = target(call, plan.bound());
            CallMessage message = message(call, plan, target);
            var _ = client.send(message).whenComplete((reply, failure) -> onEnd(call, header, target, reply, failure));
        } catch (XdrException | IllegalArgumentException e) {
            underWay.remove(header.xid());
            LOG.log(Level.DEBUG, () -> header + " can't be forwarded: " + e.getMessage());
            options.count(BridgeCounter.ANSWERED_HERE);
            call.replyHeader(ReplyHeader.of(header.xid(), AcceptStatus.SYSTEM_ERR));
        }
    }

    /** Where the first eligible result goes; null if there can be none, or no memory is left. */
    private @Nullable MemorySegment target(ForwardedCall call, @Nullable ReplyBound bound) {
        if (bound == null || bound.items() == 0 || bound.firstItemBytes() == 0) {
            return null;
        }
        MemorySegment target = allocate(call, Math.min(bound.firstItemBytes(), options.maxPayloadBytes()));
        if (target == null) {
            options.count(BridgeCounter.RESULTS_WITHOUT_MEMORY);
        }
        return target;
    }

    private static @Nullable MemorySegment allocate(ForwardedCall call, long bytes) {
        try {
            return call.allocate(bytes);
        } catch (IllegalStateException | IllegalArgumentException e) {
            return null;
        }
    }

    private CallMessage message(ForwardedCall call, CallPlan.Sent plan, @Nullable MemorySegment target)
            throws XdrException {
        CallMessage.Builder builder = CallMessage.builder(plan.head());
        if (plan.itemBytes() > 0) {
            options.count(BridgeCounter.ARGUMENTS_APART);
            builder.item(plan.item()).tail(plan.tail());
        }
        ReplyBound bound = plan.bound();
        if (bound != null) {
            long most = target == null ? bound.unreducedBytes() : bound.bytesBesideOneChunk();
            long replyBytes = Math.min(most, options.maxPayloadBytes());
            builder.maxReplyBytes(replyBytes);
            MemorySegment buffer =
                    replyBytes > SMALL_REPLY && call.sendsFromAllocated() ? allocate(call, replyBytes) : null;
            if (buffer != null) {
                builder.replyBuffer(buffer);
            }
        }
        if (target != null) {
            builder.target(target);
        }
        return builder.timeout(options.callTimeout()).build();
    }

    private void onEnd(
            ForwardedCall call,
            CallHeader header,
            @Nullable MemorySegment target,
            @Nullable Reply reply,
            @Nullable Throwable failure) {
        // ORDER: before the answer: the client may use the XID again as soon as it has that.
        underWay.remove(header.xid());
        if (reply != null) {
            ReplyPieces pieces = ReplyPlan.of(header, reply, target, options.bindings());
            if (pieces != null) {
                options.count(BridgeCounter.REPLIES);
                if (reply.placedBytes() > 0) {
                    options.count(BridgeCounter.RESULTS_PLACED);
                }
                call.reply(pieces);
                return;
            }
        }
        options.count(BridgeCounter.FAILURES);
        onFailure(call, header, failure);
    }

    private void onFailure(ForwardedCall call, CallHeader header, @Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException wrapped && wrapped.getCause() != null
                ? wrapped.getCause()
                : failure;
        LOG.log(Level.DEBUG, () -> header + " ends without a reply: " + cause);
        boolean isLost = !(cause instanceof TransportException end)
                ? cause != null
                : switch (end.kind()) {
                    // It can't be said what the server did: the client decides, when it has lost its connection.
                    case TIMED_OUT, CANCELLED, CONNECTION_LOST, TOO_MANY_CALLS, CLOSED -> true;
                    case PEER_ERROR_CHUNK, PEER_ERROR_VERSION, BAD_REPLY, REGISTRATION_FAILED, MESSAGE_TOO_LONG ->
                        false;
                };
        if (isLost) {
            options.count(BridgeCounter.CONNECTIONS_DROPPED);
            call.dropConnection("the server can't be reached: " + cause);
        } else {
            call.replyHeader(ReplyHeader.of(header.xid(), AcceptStatus.SYSTEM_ERR));
        }
    }

    /** Ends it in the background: its client waits for a bounded time. */
    void close() {
        Thread.ofVirtual().name("rpcrdma-bridge-close").start(client::close);
    }

    @Override
    public String toString() {
        return underWay.size() + " calls, " + client;
    }
}
