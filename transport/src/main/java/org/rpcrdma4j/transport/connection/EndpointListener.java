// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/**
 * Told what happens on one connection: always inside the monitor, in this order:
 *
 * <pre>
 *   (onEstablished (onReceive | onSendQueueCompletion)* onDisconnecting | onRefused | onDisconnecting)
 *       (onReceive | onSendQueueCompletion)* onQueuePairClosed onClosed
 * </pre>
 *
 * <p>The last of the three is an endpoint that was ended before it was connected. Messages come only after {@link #onEstablished}. A
 * listener that throws ends the connection.
 */
public interface EndpointListener {

    /** The connection is there: posts are taken from now on. */
    void onEstablished(ConnectionInfo info);

    /** It did not come about; {@link #onQueuePairClosed} and {@link #onClosed} follow. */
    void onRefused(ConnectRefusal refusal);

    /**
     * A message has come. The buffer belongs to the listener until {@link Endpoint#releaseReceive}.
     *
     * @param buffer number of the buffer, see {@link Endpoint#receiveMemory}
     * @param length bytes received
     * @param withInvalidate whether the message invalidated a region of ours
     * @param invalidatedKey its key
     */
    void onReceive(int buffer, int length, boolean withInvalidate, int invalidatedKey);

    /** A work request of the send queue has ended. The carrier is valid during the call only. */
    void onSendQueueCompletion(WorkCompletion completion);

    /** The connection is ending, whoever ended it: nothing new should be posted. Told once. */
    void onDisconnecting(DisconnectCause cause, String detail);

    /**
     * Both queues are drained, or were given up, and the queue pair is closed: neither peer nor device has any access to memory under it
     * any more. Now regions are closed, and memory can go back to callers. What may wait for the device is left for {@link
     * Monitor#afterwards}: that is done before buffers and domain are given back.
     */
    void onQueuePairClosed();

    /** All of the endpoint is given back. Nothing is told afterwards. */
    void onClosed();
}
