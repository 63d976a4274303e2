// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.XdrAble;

/**
 * Futures of calls, over any transport, whose dependents are told. Those of {@code RpcCall.call(procedure, arguments, Class)} never tell theirs:
 * only {@code get} works there.
 */
public final class RpcFutures {

    private RpcFutures() {}

    /**
     * Calls.
     *
     * @param result decoded into, when the reply comes
     * @param timeout how long to wait; 0 for as long as the transport does
     * @return completes with the result, on the transport's executor. To cancel it gives nothing up: the call ends with its reply or its timeout
     */
    public static <T extends XdrAble> CompletableFuture<T> call(
            RpcCall call, int procedure, XdrAble arguments, T result, long timeout, TimeUnit unit) {
        CompletableFuture<T> future = new CompletableFuture<>();
        CompletionHandler<RpcReply, RpcTransport> callback = new CompletionHandler<>() {
            @Override
            public void completed(RpcReply reply, RpcTransport transport) {
                try {
                    reply.getReplyResult(result);
                    future.complete(result);
                } catch (IOException | RuntimeException e) {
                    future.completeExceptionally(e);
                }
            }

            @Override
            public void failed(Throwable failure, RpcTransport transport) {
                future.completeExceptionally(failure);
            }
        };
        try {
            call.call(procedure, arguments, callback, timeout, unit);
        } catch (IOException e) {
            future.completeExceptionally(e);
        }
        return future;
    }
}
