// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A send queue and a receive queue, joined to those of one peer.
 *
 * <p><b>States.</b>
 *
 * <pre>
 *   IDLE --connect/accept--> CONNECTING --> CONNECTED --disconnect--> CLOSING --> ERROR
 *     |                          |              |                                  ^
 *     +--------------------------+--------------+----- failure, peer's end, abort -+
 * </pre>
 *
 * <table>
 * <caption>What may be posted</caption>
 * <tr><th>state</th><th>send queue</th><th>receive queue</th></tr>
 * <tr><td>IDLE, CONNECTING</td><td>refused</td><td>taken: post Receives before connect or accept</td></tr>
 * <tr><td>CONNECTED</td><td>taken</td><td>taken</td></tr>
 * <tr><td>CLOSING</td><td>refused</td><td>refused</td></tr>
 * <tr><td>ERROR</td><td>taken, completes as FLUSHED; refused once drained</td><td>the same</td></tr>
 * </table>
 * ERROR is final; a new connection takes a new queue pair.
 *
 * <p><b>Ownership.</b> A work request object belongs to the caller again as soon as the post returns: the device has copied it.
 * The <i>memory</i> that it names belongs to the device until its completion, or, if it is unsignaled, until the completion of a
 * later one of the same queue.
 *
 * <p><b>Ordering.</b> Every device keeps:
 * <ol>
 * <li><b>O1</b> Work requests of one send queue start in posting order; a registration is in effect before any later Send on the
 *     queue pair is seen by the peer.
 * <li><b>O2</b> A local invalidation is not executed before an earlier registration of the same queue, nor a registration before
 *     an earlier invalidation.
 * <li><b>O3</b> Completions of one queue arrive in posting order, and the completion of a signaled work request implies that of
 *     all earlier ones of that queue.
 * <li><b>O4</b> When the queue pair enters ERROR, every outstanding work request, signaled or not, yields exactly one completion:
 *     the one that failed with its own status, all others as {@link WorkCompletion.Status#FLUSHED}. An unsignaled one that was
 *     executed, with all before it, has ended silently and is not outstanding.
 * <li><b>O5</b> Posting a chain is prefix-atomic: those before the first bad one are posted, it and all later ones are not.
 * <li><b>O6</b> The peer's RDMA Writes are placed before the completion of the Receive that takes a Send posted after them.
 * <li><b>O7</b> When a Receive completes with an invalidated key, that region is INVALID already.
 * <li><b>O8</b> {@link #drain} ends only when every work request was polled; no completion of this queue pair comes afterwards.
 * <li><b>O9</b> When a local invalidation has completed, no access of the peer under the key is running or can succeed: the memory
 *     does not change any more and may be unmapped and handed back.
 * </ol>
 * An RDMA Read is ordered weakly: work requests posted after it may be executed at the peer before the Read is answered, unless
 * they carry a {@linkplain SendQueueRequest#fence() fence}. Completions keep the posting order all the same.
 *
 * <p><b>Depth.</b> A work request takes a place of its queue until its completion was polled; an unsignaled one until that of a
 * later signaled one was. So signal at least one in each {@code sendDepth} requests. (A device may free places earlier.)
 *
 * <p><b>Threads.</b> All methods may be called from any thread, also from handlers. Posting does not wait for the network.
 *
 * <p>libibverbs: {@code ibv_create_qp}, {@code ibv_post_send}, {@code ibv_post_recv}; states INIT, RTR, RTS, SQD, ERR.
 */
public interface QueuePair extends AutoCloseable {

    /** The life of a queue pair. */
    enum State {
        /** Created, not connected. */
        IDLE,
        /** A connect or accept is under way. */
        CONNECTING,
        /** Both queues work. */
        CONNECTED,
        /** A graceful end was asked for: what was posted is still sent. */
        CLOSING,
        /** Final: all work is flushed. */
        ERROR
    }

    /** Identifies the queue pair in completions; unique on its device while it exists. */
    int number();

    /** Its protection domain. */
    ProtectionDomain protectionDomain();

    /** The state at this moment. */
    State state();

    /** Posts one work request to the send queue. */
    PostResult postSend(SendQueueRequest request);

    /** Posts a chain to the send queue, in order, as far as it can (O5). The list is not kept. */
    PostResult postSend(List<? extends SendQueueRequest> chain);

    /** Posts one Receive. */
    PostResult postReceive(ReceiveRequest request);

    /** Posts Receives, in order, as far as it can (O5). The list is not kept. */
    PostResult postReceive(List<ReceiveRequest> chain);

    /**
     * Ends the connection gracefully: what was posted to the send queue is sent, then the peer sees an orderly end, and then
     * the queue pair goes to ERROR and flushes what is left. A peer that is too slow is not waited for without end. Does nothing in
     * CLOSING and ERROR.
     */
    void disconnect();

    /**
     * Takes the queue pair to ERROR at once and flushes. When this returns, the device starts no further access to memory of
     * outstanding work requests; their completions tell when each is free. The connection's listener is told of {@code LOCAL_CLOSE},
     * or of a refusal if a set-up was under way; the peer sees its connection lost, or closed.
     */
    void abort();

    /**
     * Takes the queue pair to ERROR and completes when every completion of both queues was polled, also of what is posted
     * meanwhile; nothing can be posted afterwards. The caller goes on polling. Of a queue pair that is closed it is complete.
     */
    CompletableFuture<Void> drain();

    /**
     * Aborts and destroys. When this returns, no thread of the device touches its memory or calls for it any more: what the
     * connection's listener has still to be told is told on the calling thread, and a call that is under way is waited for, so hold no
     * lock that a listener takes. Completions that were not polled are discarded.
     */
    @Override
    void close();
}
