// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.server.RequestHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;

/** The product at both ends of one rig. */
final class ClientServerFixture implements AutoCloseable {

    final Rig rig;
    final RpcRdmaServer server;
    final RpcRdmaClient client;

    ClientServerFixture(Rig rig) {
        this(rig, new BlockProgram(), builder -> builder);
    }

    ClientServerFixture(Rig rig, RequestHandler handler, UnaryOperator<RpcRdmaClient.Builder> settings) {
        this.rig = rig;
        RpcRdmaServer.Builder builder = RpcRdmaServer.builder(rig.serverDevice(), handler)
                .address(rig.listenAddress())
                .options(ServerOptions.DEFAULT)
                .bindings(BlockProgram.BINDINGS)
                .time(rig.time())
                .worker(rig.worker());
        if (rig.isSimulated()) {
            builder.handlerExecutor(rig.worker());
        }
        try {
            server = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        client = settings.apply(RpcRdmaClient.builder(rig.clientDevice(), server.localAddress())
                        .time(rig.time())
                        .worker(rig.worker())
                        .callbacks(rig.worker()))
                .build();
        rig.watch(client::toString);
        rig.watch(server::toString);
    }

    /** A call's head with the given arguments. */
    MemorySegment head(int procedure, int... arguments) {
        return MemorySegment.ofArray(Words.call(client.nextXid(), BlockProgram.PROGRAM, 1, procedure)
                .u32(arguments)
                .toBytes());
    }

    Reply call(CallMessage message) {
        return reply(client.send(message));
    }

    Reply reply(PendingReply pending) {
        rig.await("the call ends", pending::isDone);
        try {
            return pending.get();
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError("no reply; " + rig.describe(), e);
        }
    }

    @Override
    public void close() {
        var closed = client.closeAsync();
        rig.await("the client is closed", closed::isDone);
        var shut = server.shutdown(Duration.ofSeconds(5));
        rig.await("the server is shut down", shut::isDone);
        rig.close();
    }
}
