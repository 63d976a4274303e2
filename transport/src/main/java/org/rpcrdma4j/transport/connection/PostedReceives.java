// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.ReceiveRequest;

/**
 * The Receives of one connection: keeps as many outstanding as are wanted, as far as there are buffers. A buffer is free, posted, or
 * with the listener. Used inside the monitor.
 */
final class PostedReceives {

    private final QueuePair queuePair;
    private final BufferSlab buffers;
    private final ReceiveRequest request = new ReceiveRequest();
    private int outstanding;
    private int wanted;

    PostedReceives(QueuePair queuePair, BufferSlab buffers) {
        this.queuePair = queuePair;
        this.buffers = buffers;
    }

    /** Sets how many should be outstanding, and posts what is missing. Returns whether so many are. */
    boolean ensure(int newWanted) {
        wanted = newWanted;
        while (outstanding < wanted && post()) {}
        return outstanding >= wanted;
    }

    private boolean post() {
        int buffer = buffers.take();
        if (buffer < 0) {
            return false;
        }
        request.clearSges()
                .id(WorkIds.of(WorkIds.Kind.RECEIVE, 0, buffer))
                .sge(buffers.region(), buffers.offset(buffer), buffers.bufferBytes());
        if (!queuePair.postReceive(request).isPosted()) {
            // The queue pair is ending; the endpoint's listener hears of it.
            buffers.giveBack(buffer);
            return false;
        }
        outstanding++;
        return true;
    }

    /** One has completed: its buffer is the listener's now, or free if nothing came. */
    void completed(int buffer, boolean success) {
        outstanding--;
        if (!success) {
            buffers.giveBack(buffer);
        }
    }

    /** The listener gives a buffer back. */
    void release(int buffer, boolean mayPost) {
        buffers.giveBack(buffer);
        if (mayPost && outstanding < wanted) {
            post();
        }
    }

    int outstanding() {
        return outstanding;
    }
}
