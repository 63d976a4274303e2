// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.server.ServerOptions;

/** RFC 8166, Section 6.3: client and server of the product with inline thresholds of all kinds. */
class ThresholdsTest {

    /** Lengths around each of the thresholds, and beyond all. */
    private static final int[] LENGTHS = {
        1, 800, 940, 944, 948, 952, 956, 960, 964, 972, 1024, 3984, 4000, 4096, 9000, 262_060, 262_144, 300_001
    };

    /** Sizes of the client and of the server, sending and receiving. */
    @ParameterizedTest
    @CsvSource({
        "SIMULATION, 1024, 1024, 1024, 1024",
        "SIMULATION, 1024, 262144, 262144, 1024",
        "SIMULATION, 262144, 1024, 1024, 262144",
        "SIMULATION, 262144, 262144, 1024, 1024",
        "SIMULATION, 4096, 4096, 4096, 4096",
        "IWARP, 1024, 262144, 262144, 1024",
        "IWARP, 262144, 1024, 1024, 262144"
    })
    void callsOfEveryFormWorkWithAnyThresholds(
            Network network, int clientSends, int clientReceives, int serverSends, int serverReceives) {
        ServerOptions options = ServerOptions.builder()
                .credits(4)
                .sendBytes(serverSends)
                .receiveBytes(serverReceives)
                .build();
        try (Rig rig = network.open();
                Arena arena = Arena.ofShared()) {
            RpcRdmaServer server = server(rig, options);
            RpcRdmaClient client = RpcRdmaClient.builder(rig.clientDevice(), server.localAddress())
                    .maxInFlight(4)
                    .inlineBytes(clientSends, clientReceives)
                    .time(rig.time())
                    .worker(rig.worker())
                    .callbacks(rig.worker())
                    .build();
            rig.watch(client::toString);
            rig.watch(server::toString);
            for (int length : LENGTHS) {
                store(rig, client, arena, length);
                fetch(rig, client, arena, length);
                echo(rig, client, length);
            }
            CompletableFuture<Void> closed = client.closeAsync();
            rig.await("the client is closed", closed::isDone);
            CompletableFuture<Void> shut = server.shutdown(Duration.ofSeconds(5));
            rig.await("the server is shut down", shut::isDone);
        }
    }

    private static RpcRdmaServer server(Rig rig, ServerOptions options) {
        try {
            return RpcRdmaServer.builder(rig.serverDevice(), new BlockProgram())
                    .address(rig.listenAddress())
                    .options(options)
                    .bindings(BlockProgram.BINDINGS)
                    .time(rig.time())
                    .worker(rig.worker())
                    .handlerExecutor(rig.worker())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Words call(RpcRdmaClient client, int procedure) {
        return Words.call(client.nextXid(), BlockProgram.PROGRAM, 1, procedure);
    }

    private static Reply reply(Rig rig, PendingReply pending) {
        rig.await("the call ends", pending::isDone);
        return pending.join();
    }

    private static MemorySegment block(Arena arena, int length) {
        MemorySegment block = arena.allocate(length);
        for (int i = 0; i < length; i++) {
            block.set(ValueLayout.JAVA_BYTE, i, BlockProgram.blockByte(i));
        }
        return block;
    }

    private static void store(Rig rig, RpcRdmaClient client, Arena arena, int length) {
        MemorySegment item = block(arena, length);
        Words head = call(client, BlockProgram.STORE).u32(length);
        Reply stored = reply(
                rig,
                client.send(CallMessage.builder(MemorySegment.ofArray(head.toBytes()))
                        .item(item)
                        .tail(MemorySegment.ofArray(new Words().u32(77).toBytes()))
                        .build()));
        assertThat(stored.message().toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(Words.reply(stored.xid(), 0)
                        .u32(BlockProgram.sumOf(item), 77)
                        .toBytes());
    }

    private static void fetch(Rig rig, RpcRdmaClient client, Arena arena, int length) {
        MemorySegment target = arena.allocate(length);
        Words head = call(client, BlockProgram.FETCH).u32(length);
        Reply fetched = reply(
                rig,
                client.send(CallMessage.builder(MemorySegment.ofArray(head.toBytes()))
                        .target(target)
                        .build()));
        assertThat(fetched.placedBytes()).isEqualTo(length);
        assertThat(target.mismatch(block(arena, length))).isEqualTo(-1);
    }

    private static void echo(Rig rig, RpcRdmaClient client, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = BlockProgram.blockByte(i);
        }
        Words whole = call(client, BlockProgram.ECHO).opaque(bytes);
        Reply echoed = reply(
                rig,
                client.send(CallMessage.builder(MemorySegment.ofArray(whole.toBytes()))
                        .maxReplyBytes(length + 64)
                        .build()));
        assertThat(echoed.message().toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(Words.reply(echoed.xid(), 0).opaque(bytes).toBytes());
    }
}
