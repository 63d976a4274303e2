// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/**
 * Where the transport says what happens on a connection, at either end, for the flight recorder; what concerns calls and regions of a
 * client is in {@link ClientEvents}, what concerns requests of a server in {@link ServerEvents}.
 *
 * <p>Each method is called at the change itself, inside the connection's monitor or not. If its event is off it does nothing: it
 * allocates nothing and looks at nothing but whether the event is on, so callers pass what they have at hand and build no strings for
 * it. All events have the connection's number, its generation, the side and the peer's address. The posts and completions of work
 * requests have the work request's id: pairs of connection and id join them.
 *
 * <p>Events are in the category {@code RPC/RDMA}, their names begin with {@code rpcrdma.}, and they are off by default. To switch one
 * on: {@code -XX:StartFlightRecording:+rpcrdma.Completion#enabled=true}, the same argument with {@code jcmd PID JFR.start}, or the
 * settings file {@code docs/rpcrdma.jfc}, which has all of them.
 */
public final class TransportEvents {

    private TransportEvents() {}

    /** An attempt to connect has ended: well, or with the refusal that {@code outcome} tells. */
    public static void connectEnded(ConnectionLabel connection, long tookNanos, boolean established, String outcome) {
        if (ConnectionEvents.Connect.PROBE.isEnabled()) {
            ConnectionEvents.Connect event = new ConnectionEvents.Connect();
            event.label(connection);
            event.took = tookNanos;
            event.established = established;
            event.outcome = outcome;
            event.commit();
        }
    }

    /**
     * A connection is there.
     *
     * @param peerSend how long the peer's messages can be, as it said
     * @param peerReceive how long ours can be, as it said
     * @param remoteInvalidation whether the peer may invalidate regions with its Sends, or lets us do so
     */
    public static void connectionEstablished(
            ConnectionLabel connection,
            ConnectionInfo info,
            int inlineSend,
            int inlineReceive,
            int peerSend,
            int peerReceive,
            int credits,
            boolean remoteInvalidation) {
        if (ConnectionEvents.ConnectionEstablished.PROBE.isEnabled()) {
            ConnectionEvents.ConnectionEstablished event = new ConnectionEvents.ConnectionEstablished();
            event.label(connection);
            event.inlineSend = inlineSend;
            event.inlineReceive = inlineReceive;
            event.peerSend = peerSend;
            event.peerReceive = peerReceive;
            event.credits = credits;
            event.remoteInvalidation = remoteInvalidation;
            event.localAddress = info.localAddress().toString();
            event.details = info.details();
            event.commit();
        }
    }

    /** A connection is ending. */
    public static void disconnect(ConnectionLabel connection, Enum<?> cause, String detail) {
        if (ConnectionEvents.Disconnect.PROBE.isEnabled()) {
            ConnectionEvents.Disconnect event = new ConnectionEvents.Disconnect();
            event.label(connection);
            event.cause = cause.name();
            event.detail = detail;
            event.commit();
        }
    }

    /**
     * A new attempt to connect will be made. The label is that of the connection that ended last.
     *
     * @param attempt 1 for the first since a connection was of use
     */
    public static void reconnectScheduled(ConnectionLabel connection, long delayNanos, int attempt) {
        if (ConnectionEvents.ReconnectScheduled.PROBE.isEnabled()) {
            ConnectionEvents.ReconnectScheduled event = new ConnectionEvents.ReconnectScheduled();
            event.label(connection);
            event.delay = delayNanos;
            event.attempt = attempt;
            event.commit();
        }
    }

    /**
     * A message of the reverse direction.
     *
     * @param kind {@code SETUP}, {@code CALL}, {@code REPLY}
     */
    public static void backchannel(ConnectionLabel connection, String kind, int xid) {
        if (ConnectionEvents.Backchannel.PROBE.isEnabled()) {
            ConnectionEvents.Backchannel event = new ConnectionEvents.Backchannel();
            event.label(connection);
            event.kind = kind;
            event.xid = Integer.toUnsignedLong(xid);
            event.commit();
        }
    }

    /**
     * A Send is handed to the send queue.
     *
     * @param invalidatedKey the key that the peer's device shall invalidate, or 0
     */
    public static void postSend(
            ConnectionLabel connection,
            long wrId,
            int xid,
            int sges,
            long length,
            boolean signaled,
            int invalidatedKey) {
        if (QueueEvents.PostSend.PROBE.isEnabled()) {
            QueueEvents.PostSend event = new QueueEvents.PostSend();
            event.label(connection);
            event.wrId = wrId;
            event.xid = Integer.toUnsignedLong(xid);
            event.sges = sges;
            event.length = length;
            event.signaled = signaled;
            event.invalidatedKey = Integer.toUnsignedLong(invalidatedKey);
            event.commit();
        }
    }

    /**
     * A chain of RDMA Reads or Writes is handed to the send queue.
     *
     * @param wrId that of the last one
     * @param kind {@code READ}, {@code WRITE} for the Write list, {@code REPLY} for the Reply chunk
     */
    public static void postRdma(
            ConnectionLabel connection, long wrId, int xid, ChunkList kind, int requests, long length) {
        if (QueueEvents.PostRdma.PROBE.isEnabled()) {
            QueueEvents.PostRdma event = new QueueEvents.PostRdma();
            event.label(connection);
            event.wrId = wrId;
            event.xid = Integer.toUnsignedLong(xid);
            event.kind = kind.name();
            event.requests = requests;
            event.length = length;
            event.commit();
        }
    }

    /**
     * The queue pair refused work requests.
     *
     * @param wrId that of the first one refused
     */
    public static void postError(ConnectionLabel connection, long wrId, PostResult.Refused refused) {
        if (QueueEvents.PostError.PROBE.isEnabled()) {
            QueueEvents.PostError event = new QueueEvents.PostError();
            event.label(connection);
            event.wrId = wrId;
            event.reason = refused.reason().name();
            event.detail = refused.detail();
            event.commit();
        }
    }

    /**
     * A work request has ended.
     *
     * @param sincePostNanos since it was posted, or 0 if that is not known
     */
    public static void completion(ConnectionLabel connection, WorkCompletion completion, long sincePostNanos) {
        if (completion.isSuccess()) {
            completed(connection, completion, sincePostNanos);
        } else if (QueueEvents.CompletionError.PROBE.isEnabled()) {
            QueueEvents.CompletionError event = new QueueEvents.CompletionError();
            event.label(connection);
            event.wrId = completion.id();
            event.status = completion.status().name();
            event.flushed = completion.status() == WorkCompletion.Status.FLUSHED;
            event.sincePost = sincePostNanos;
            event.commit();
        }
    }

    private static void completed(ConnectionLabel connection, WorkCompletion completion, long sincePostNanos) {
        if (QueueEvents.Completion.PROBE.isEnabled()) {
            QueueEvents.Completion event = new QueueEvents.Completion();
            event.label(connection);
            event.wrId = completion.id();
            event.operation = completion.operation().name();
            event.length = completion.byteLength();
            event.invalidatedKey = Integer.toUnsignedLong(completion.invalidatedKey());
            event.sincePost = sincePostNanos;
            event.commit();
        }
    }

    /** Work requests had to wait for room in the send queue, and are posted now. */
    public static void sendQueueFull(ConnectionLabel connection, int needed, int depth, long waitedNanos) {
        if (QueueEvents.SendQueueFull.PROBE.isEnabled()) {
            QueueEvents.SendQueueFull event = new QueueEvents.SendQueueFull();
            event.label(connection);
            event.needed = needed;
            event.depth = depth;
            event.waited = waitedNanos;
            event.commit();
        }
    }
}
