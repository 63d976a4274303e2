// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/**
 * One end of a {@link Link}: a protection domain, a completion queue and a queue pair.
 *
 * <p>Completions go to a sink on the device's thread, one at a time, in order; without a sink the queue is the caller's to poll.
 */
public final class LinkEnd implements ConnectionListener, AutoCloseable {
    /** Places of each queue. */
    public static final int DEPTH = 256;

    private final ProtectionDomain domain;
    private final boolean ownsDomain;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final CompletableFuture<ConnectionInfo> established = new CompletableFuture<>();
    private final CompletableFuture<Disconnect> ended = new CompletableFuture<>();
    private final WorkCompletion[] batch = new WorkCompletion[32];
    private volatile @Nullable Consumer<WorkCompletion> sink;

    /** @param shared the domain to work in; null for one of its own */
    LinkEnd(RdmaDevice device, @Nullable ProtectionDomain shared) {
        domain = shared == null ? device.allocateProtectionDomain() : shared;
        ownsDomain = shared == null;
        completions = device.createCompletionQueue(2 * DEPTH, this::deliver);
        queuePair = domain.createQueuePair(new QueuePairOptions(completions, completions, DEPTH, DEPTH, 4));
        for (int i = 0; i < batch.length; i++) {
            batch[i] = new WorkCompletion();
        }
    }

    /** The domain of the queue pair. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** The queue that both queues of the queue pair report to. */
    public CompletionQueue completions() {
        return completions;
    }

    /** The queue pair. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /** Sends completions to a sink from now on. */
    public void deliverTo(Consumer<WorkCompletion> newSink) {
        sink = newSink;
        completions.requestNotify(CompletionQueue.Notify.ANY);
    }

    private void deliver(CompletionQueue queue) {
        Consumer<WorkCompletion> current = sink;
        if (current == null) {
            return;
        }
        int count;
        do {
            passOn(queue, current);
            queue.requestNotify(CompletionQueue.Notify.ANY);
            // ORDER: looked at once more after arming, for what came in between.
            count = passOn(queue, current);
        } while (count > 0);
    }

    private int passOn(CompletionQueue queue, Consumer<WorkCompletion> current) {
        int total = 0;
        int count;
        while ((count = queue.poll(batch)) > 0) {
            for (int i = 0; i < count; i++) {
                current.accept(batch[i]);
            }
            total += count;
        }
        return total;
    }

    /**
     * Waits for the next completion; for an end without a sink.
     *
     * @throws IllegalStateException if it is no success, or does not come in time
     */
    WorkCompletion next(String what) {
        long begin = System.nanoTime();
        WorkCompletion[] one = {batch[0]};
        while (completions.poll(one) == 0) {
            if (System.nanoTime() - begin > Await.LIMIT.toNanos()) {
                throw new IllegalStateException(what + ": no completion in time, " + queuePair);
            }
            Thread.onSpinWait();
        }
        if (!one[0].isSuccess()) {
            throw new IllegalStateException(what + ": " + one[0]);
        }
        return one[0];
    }

    CompletableFuture<ConnectionInfo> established() {
        return established;
    }

    /** Completes when the connection has ended. */
    public CompletableFuture<Disconnect> ended() {
        return ended;
    }

    @Override
    public void onEstablished(ConnectionInfo info) {
        established.complete(info);
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        established.completeExceptionally(new IllegalStateException(refusal.reason() + ", " + refusal.detail()));
    }

    @Override
    public void onDisconnected(Disconnect disconnect) {
        ended.complete(disconnect);
    }

    @Override
    public void close() {
        queuePair.close();
        completions.close();
        if (ownsDomain) {
            domain.close();
        }
    }
}
