// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.xdr.XdrException;

/**
 * One call of NFS until its answer: sent again, under a new XID, while the server says NFS3ERR_JUKEBOX. Completes when the call's memory is
 * the caller's again, also when it is given up.
 */
final class NfsCall<R extends NfsResults> extends CompletableFuture<NfsReply<R>> {

    private static final long FIRST_DELAY_MILLIS = 20;
    private static final long LONGEST_DELAY_MILLIS = 5_000;

    private final RpcClient rpc;
    private final Supplier<CallMessage> messages;
    private final ProgramCall.Decoder<R> decoder;
    private final long busyMillis;

    /** The call that is under way, or whose answer is being read; null between two. */
    private @Nullable CompletableFuture<Reply> pending;

    private boolean givenUp;
    private int transmissions;
    private long waitedMillis;
    private long delayMillis = FIRST_DELAY_MILLIS;

    NfsCall(RpcClient rpc, Supplier<CallMessage> messages, ProgramCall.Decoder<R> decoder, long busyMillis) {
        this.rpc = rpc;
        this.messages = messages;
        this.decoder = decoder;
        this.busyMillis = busyMillis;
    }

    void start() {
        CompletableFuture<Reply> sent;
        CallMessage message;
        try {
            synchronized (this) {
                if (givenUp) {
                    return;
                }
                message = messages.get();
                sent = rpc.send(message);
                pending = sent;
            }
        } catch (RuntimeException e) {
            super.completeExceptionally(e);
            return;
        }
        int xid = message.xid();
        var _ = sent.whenComplete((reply, failure) -> ended(reply, failure, xid));
    }

    private void ended(@Nullable Reply reply, @Nullable Throwable failure, int xid) {
        // ORDER: the call stays under way until its answer was read: data in the message is copied to the caller's
        // memory.
        if (reply == null) {
            super.completeExceptionally(
                    failure instanceof CompletionException wrapped && wrapped.getCause() != null
                            ? wrapped.getCause()
                            : failure == null ? new CancellationException() : failure);
            return;
        }
        R results;
        try {
            results = ProgramCall.results(reply, xid, decoder);
        } catch (RpcException | XdrException | RuntimeException e) {
            super.completeExceptionally(e);
            return;
        }
        // A call that was done and answered JUKEBOX when it was sent again, by a server that was restarted, counts on.
        transmissions = transmissions == 0 ? reply.transmissions() : transmissions + reply.transmissions() - 1;
        if (results.status() == Status.JUKEBOX && waitedMillis < busyMillis) {
            sendLater();
        } else {
            super.complete(new NfsReply<>(results, transmissions));
        }
    }

    /** RFC 1813, Section 2.6: NFS3ERR_JUKEBOX asks for another try, later and with a new XID. */
    private void sendLater() {
        long delay = Math.min(delayMillis, Math.max(1, busyMillis - waitedMillis));
        waitedMillis += delay;
        delayMillis = Math.min(LONGEST_DELAY_MILLIS, 2 * delayMillis);
        boolean isOver;
        synchronized (this) {
            pending = null;
            isOver = givenUp;
        }
        if (isOver) {
            super.completeExceptionally(new CancellationException());
        } else {
            delayedExecutor(delay, TimeUnit.MILLISECONDS).execute(this::start);
        }
    }

    /** Gives the call up; it completes when its memory is the caller's again. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        CompletableFuture<Reply> sent;
        synchronized (this) {
            givenUp = true;
            sent = pending;
        }
        // ORDER: what is under way ends first; only then is the memory the caller's.
        return sent == null
                ? super.completeExceptionally(new CancellationException())
                : sent.cancel(mayInterruptIfRunning);
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
