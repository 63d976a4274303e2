// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rpcrdma4j.iwarp.mpa.EnhancedSetup;
import org.rpcrdma4j.iwarp.net.InboundRequest;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Octets;

/** A peer's Request as the program sees it. A revision 1 Request states no reads: they are reported as 0, as Linux does. */
final class SoftConnectRequest implements ConnectRequest {
    private final SoftConnectionManager manager;
    private final InboundRequest request;
    private final AtomicBoolean answered = new AtomicBoolean();

    SoftConnectRequest(SoftConnectionManager manager, InboundRequest request) {
        this.manager = manager;
        this.request = request;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return request.remoteAddress();
    }

    @Override
    public InetSocketAddress localAddress() {
        return request.localAddress();
    }

    @Override
    public Octets privateData() {
        return Octets.of(request.frame().privateData());
    }

    @Override
    public int peerInboundReads() {
        EnhancedSetup words = request.frame().enhancedSetup();
        return words == null ? 0 : words.ird();
    }

    @Override
    public int peerOutboundReads() {
        EnhancedSetup words = request.frame().enhancedSetup();
        return words == null ? 0 : words.ord();
    }

    @Override
    public void accept(QueuePair queuePair, ConnectOptions options, ConnectionListener listener) {
        manager.requireWithinLimits(options);
        SoftQueuePair ours = manager.ownQueuePair(queuePair);
        StreamHandOver handOver = new StreamHandOver(ours, false, listener);
        claim();
        try {
            ours.beginSetUp(handOver);
        } catch (IllegalStateException e) {
            answered.set(false);
            throw e;
        }
        try {
            request.accept(
                    options.privateData().toByteArray(), options.inboundReads(), options.outboundReads(), handOver);
        } catch (RuntimeException e) {
            ours.fail();
            throw e;
        }
    }

    @Override
    public void reject(Octets privateData) {
        manager.requireFit(privateData);
        claim();
        request.reject(privateData.toByteArray());
    }

    /** After a handler that threw: nobody else will answer. */
    void rejectIfOpen() {
        if (answered.compareAndSet(false, true)) {
            request.reject(new byte[0]);
        }
    }

    private void claim() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException("the request from " + remoteAddress() + " was answered already");
        }
    }
}
