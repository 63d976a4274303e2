// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.verbs.cm.ConnectRequestHandler;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** A listening address and the requests that wait for an answer. */
final class SimListener implements ListenEndpoint {

    final SimConnectionManager manager;
    final ConnectRequestHandler handler;

    private final InetSocketAddress address;
    private final int backlog;
    private final List<SimConnectRequest> waiting = new ArrayList<>();
    private boolean isClosed;

    SimListener(SimConnectionManager manager, InetSocketAddress address, int backlog, ConnectRequestHandler handler) {
        this.manager = manager;
        this.address = address;
        this.backlog = backlog;
        this.handler = handler;
    }

    boolean isFull() {
        return waiting.size() >= backlog;
    }

    boolean isOpen() {
        return !isClosed;
    }

    void add(SimConnectRequest request) {
        waiting.add(request);
    }

    void answered(SimConnectRequest request) {
        waiting.remove(request);
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        manager.remove(this);
        List.copyOf(waiting).forEach(SimConnectRequest::rejectIfOpen);
    }
}
