// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import org.jspecify.annotations.Nullable;

/**
 * One channel on one loop: its interest and its handler. The handler can be replaced, so that a connection passes from its
 * set-up to its stream without leaving the selector; readiness is a level, so nothing is lost on the way.
 *
 * <p>Threads: {@link #interest} and {@link #cancel} from any thread, {@link #handler} on the loop's thread. Of interests set
 * at the same time by several threads any may be the last; the owner orders them.
 */
public final class Registration {
    private final EventLoop loop;
    private volatile @Nullable SelectionKey key;
    private ReadyHandler handler;

    Registration(EventLoop loop, ReadyHandler handler) {
        this.loop = loop;
        this.handler = handler;
    }

    void bind(SelectionKey newKey) {
        key = newKey;
    }

    /** The loop that serves the channel. */
    public EventLoop loop() {
        return loop;
    }

    /** The channel; owned by whoever registered it. */
    public SelectableChannel channel() {
        return bound().channel();
    }

    /** From now on readiness goes to another handler. Loop thread only. */
    public void handler(ReadyHandler next) {
        assert loop.inEventLoop();
        handler = next;
    }

    ReadyHandler handler() {
        return handler;
    }

    /** Sets what the handler is told of; takes effect at once, from any thread. Without effect once cancelled. */
    public void interest(int ops) {
        SelectionKey bound = bound();
        // A cancelled key may throw; a channel closed by its owner on another thread is no error here.
        try {
            if (bound.interestOps() != ops) {
                bound.interestOps(ops);
                loop.wakeForSelector();
            }
        } catch (CancelledKeyException e) {
            assert !bound.isValid();
        }
    }

    /** What the handler is told of at present; 0 once cancelled. */
    public int interest() {
        SelectionKey bound = bound();
        try {
            return bound.interestOps();
        } catch (CancelledKeyException e) {
            return 0;
        }
    }

    /**
     * Ends the registration; the handler is not called again when this is done on the loop's thread. The channel stays open,
     * but cannot be registered on the same loop before the turn is over.
     */
    public void cancel() {
        bound().cancel();
        loop.wakeForSelector();
    }

    /** Whether the registration still stands. */
    public boolean isValid() {
        return bound().isValid();
    }

    private SelectionKey bound() {
        SelectionKey bound = key;
        if (bound == null) {
            throw new IllegalStateException("not registered yet");
        }
        return bound;
    }
}
