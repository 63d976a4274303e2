// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.iwarp.net.InboundRequest;
import org.rpcrdma4j.iwarp.net.InitiatorSetUp;
import org.rpcrdma4j.iwarp.net.Listener;
import org.rpcrdma4j.iwarp.net.SetUpConfig;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRequestHandler;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.ConnectionManager;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;
import org.rpcrdma4j.verbs.cm.Octets;

/** Listens and connects for the device. Safe for all threads. */
final class SoftConnectionManager implements ConnectionManager {
    /** How long a program may take over an answer. */
    private static final Duration DECISION = Duration.ofSeconds(10);

    private final SoftIwarpDevice device;
    private final Set<Endpoint> endpoints = ConcurrentHashMap.newKeySet();

    SoftConnectionManager(SoftIwarpDevice device) {
        this.device = device;
    }

    private final class Endpoint implements ListenEndpoint {
        private final Listener listener;

        private Endpoint(Listener listener) {
            this.listener = listener;
        }

        @Override
        public InetSocketAddress localAddress() {
            return listener.localAddress();
        }

        @Override
        public void close() {
            endpoints.remove(this);
            listener.close();
        }
    }

    @Override
    public ListenEndpoint listen(InetSocketAddress local, int backlog, ConnectRequestHandler handler)
            throws IOException {
        device.requireOpen();
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog " + backlog + ": must be at least 1");
        }
        int most = device.settings().maxInboundReads();
        Listener listener = Listener.open(
                local,
                Listener.Limits.ofBacklog(backlog),
                device.loops(),
                SetUpConfig.responder(wishes(most, most)).withDecision(DECISION),
                device.events(),
                device.wireLog(),
                request -> onRequest(request, handler));
        Endpoint endpoint = new Endpoint(listener);
        endpoints.add(endpoint);
        try {
            device.requireOpen();
        } catch (IllegalStateException e) {
            // The device was closed meanwhile and may have overlooked the new endpoint.
            endpoint.close();
            throw e;
        }
        return endpoint;
    }

    private void onRequest(InboundRequest request, ConnectRequestHandler handler) {
        SoftConnectRequest wish = new SoftConnectRequest(this, request);
        try {
            handler.onConnectRequest(wish);
        } catch (RuntimeException e) {
            wish.rejectIfOpen();
            throw e;
        }
    }

    private MpaWishes wishes(int ird, int ord) {
        MpaWishes wishes = MpaWishes.of(ird, ord)
                .withCrc(device.settings().crc())
                .withIrdLimit(device.settings().maxInboundReads());
        return device.settings().enhanced() ? wishes : wishes.plain();
    }

    @Override
    public void connect(
            QueuePair queuePair, InetSocketAddress remote, ConnectOptions options, ConnectionListener listener) {
        device.requireOpen();
        requireWithinLimits(options);
        SoftQueuePair ours = ownQueuePair(queuePair);
        MpaWishes wishes =
                wishes(options.inboundReads(), options.outboundReads()).withPeerToPeer(options.peerToPeer());
        SetUpConfig config =
                SetUpConfig.initiator(wishes, options.privateData()).withDeadline(options.timeout());
        StreamHandOver handOver = new StreamHandOver(ours, true, listener);
        ours.beginSetUp(handOver);
        try {
            InitiatorSetUp setUp =
                    InitiatorSetUp.start(ours.loop(), remote, config, device.events(), device.wireLog(), handOver);
            ours.setUpBegun(setUp::cancel);
        } catch (RuntimeException e) {
            ours.fail();
            throw e;
        }
    }

    SoftQueuePair ownQueuePair(QueuePair queuePair) {
        if (queuePair instanceof SoftQueuePair ours && ours.device() == device) {
            return ours;
        }
        throw new IllegalArgumentException("queue pair of another device: " + queuePair);
    }

    void requireWithinLimits(ConnectOptions options) {
        requireFit(options.privateData());
        int most = device.settings().maxInboundReads();
        if (options.inboundReads() > most || options.outboundReads() > most) {
            throw new IllegalArgumentException("reads in " + options.inboundReads() + ", out " + options.outboundReads()
                    + ": at most " + most + " each");
        }
    }

    void requireFit(Octets privateData) {
        int most = device.attributes().maxPrivateDataBytes();
        if (privateData.length() > most) {
            throw new IllegalArgumentException(
                    "private data of " + privateData.length() + " bytes: at most " + most + " fit");
        }
    }

    void close() {
        for (Endpoint endpoint : new ArrayList<>(endpoints)) {
            endpoint.close();
        }
    }
}
