// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/**
 * Says in each event which connection it is about. Made once for each connection.
 *
 * @param connectionId the endpoint's number
 * @param generation at a client: 1 for its first connection, 2 after the first reconnect; at a server: how many connections it had
 *     accepted with this one
 * @param side which end we are
 * @param peer the address of the other end, or what is known of it
 */
public record ConnectionLabel(long connectionId, int generation, Side side, String peer) {

    /** Which end of a connection. */
    public enum Side {
        /** The one that connected. */
        CLIENT,
        /** The one that accepted. */
        SERVER
    }

    @Override
    public String toString() {
        return side + " connection " + connectionId + " (generation " + generation + ") with " + peer;
    }
}
