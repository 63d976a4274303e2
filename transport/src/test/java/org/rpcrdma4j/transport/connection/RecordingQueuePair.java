// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;

/** A send queue that only notes what is posted, by whom and how many at a time; and refuses or throws as it is told. */
final class RecordingQueuePair implements QueuePair {

    private final Monitor monitor;
    private final AtomicInteger inside = new AtomicInteger();

    /** Ids in the order of their posts. Written by one thread at a time, if the outbox keeps its word. */
    final List<Long> posted = new ArrayList<>();

    final AtomicInteger posts = new AtomicInteger();
    final AtomicInteger postsAtOneTime = new AtomicInteger();
    final AtomicInteger postsInsideTheMonitor = new AtomicInteger();

    /** Ids that are refused. */
    final List<Long> refused = new ArrayList<>();

    /** Ids whose post throws. */
    final List<Long> throwing = new ArrayList<>();

    RecordingQueuePair(Monitor monitor) {
        this.monitor = monitor;
    }

    @Override
    public PostResult postSend(List<? extends SendQueueRequest> chain) {
        posts.incrementAndGet();
        if (inside.incrementAndGet() != 1) {
            postsAtOneTime.incrementAndGet();
        }
        if (monitor.isHeld()) {
            postsInsideTheMonitor.incrementAndGet();
        }
        try {
            for (int i = 0; i < chain.size(); i++) {
                long id = chain.get(i).id();
                if (throwing.contains(id)) {
                    throw new IllegalStateException("thrown on purpose");
                }
                if (refused.contains(id)) {
                    return new PostResult.Refused(i, PostResult.Reason.QUEUE_FULL, "on purpose");
                }
                posted.add(id);
            }
            return PostResult.posted();
        } finally {
            inside.decrementAndGet();
        }
    }

    @Override
    public PostResult postSend(SendQueueRequest request) {
        return postSend(List.of(request));
    }

    @Override
    public int number() {
        return 1;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        throw new UnsupportedOperationException();
    }

    @Override
    public State state() {
        return State.CONNECTED;
    }

    @Override
    public PostResult postReceive(ReceiveRequest request) {
        throw new UnsupportedOperationException();
    }

    @Override
    public PostResult postReceive(List<ReceiveRequest> chain) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void disconnect() {}

    @Override
    public void abort() {}

    @Override
    public CompletableFuture<Void> drain() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {}
}
