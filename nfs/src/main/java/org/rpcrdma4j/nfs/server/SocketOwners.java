// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.OptionalInt;

/** Tells who has a TCP connection's end that is on this machine. */
@FunctionalInterface
interface SocketOwners {

    /**
     * The user, unsigned, who made the socket of an established connection.
     *
     * @param local the end that is looked for
     * @param remote the end that it is connected with
     * @return nothing if there is no such socket, or no process has it
     * @throws IOException if that cannot be found out here
     */
    OptionalInt userOf(InetSocketAddress local, InetSocketAddress remote) throws IOException;
}
