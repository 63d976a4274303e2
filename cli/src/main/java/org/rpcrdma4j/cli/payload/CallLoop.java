// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.payload;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;

/** Keeps as many calls in flight as there are, and looks at each reply. Used by one thread. */
public final class CallLoop {
    private static final long LIMIT_SECONDS = 120;

    private final RpcRdmaClient client;
    private final List<PayloadCall> calls;
    private final PendingReply[] pending;

    /** A loop over calls of one client. */
    public CallLoop(RpcRdmaClient client, List<PayloadCall> calls) {
        this.client = client;
        this.calls = List.copyOf(calls);
        pending = new PendingReply[calls.size()];
    }

    /**
     * Makes so many calls in all, the oldest one waited for first.
     *
     * @throws IllegalStateException if one fails or its reply is wrong
     */
    public void run(long count) {
        int depth = (int) Math.min(calls.size(), count);
        for (int i = 0; i < depth; i++) {
            pending[i] = calls.get(i).send(client);
        }
        for (long done = 0; done < count; done++) {
            int slot = (int) (done % depth);
            PayloadCall call = calls.get(slot);
            call.verify(await(call, pending[slot]));
            if (done + depth < count) {
                pending[slot] = call.send(client);
            }
        }
    }

    private Reply await(PayloadCall call, PendingReply reply) {
        try {
            return reply.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException(call + ": " + e + ", " + client, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(call + ": interrupted", e);
        }
    }
}
