// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * Takes completions from their queue and has each handled inside the monitor. Each batch has a turn of its own, so that what it leaves
 * for afterwards is not put off; what it gives to the outbox is posted together at the end of the turn. May be called by any thread.
 */
final class CompletionPump {

    private static final int BATCH = 32;

    private final Monitor monitor;
    private final CompletionQueue queue;
    private final Outbox outbox;
    private final BooleanSupplier mayPoll;
    private final Consumer<WorkCompletion> handler;
    private final Consumer<Throwable> onFault;
    private final Runnable releaseOutbox;
    private final WorkCompletion[] polled = new WorkCompletion[BATCH];

    /**
     * Not armed.
     *
     * @param mayPoll asked inside the monitor before each batch; the queue is left alone if it says no
     * @param onFault told inside the monitor what the handler threw
     */
    CompletionPump(
            Monitor monitor,
            CompletionQueue queue,
            Outbox outbox,
            BooleanSupplier mayPoll,
            Consumer<WorkCompletion> handler,
            Consumer<Throwable> onFault) {
        this.monitor = monitor;
        this.queue = queue;
        this.outbox = outbox;
        this.mayPoll = mayPoll;
        this.handler = handler;
        this.onFault = onFault;
        releaseOutbox = outbox::release;
        for (int i = 0; i < BATCH; i++) {
            polled[i] = new WorkCompletion();
        }
    }

    /** Handles what is there and has the device call again for what comes later. */
    void pollAndArm() {
        pollAll();
        queue.requestNotify(CompletionQueue.Notify.ANY);
        // ORDER: once more after arming, or what came in between would lie there unseen.
        pollAll();
    }

    /** Handles what is there. */
    void pollAll() {
        while (handleBatch()) {}
    }

    private boolean handleBatch() {
        monitor.enter();
        int count = 0;
        try {
            if (!mayPoll.getAsBoolean()) {
                return false;
            }
            count = queue.poll(polled);
            if (count > 1) {
                outbox.hold();
            }
            for (int i = 0; i < count; i++) {
                handleGuarded(polled[i]);
            }
            return count > 0;
        } finally {
            monitor.leave();
            if (count > 1) {
                // What was left for afterwards is done, so calls have perhaps been answered.
                monitor.run(releaseOutbox);
            }
        }
    }

    private void handleGuarded(WorkCompletion completion) {
        try {
            handler.accept(completion);
        } catch (RuntimeException | Error e) {
            // The others of the batch still have to be handled: each is polled only once.
            onFault.accept(e);
        }
    }
}
