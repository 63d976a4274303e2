// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.net.InetSocketAddress;

/** Is told of a client's connections, one after the other, on a thread of the client: it must not block, and may call the client. */
public interface ConnectionListener {

    /**
     * A connection is there. It is told before anything is answered on it.
     *
     * @param localAddress our end of it
     */
    void onConnected(InetSocketAddress localAddress);

    /**
     * A connection has ended, or could not be made; nothing of it is left, and no memory of a call is open to the server.
     *
     * @param wasConnected whether it was told of by {@link #onConnected}
     * @param detail the cause, for people
     */
    void onEnded(boolean wasConnected, String detail);
}
