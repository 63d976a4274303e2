// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A fixed number of running loops over which connections are spread. Usable from any thread; owns its loops. */
public final class EventLoopGroup implements AutoCloseable {
    private final List<EventLoop> loops;
    private final AtomicInteger turn = new AtomicInteger();
    private final AtomicInteger setUpTurn = new AtomicInteger();

    /** Starts the loops; they are named by the given name and a number. */
    public EventLoopGroup(String name, int count, int stagingBytes, boolean busyPoll) {
        if (count < 1) {
            throw new IllegalArgumentException("count " + count + ": at least 1 loop is needed");
        }
        List<EventLoop> made = new ArrayList<>(count);
        try {
            for (int i = 0; i < count; i++) {
                made.add(new EventLoop(name + "-" + i, stagingBytes, busyPoll));
            }
        } catch (RuntimeException e) {
            made.forEach(EventLoop::close);
            throw e;
        }
        loops = List.copyOf(made);
        loops.forEach(EventLoop::start);
    }

    /** The loops in turn, for those that stay: queue pairs. */
    public EventLoop next() {
        return loops.get(Math.floorMod(turn.getAndIncrement(), loops.size()));
    }

    /**
     * The loops in turn, for listeners and set-ups. A turn of their own: each connection that is accepted has a set-up too, and with two
     * loops and one turn all queue pairs of a server would share one loop.
     */
    public EventLoop nextForSetUp() {
        return loops.get(Math.floorMod(setUpTurn.getAndIncrement(), loops.size()));
    }

    /** All loops. */
    public List<EventLoop> loops() {
        return loops;
    }

    /** Who is told of errors on any of the loops; see {@link EventLoop#onError}. */
    public void onError(Consumer<Throwable> listener) {
        loops.forEach(loop -> loop.onError(listener));
    }

    /** Ends all loops; see {@link EventLoop#close}. */
    @Override
    public void close() {
        loops.forEach(EventLoop::close);
    }
}
