// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.rpcrdma4j.verbs.QueuePair;

/**
 * Makes connections between queue pairs. librdmacm: {@code rdma_listen}, {@code rdma_connect}, {@code rdma_accept}, {@code
 * rdma_reject}, {@code rdma_disconnect}.
 */
public interface ConnectionManager {

    /**
     * Listens for peers.
     *
     * @param local address and port; port 0 takes a free one, see {@link ListenEndpoint#localAddress}
     * @param backlog most requests that wait for an answer, at least 1; further ones are rejected. A flood of connections that send no
     *     request is cut off at a higher bound
     * @param handler told of each request
     * @throws IOException if the address cannot be bound
     */
    ListenEndpoint listen(InetSocketAddress local, int backlog, ConnectRequestHandler handler) throws IOException;

    /**
     * Connects an idle queue pair. The listener gets exactly one of {@link ConnectionListener#onEstablished} and {@link
     * ConnectionListener#onRefused}, within the time limit of the options.
     *
     * @throws IllegalStateException if the queue pair is not idle
     * @throws IllegalArgumentException if the options exceed the device's limits
     */
    void connect(QueuePair queuePair, InetSocketAddress remote, ConnectOptions options, ConnectionListener listener);
}
