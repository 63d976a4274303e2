// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.ulb.Bindings;

/** Makes connections when there are calls, one after the other, and reads each until it ends. One thread, until the client is closed. */
final class ConnectionKeeper implements Runnable {

    private final TcpRequester requester;
    private final TcpClientOptions options;
    private final @Nullable Bindings bindings;

    ConnectionKeeper(TcpRequester requester, TcpClientOptions options, @Nullable Bindings bindings) {
        this.requester = requester;
        this.options = options;
        this.bindings = bindings;
    }

    @Override
    public void run() {
        try {
            while (requester.awaitWork()) {
                keepOne();
            }
        } finally {
            requester.onGone();
        }
    }

    private void keepOne() {
        TcpConnection connection;
        try {
            connection = connect();
        } catch (IOException e) {
            requester.onConnectFailed(e);
            return;
        } catch (RuntimeException e) {
            // A name that has no address, or an address of no use.
            requester.onConnectFailed(new IOException(e.toString(), e));
            return;
        }
        requester.onConnected(connection);
        try {
            connection.serve(requester);
        } finally {
            requester.onLost(connection);
        }
    }

    private TcpConnection connect() throws IOException {
        TcpConnection connection = new TcpConnection(options, bindings);
        boolean made = false;
        try {
            // ORDER: known before it connects, so that closing the client ends the attempt.
            requester.onConnecting(connection);
            connection.connect();
            made = true;
            return connection;
        } finally {
            if (!made) {
                connection.breakOff();
            }
        }
    }
}
