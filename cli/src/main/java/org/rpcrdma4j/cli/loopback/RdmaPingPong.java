// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;

/** Round trips of Sends; both ends answer where their completions are delivered, on the device's threads. */
public final class RdmaPingPong implements PingPong {
    private static final int RECEIVES = 4;
    private static final int SIGNAL_EVERY = 64;

    private final Arena arena = Arena.ofShared();
    private final Link link;
    private final Player client;
    private final Player server;
    private long[] nanos = {};
    private int count;
    private long begin;
    private CompletableFuture<@Nullable Void> done = new CompletableFuture<>();

    /** One end: its memory and its requests, used again for every message. */
    private static final class Player {
        private final LinkEnd end;
        private final MemoryRegion region;
        private final SendRequest send;
        private final ReceiveRequest[] receives = new ReceiveRequest[RECEIVES];
        private int sent;

        private Player(LinkEnd end, Arena arena) {
            this.end = end;
            long bytes = (RECEIVES + 1L) * MESSAGE_BYTES;
            region = end.domain().register(arena.allocate(bytes, 64), Access.LOCAL_WRITE);
            send = new SendRequest().sge(region, 0, MESSAGE_BYTES);
            for (int i = 0; i < RECEIVES; i++) {
                receives[i] = new ReceiveRequest().id(i).sge(region, (i + 1L) * MESSAGE_BYTES, MESSAGE_BYTES);
                end.queuePair().postReceive(receives[i]).orThrow();
            }
        }

        private void repost(WorkCompletion completion) {
            end.queuePair().postReceive(receives[(int) completion.id()]).orThrow();
        }

        private void send() {
            sent++;
            end.queuePair().postSend(send.signaled(sent % SIGNAL_EVERY == 0)).orThrow();
        }
    }

    /** Connects. */
    public RdmaPingPong(RdmaDevice device) throws IOException {
        Player[] players = new Player[2];
        link = Link.open(device, end -> players[players[0] == null ? 0 : 1] = new Player(end, arena));
        client = players[0];
        server = players[1];
        link.client().deliverTo(this::onClient);
        link.server().deliverTo(this::onServer);
    }

    @Override
    public void run(long[] into) {
        CompletableFuture<@Nullable Void> end;
        synchronized (this) {
            done = new CompletableFuture<>();
            end = done;
            nanos = into;
            count = 0;
            begin = System.nanoTime();
            client.send();
        }
        Await.result(end, "round trips", () -> count + " of " + into.length);
    }

    private synchronized void onClient(WorkCompletion completion) {
        if (!requireSuccess(completion)) {
            return;
        }
        long now = System.nanoTime();
        nanos[count] = now - begin;
        count++;
        client.repost(completion);
        if (count == nanos.length) {
            done.complete(null);
        } else {
            begin = System.nanoTime();
            client.send();
        }
    }

    private void onServer(WorkCompletion completion) {
        if (requireSuccess(completion)) {
            server.repost(completion);
            server.send();
        }
    }

    /** Whether it is a message that has come. */
    private boolean requireSuccess(WorkCompletion completion) {
        if (!completion.isSuccess()) {
            done.completeExceptionally(new IllegalStateException(completion.toString()));
        }
        return completion.isSuccess() && completion.operation() == Operation.RECEIVE;
    }

    @Override
    public void close() {
        link.client().queuePair().abort();
        link.server().queuePair().abort();
        client.region.close();
        server.region.close();
        link.close();
        arena.close();
    }
}
