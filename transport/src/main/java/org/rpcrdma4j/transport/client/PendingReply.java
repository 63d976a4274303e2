// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The reply that a call will have: completes with the {@link Reply} or with a {@link TransportException}, once, and not before the call's
 * memory is shut to the server.
 *
 * <p>It completes on a thread of the client, so dependents must not block; use the {@code Async} methods for more.
 */
public final class PendingReply extends CompletableFuture<Reply> {

    private final Requester requester;
    private @Nullable ClientCall call;
    private @Nullable Reply reply;
    private @Nullable TransportException failure;
    private @Nullable Landing landing;

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

    /** The outcome, told by {@link #tell} outside the monitor. */
    void outcome(@Nullable Reply newReply, @Nullable TransportException newFailure, @Nullable Landing newLanding) {
        reply = newReply;
        failure = newFailure;
        landing = newLanding;
        call = null;
    }

    /** Gives the outcome to whoever waits, outside the monitor. */
    void tell() {
        TransportException end = failure;
        Reply answer = reply;
        Landing last = landing;
        if (end == null && answer != null) {
            succeed(answer, last);
        } else if (end != null && end.kind() == TransportException.Kind.CANCELLED) {
            super.cancel(false);
        } else if (end != null) {
            completeExceptionally(end);
        }
    }

    private void succeed(Reply answer, @Nullable Landing last) {
        if (last == null) {
            complete(answer);
            return;
        }
        try {
            complete(last.land(answer));
        } catch (IllegalStateException | IllegalArgumentException | WrongThreadException e) {
            completeExceptionally(new TransportException(
                    TransportException.Kind.REGISTRATION_FAILED,
                    true,
                    "the reply cannot be copied: " + e.getMessage()));
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

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
