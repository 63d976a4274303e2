// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;

/**
 * The reply that a call will have. Whoever sees it complete may use the call's memory, so nobody but the client completes it: what would do
 * so from outside gives the call up instead. A {@link #copy} is free of that.
 */
final class TcpPendingReply extends CompletableFuture<Reply> {

    private final Consumer<TcpCall> giveUp;
    private volatile @Nullable TcpCall call;

    TcpPendingReply(Consumer<TcpCall> giveUp) {
        this.giveUp = giveUp;
    }

    /** Before anybody else sees it. */
    void bind(TcpCall newCall) {
        call = newCall;
    }

    void succeed(Reply reply) {
        super.complete(reply);
    }

    void fail(TransportException failure) {
        if (failure.kind() == TransportException.Kind.CANCELLED) {
            super.cancel(false);
        } else {
            super.completeExceptionally(failure);
        }
    }

    /** Gives the call up: this completes when its memory is the caller's again, or with the reply if that was faster. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return cancelCall();
    }

    @Override
    public boolean completeExceptionally(Throwable from) {
        return cancelCall();
    }

    private boolean cancelCall() {
        TcpCall bound = call;
        if (isDone() || bound == null) {
            return false;
        }
        giveUp.accept(bound);
        return true;
    }

    @Override
    public boolean complete(Reply value) {
        throw notFromOutside();
    }

    @Override
    public CompletableFuture<Reply> completeAsync(Supplier<? extends Reply> supplier, Executor executor) {
        throw notFromOutside();
    }

    @Override
    public CompletableFuture<Reply> completeOnTimeout(Reply value, long timeout, TimeUnit unit) {
        throw notFromOutside();
    }

    @Override
    public void obtrudeValue(Reply value) {
        throw notFromOutside();
    }

    @Override
    public void obtrudeException(Throwable from) {
        throw notFromOutside();
    }

    private static UnsupportedOperationException notFromOutside() {
        return new UnsupportedOperationException(
                "only its call completes a reply, when its memory is the caller's again");
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
