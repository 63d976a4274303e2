// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.net.InetSocketAddress;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Octets;

/** A request that has arrived at a listener. */
final class SimConnectRequest implements ConnectRequest {

    private static final long ANSWER_NANOS = 30_000_000_000L;

    private final SimListener listener;
    private final SimConnectionManager manager;
    private final SimQueuePair client;
    private final Timers.Timer deadline;
    private boolean isAnswered;

    SimConnectRequest(SimListener listener, SimQueuePair client) {
        this.listener = listener;
        this.client = client;
        manager = listener.manager;
        SimulatedNetwork network = manager.network();
        deadline = network.at(network.nanoTime() + ANSWER_NANOS, this::rejectIfOpen);
        listener.add(this);
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return client.connection.local();
    }

    @Override
    public InetSocketAddress localAddress() {
        return listener.localAddress();
    }

    @Override
    public Octets privateData() {
        return client.connection.options().privateData();
    }

    @Override
    public int peerInboundReads() {
        return client.connection.options().inboundReads();
    }

    @Override
    public int peerOutboundReads() {
        return client.connection.options().outboundReads();
    }

    private void requireUnanswered() {
        if (isAnswered) {
            throw new IllegalStateException("the request of " + remoteAddress() + " was answered already");
        }
    }

    private void answer() {
        isAnswered = true;
        listener.answered(this);
        manager.network().cancel(deadline);
    }

    boolean isAnswered() {
        return isAnswered;
    }

    @Override
    public void accept(QueuePair queuePair, ConnectOptions options, ConnectionListener told) {
        requireUnanswered();
        SimQueuePair server = manager.begin(queuePair, options, told, localAddress(), remoteAddress());
        answer();
        manager.later(() -> join(server, options));
    }

    private void join(SimQueuePair server, ConnectOptions options) {
        if (server.state() != QueuePair.State.CONNECTING) {
            refuseClient(ConnectRefusal.Reason.CLOSED_BY_PEER, Octets.EMPTY);
        } else if (client.state() != QueuePair.State.CONNECTING) {
            server.connection.refuse(new ConnectRefusal(ConnectRefusal.Reason.CLOSED_BY_PEER, "the peer did not wait"));
        } else {
            ConnectOptions answer =
                    options.withReads(options.inboundReads(), Math.min(options.outboundReads(), peerInboundReads()));
            server.connection.join(client);
            client.connection.join(server);
            server.connection.establish(privateData(), peerInboundReads(), peerOutboundReads());
            client.arrive(new Packet.Accept(server, answer));
        }
    }

    @Override
    public void reject(Octets privateData) {
        requireUnanswered();
        if (privateData.length() > manager.device().attributes().maxPrivateDataBytes()) {
            throw new IllegalArgumentException("private data of " + privateData.length() + " bytes; at most "
                    + manager.device().attributes().maxPrivateDataBytes());
        }
        answer();
        manager.later(() -> refuseClient(ConnectRefusal.Reason.REJECTED, privateData));
    }

    void rejectIfOpen() {
        if (!isAnswered) {
            answer();
            manager.later(() -> refuseClient(ConnectRefusal.Reason.REJECTED, Octets.EMPTY));
        }
    }

    private void refuseClient(ConnectRefusal.Reason reason, Octets privateData) {
        client.connection.refuse(new ConnectRefusal(reason, "refused by the peer", privateData, 0, 0));
    }
}
