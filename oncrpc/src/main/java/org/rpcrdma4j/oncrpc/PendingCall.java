// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.nio.channels.CompletionHandler;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;

/**
 * One call of oncrpc4j's as the reply queue has it: stands in for its callback, and tells that of the call's end not before the call's memory is
 * shut to the server.
 *
 * <pre>
 *   REGISTERED --sent--> UNDER WAY --reply, failure, deadline--> memory shut --> callback
 *                            |                                        ^
 *                            +--given up by the caller, disconnect----+
 * </pre>
 *
 * <p>Any thread may call any method. The callback is told once, on the executor.
 */
final class PendingCall implements CompletionHandler<RpcReply, @Nullable RpcTransport> {

    private final int xid;
    private final @Nullable CompletionHandler<RpcReply, RpcTransport> callback;
    private final Executor executor;
    private final long timeoutNanos;
    private final String timeout;
    private final AtomicBoolean told = new AtomicBoolean();
    private volatile @Nullable CompletableFuture<?> underWay;

    PendingCall(
            int xid,
            @Nullable CompletionHandler<RpcReply, RpcTransport> callback,
            Executor executor,
            long timeout,
            @Nullable TimeUnit unit) {
        this.xid = xid;
        this.callback = callback;
        this.executor = executor;
        timeoutNanos = timeout > 0 && unit != null ? Math.max(1, unit.toNanos(timeout)) : 0;
        this.timeout = timeout + " " + unit;
    }

    int xid() {
        return xid;
    }

    /** How long the caller waits; 0 if it did not say. */
    long timeoutNanos() {
        return timeoutNanos;
    }

    /** What a caller gets that has waited for as long as it said. */
    TimeoutException timedOut() {
        return new TimeoutException("did not get a response within " + timeout);
    }

    /** The call is on its way; the future completes when its memory is shut. */
    void sent(CompletableFuture<?> transmission) {
        underWay = transmission;
    }

    /**
     * The caller has given the call up. Returns when the call's memory is shut, or when the limit is over.
     *
     * @return whether the memory is shut
     */
    boolean giveUp(long limitNanos) {
        CompletableFuture<?> transmission = underWay;
        if (transmission == null) {
            return true;
        }
        transmission.cancel(false);
        long end = System.nanoTime() + limitNanos;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    transmission.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    return true;
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException | CancellationException e) {
                    return true;
                } catch (TimeoutException e) {
                    return false;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Tells the callback of the reply; the memory is shut. What the callback throws becomes its failure. */
    @Override
    public void completed(RpcReply reply, @Nullable RpcTransport transport) {
        CompletionHandler<RpcReply, RpcTransport> handler = callback;
        if (handler == null || !told.compareAndSet(false, true)) {
            return;
        }
        try {
            handler.completed(reply, transport);
        } catch (RuntimeException | Error e) {
            // A result that cannot be decoded, for example: whoever waits for it must not wait for ever.
            handler.failed(e, transport);
        }
    }

    /** Tells the callback of a failure, when the memory is shut; gives the call up for that if need be. */
    @Override
    public void failed(Throwable failure, @Nullable RpcTransport transport) {
        CompletionHandler<RpcReply, RpcTransport> handler = callback;
        if (handler == null || !told.compareAndSet(false, true)) {
            return;
        }
        CompletableFuture<?> transmission = underWay;
        if (transmission == null || transmission.isDone()) {
            handler.failed(failure, transport);
            return;
        }
        transmission.cancel(false);
        // ORDER: the callback may use the call's memory, so it is told only when that is shut.
        var _ = transmission.whenComplete((nothing, end) -> executor.execute(() -> handler.failed(failure, transport)));
    }
}
