// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import org.rpcrdma4j.iwarp.queue.WorkQueue;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.QueuePairOptions;

/**
 * The places that a queue pair has in its two completion queues, which may be one and the same: reserved before the queue pair exists, given
 * back when it is gone.
 */
record CompletionPlaces(DeviceCompletionQueue sending, DeviceCompletionQueue receiving) {

    /**
     * Reserves both, or none.
     *
     * @throws IllegalArgumentException if a completion queue is another device's or has too few places left
     */
    static CompletionPlaces reserve(QueuePairOptions options) {
        CompletionPlaces places =
                new CompletionPlaces(queueOf(options.sendCompletions()), queueOf(options.receiveCompletions()));
        places.sending.entries().attach(options.sendDepth());
        try {
            places.receiving.entries().attach(options.receiveDepth());
        } catch (RuntimeException e) {
            places.sending.entries().unreserve(options.sendDepth());
            throw e;
        }
        return places;
    }

    private static DeviceCompletionQueue queueOf(CompletionQueue queue) {
        if (queue instanceof DeviceCompletionQueue ours) {
            return ours;
        }
        throw new IllegalArgumentException("completion queue of another device: " + queue);
    }

    /** Gives back what the two work queues had, with the entries that were not polled. */
    void giveBack(WorkQueue sends, WorkQueue receives) {
        sending.entries().detach(sends);
        receiving.entries().detach(receives);
    }
}
