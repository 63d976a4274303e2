// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.util.ArrayList;
import java.util.List;

/**
 * Keeps the memory that results were placed in, so that they can be used without being copied: with a lease, the {@code ByteBuffer} that a
 * result decodes is a view of that memory, until {@link #close}.
 *
 * <pre>{@code
 * try (ReplyLease lease = new ReplyLease()) {
 *     call.call(READ, PlacedArguments.of(arguments).lease(lease), result);
 *     use(result.data());
 * }
 * }</pre>
 *
 * <p>It may serve for several calls, one after the other or at once. Closed before a call has ended, it gives that call's memory back when that
 * is shut to the server, and its results must not be looked at. Any thread may call any method.
 */
public final class ReplyLease implements AutoCloseable {

    private final List<Runnable> held = new ArrayList<>();
    private boolean closed;

    /** A lease on nothing yet. */
    public ReplyLease() {}

    /** Takes memory, which is shut to the server; the task gives it back. */
    void hold(Runnable giveBack) {
        synchronized (held) {
            if (!closed) {
                held.add(giveBack);
                return;
            }
        }
        giveBack.run();
    }

    /** Gives the memory back: views of it that results have must not be used any more. */
    @Override
    public void close() {
        List<Runnable> all;
        synchronized (held) {
            closed = true;
            all = List.copyOf(held);
            held.clear();
        }
        all.forEach(Runnable::run);
    }
}
