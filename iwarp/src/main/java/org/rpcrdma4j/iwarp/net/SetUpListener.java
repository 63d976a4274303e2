// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/**
 * Told of one set-up: {@link #onPrepare} at most once, then exactly one of {@link #onEstablished} and {@link #onRefused};
 * the latter also without the former. Called on the loop's thread with no lock held; must not block.
 */
public interface SetUpListener {

    /**
     * The frames agree. A responder has to be ready for FPDUs when this returns, as the first byte of the Reply is written
     * next; an initiator has received the Reply. The channel is not the receiver's yet.
     *
     * @throws RuntimeException to call it off for a local reason: the peer is told, and {@link #onRefused} follows
     */
    default void onPrepare(EstablishedStream stream) {}

    /** The start-up frames are sent and received; the stream belongs to the receiver. */
    void onEstablished(EstablishedStream stream);

    /** The connection did not come about; the socket is closed or about to be. */
    void onRefused(ConnectRefusal refusal);
}
