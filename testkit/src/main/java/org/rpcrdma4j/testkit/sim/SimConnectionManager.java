// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRequestHandler;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.ConnectionManager;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** Connects queue pairs of one network. Addresses are mere names. */
final class SimConnectionManager implements ConnectionManager, Agenda.Actor {

    private final SimulatedDevice device;
    private final SimulatedNetwork network;
    private final List<SimListener> listeners = new ArrayList<>();
    private final ArrayDeque<Runnable> pending = new ArrayDeque<>();

    SimConnectionManager(SimulatedDevice device) {
        this.device = device;
        network = device.network();
    }

    SimulatedNetwork network() {
        return network;
    }

    /** Does it in a step of its own. */
    void later(Runnable step) {
        pending.add(step);
    }

    @Override
    public void offer(Agenda agenda) {
        if (!pending.isEmpty()) {
            agenda.add(ActionKind.CONNECT, this);
        }
    }

    @Override
    public void act(ActionKind kind) {
        pending.remove().run();
    }

    @Override
    public SimulatedDevice device() {
        return device;
    }

    @Override
    public int traceId() {
        return 0;
    }

    @Override
    public ListenEndpoint listen(InetSocketAddress local, int backlog, ConnectRequestHandler handler)
            throws IOException {
        device.requireOpen();
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog " + backlog + " must be at least 1");
        }
        InetSocketAddress address =
                local.getPort() == 0 ? new InetSocketAddress(local.getAddress(), network.nextPort()) : local;
        if (network.listenerAt(address) != null) {
            throw new BindException("address in use: " + address);
        }
        SimListener listener = new SimListener(this, address, backlog, handler);
        listeners.add(listener);
        network.bind(address, listener);
        return listener;
    }

    void remove(SimListener listener) {
        listeners.remove(listener);
        network.unbind(listener.localAddress());
    }

    @Override
    public void connect(
            QueuePair queuePair, InetSocketAddress remote, ConnectOptions options, ConnectionListener listener) {
        device.requireOpen();
        InetSocketAddress local = new InetSocketAddress(device.host(), network.nextPort());
        SimQueuePair client = begin(queuePair, options, listener, local, remote);
        client.connection.refuseAfter(options.timeout().toNanos());
        later(() -> dial(client, remote));
    }

    /** Checks what connect and accept have in common, and marks the queue pair as connecting. */
    SimQueuePair begin(
            QueuePair queuePair,
            ConnectOptions options,
            ConnectionListener listener,
            InetSocketAddress local,
            InetSocketAddress remote) {
        if (!(queuePair instanceof SimQueuePair own) || own.device() != device) {
            throw new IllegalArgumentException("not a queue pair of " + device.name() + ": " + queuePair);
        }
        DeviceAttributes attributes = device.attributes();
        if (options.inboundReads() > attributes.maxInboundReads()
                || options.outboundReads() > attributes.maxOutboundReads()
                || options.privateData().length() > attributes.maxPrivateDataBytes()) {
            throw new IllegalArgumentException("options beyond the limits of the device: " + options);
        }
        if (own.state() != QueuePair.State.IDLE) {
            throw new IllegalStateException("queue pair " + own.number() + " is " + own.state() + ", not IDLE");
        }
        own.connection.begin(options, listener, local, remote);
        return own;
    }

    private void dial(SimQueuePair client, InetSocketAddress remote) {
        FaultPlan.ConnectFault fault = device.options().faults().onConnect();
        if (client.state() != QueuePair.State.CONNECTING || fault == FaultPlan.ConnectFault.SILENCE) {
            return;
        }
        SimListener listener = network.listenerAt(remote);
        if (listener == null || fault == FaultPlan.ConnectFault.UNREACHABLE) {
            client.connection.refuse(
                    new ConnectRefusal(ConnectRefusal.Reason.UNREACHABLE, "nobody listens at " + remote));
        } else if (listener.isFull() || fault == FaultPlan.ConnectFault.REJECTED) {
            client.connection.refuse(new ConnectRefusal(ConnectRefusal.Reason.REJECTED, "too many wait at " + remote));
        } else {
            SimConnectRequest request = new SimConnectRequest(listener, client);
            listener.manager.later(() -> present(listener, request));
        }
    }

    private void present(SimListener listener, SimConnectRequest request) {
        if (listener.isOpen() && !request.isAnswered()) {
            device.guarded(() -> listener.handler.onConnectRequest(request));
        }
    }

    void close() {
        List.copyOf(listeners).forEach(SimListener::close);
        // What is still to be said to peers is said; nothing here touches memory.
        while (!pending.isEmpty()) {
            pending.remove().run();
        }
    }
}
