// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The reply that a call will have: completes with the {@link Reply} or with a {@link TransportException}, once, and not before the call's
 * memory is shut to the server.
 *
 * <p>It completes on a thread of the client, so dependents must not block; use the {@code Async} methods for more.
 *
 * <p>Nobody else can complete it, since whoever sees it complete may use the memory: a failure from outside, such as that of {@link
 * #orTimeout}, gives the call up, as {@link #cancel} does, and a value from outside is not taken. A {@link #copy} is free of that.
 */
public final class PendingReply extends CompletableFuture<Reply> {

    private final Requester requester;
    private @Nullable ClientCall call;

    PendingReply(Requester requester) {
        this.requester = requester;
    }

    /** Bound to its call inside the monitor, and unbound when that ends. */
    void bind(@Nullable ClientCall newCall) {
        call = newCall;
    }

    @Nullable
    ClientCall boundCall() {
        return call;
    }

    /** By {@link CallEnd} only, outside the monitor. */
    void succeed(Reply reply) {
        super.complete(reply);
    }

    /** By {@link CallEnd} only, outside the monitor. */
    void fail(TransportException failure) {
        if (failure.kind() == TransportException.Kind.CANCELLED) {
            super.cancel(false);
        } else {
            super.completeExceptionally(failure);
        }
    }

    /**
     * Gives the call up. The future does not complete by this at once, as others do: it completes, with a {@link
     * java.util.concurrent.CancellationException}, when the call's memory is shut to the server, or with the reply if that was faster.
     *
     * @param mayInterruptIfRunning makes no difference
     * @return whether the call was still under way
     */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return requester.cancel(this);
    }

    /** As {@link #cancel}: ends the call, with a {@link java.util.concurrent.CancellationException} and not with this one. */
    @Override
    public boolean completeExceptionally(Throwable from) {
        return requester.cancel(this);
    }

    /**
     * Not possible.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public boolean complete(Reply value) {
        throw notFromOutside();
    }

    /**
     * Not possible.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public CompletableFuture<Reply> completeAsync(Supplier<? extends Reply> supplier, Executor executor) {
        throw notFromOutside();
    }

    /**
     * Not possible.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public CompletableFuture<Reply> completeOnTimeout(Reply value, long timeout, TimeUnit unit) {
        throw notFromOutside();
    }

    /**
     * Not possible.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public void obtrudeValue(Reply value) {
        throw notFromOutside();
    }

    /**
     * Not possible.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public void obtrudeException(Throwable from) {
        throw notFromOutside();
    }

    private static UnsupportedOperationException notFromOutside() {
        return new UnsupportedOperationException("only its call completes a reply, when its memory is shut");
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
