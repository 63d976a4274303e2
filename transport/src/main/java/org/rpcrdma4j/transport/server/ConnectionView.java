// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.net.InetSocketAddress;
import org.rpcrdma4j.transport.rpc.CallerConnection;

/** What procedures see of a connection. */
final class ConnectionView implements CallerConnection {

    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;
    private volatile boolean ending;

    ConnectionView(InetSocketAddress localAddress, InetSocketAddress remoteAddress) {
        this.localAddress = localAddress;
        this.remoteAddress = remoteAddress;
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public boolean isOpen() {
        return !ending;
    }

    /** It has ended, or is about to. */
    void end() {
        ending = true;
    }
}
