// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

/**
 * Told what becomes of one connection: either {@link #onRefused}, or {@link #onEstablished} and later exactly one {@link
 * #onDisconnected}. Called on a thread of the device, with no lock held; must not block.
 */
public interface ConnectionListener {

    /** The queue pair is connected. */
    void onEstablished(ConnectionInfo info);

    /** The connection did not come about; the queue pair is in ERROR. */
    void onRefused(ConnectRefusal refusal);

    /** The connection ended, whoever ended it; the queue pair is in ERROR, its work flushed. */
    void onDisconnected(Disconnect disconnect);
}
