// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.bridge.BridgeEnd.Kind.RDMA;
import static org.rpcrdma4j.bridge.BridgeEnd.Kind.TCP;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.bridge.BridgeEnd.Kind;
import org.rpcrdma4j.tcp.TestPrograms;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.xdr.XdrReader;

class BridgeTest {

    private static final int DEADLINE_SECONDS = 40;

    private static Chain chain(String kinds) throws Exception {
        return chain(kinds, 100);
    }

    private static Chain chain(String kinds, int attempts) throws Exception {
        List<Kind> all = new ArrayList<>();
        for (String kind : kinds.split(">", -1)) {
            all.add(kind.equals("tcp") ? TCP : RDMA);
        }
        return new Chain(attempts, all.toArray(Kind[]::new));
    }

    private static Reply await(Chain chain, CompletableFuture<Reply> pending) throws Exception {
        try {
            return pending.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(chain.describe(), e);
        }
    }

    private static void read(Chain chain, RpcClient client, int count) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(count + 8L);
            CallMessage call = TestPrograms.readCall(client.nextXid(), 5, count)
                    .target(target.asSlice(0, Math.max(1, count)))
                    .build();
            Reply reply = await(chain, client.send(call));
            assertThat(reply.placedBytes()).as("%d", count).isEqualTo(count);
            assertThat(TestPrograms.isFilled(target.asSlice(0, count), 5)).isTrue();
            XdrReader results = TestPrograms.results(reply, call);
            results.skip(16);
            assertThat(results.readInt()).isEqualTo(count);
            assertThat(results.remaining()).isZero();
        }
    }

    private static void write(Chain chain, RpcClient client, int count) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment data = arena.allocate(count + 8L).asSlice(0, count);
            TestPrograms.fill(data, 9);
            CallMessage call = TestPrograms.writeCall(client.nextXid(), 9, data).build();
            XdrReader results = TestPrograms.results(await(chain, client.send(call)), call);
            results.skip(12);
            assertThat(results.readInt()).isEqualTo(count);
            assertThat(chain.programs.writtenRight).isTrue();
        }
    }

    private static void echo(Chain chain, RpcClient client, int count) throws Exception {
        byte[] payload = new byte[count];
        TestPrograms.fill(MemorySegment.ofArray(payload), count);
        CallMessage call = TestPrograms.echoCall(client.nextXid(), payload).build();
        XdrReader results = TestPrograms.results(await(chain, client.send(call)), call);
        assertThat(results.readOpaque(count).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(payload);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp>rdma", "rdma>tcp", "tcp>rdma>tcp", "rdma>tcp>rdma", "tcp>tcp", "rdma>rdma"})
    void anyProgramsCallsComeThroughUnchanged(String kinds) throws Exception {
        try (Chain chain = chain(kinds);
                RpcClient client = chain.client()) {
            for (int count : new int[] {0, 1, 3, 4, 900, 4000, 5001, 300 << 10, (1 << 20) - 200}) {
                echo(chain, client, count);
            }
            for (int count : new int[] {0, 1, 2, 4, 1000, 4095, 65_537, (1 << 20) - 3, 1 << 20}) {
                read(chain, client, count);
                write(chain, client, count);
            }
            CallMessage unknown = TestPrograms.readCall(client.nextXid(), 0, 1).build();
            unknown.head().set(ValueLayout.JAVA_BYTE, 23, (byte) 99);
            Reply reply = await(chain, client.send(unknown));
            assertThatThrownBy(() -> TestPrograms.results(reply, unknown))
                    .isInstanceOf(RpcException.ProcedureUnavailable.class);
            assertThat(chain.bridges.getFirst().counters().get(BridgeCounter.FAILURES))
                    .as(chain.describe())
                    .isZero();
        }
    }

    @Test
    void dataOfNfsTravelsByChunksOnTheRdmaSide() throws Exception {
        int count = (1 << 20) - 1;
        try (Chain chain = chain("tcp>rdma");
                RpcClient client = chain.client()) {
            read(chain, client, count);
            assertThat(chain.rdmaServer.counters().get(ServerCounter.BYTES_WRITTEN))
                    .isEqualTo(count);
            write(chain, client, count);
            assertThat(chain.rdmaServer.counters().get(ServerCounter.BYTES_READ))
                    .isEqualTo(count);
            assertThat(chain.rdmaServer.counters().get(ServerCounter.NOMSG_REPLIES))
                    .isZero();
            assertThat(chain.bridges.getFirst().counters().get(BridgeCounter.RESULTS_PLACED))
                    .isEqualTo(1);
        }
    }

    @Test
    void resultsFromTcpAreReadIntoTheMemoryThatRdmaSendsFrom() throws Exception {
        try (Chain chain = chain("rdma>tcp");
                RpcClient client = chain.client()) {
            read(chain, client, (1 << 20) - 1);
            assertThat(chain.bridges.getFirst().counters().get(BridgeCounter.RESULTS_PLACED))
                    .isEqualTo(1);
            assertThat(chain.bridges.getFirst().counters().get(BridgeCounter.RESULTS_WITHOUT_MEMORY))
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp>rdma", "rdma>tcp", "tcp>rdma>tcp"})
    void manyCallsOfManyConnectionsAreUnderWayAtOnce(String kinds) throws Exception {
        try (Chain chain = chain(kinds)) {
            List<RpcClient> clients = new ArrayList<>();
            List<CompletableFuture<Reply>> pending = new ArrayList<>();
            List<CallMessage> calls = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                clients.add(chain.client());
            }
            try {
                for (int i = 0; i < 64 * clients.size(); i++) {
                    RpcClient client = clients.get(i % clients.size());
                    calls.add(TestPrograms.echoCall(client.nextXid(), new byte[i * 16])
                            .build());
                    pending.add(client.send(calls.getLast()));
                }
                for (int i = 0; i < pending.size(); i++) {
                    assertThat(TestPrograms.results(await(chain, pending.get(i)), calls.get(i))
                                    .readInt())
                            .isEqualTo(i * 16);
                }
                assertThat(chain.bridges.getFirst().counters().get(BridgeCounter.CONNECTIONS))
                        .isEqualTo(clients.size());
            } finally {
                clients.forEach(RpcClient::close);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp>rdma", "rdma>tcp"})
    void callsGoOnWhenTheServerWasKilledAndRestarted(String kinds) throws Exception {
        try (Chain chain = chain(kinds);
                RpcClient client = chain.client()) {
            echo(chain, client, 10);
            for (int round = 0; round < 3; round++) {
                int port = chain.killServer();
                CallMessage call =
                        TestPrograms.echoCall(client.nextXid(), new byte[100]).build();
                CompletableFuture<Reply> pending = client.send(call);
                chain.startServer(port);
                assertThat(TestPrograms.results(await(chain, pending), call).readInt())
                        .isEqualTo(100);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp>rdma", "rdma>tcp"})
    void aServerThatIsGoneForGoodCostsTheClientItsConnection(String kinds) throws Exception {
        try (Chain chain = chain(kinds, 2);
                RpcClient client = chain.client()) {
            echo(chain, client, 10);
            int port = chain.killServer();
            CompletableFuture<Reply> pending = client.send(
                    TestPrograms.echoCall(client.nextXid(), new byte[100]).build());
            Bridge bridge = chain.bridges.getFirst();
            Waits.until(() -> bridge.counters().get(BridgeCounter.CONNECTIONS_DROPPED) > 0, chain::describe);
            Waits.until(() -> bridge.counters().get(BridgeCounter.CONNECTIONS) > 1, chain::describe);
            chain.startServer(port);
            assertThat(await(chain, pending).transmissions()).isGreaterThan(1);
        }
    }

    @Test
    void aRetransmissionOfACallThatIsUnderWayIsNotSentOn() throws Exception {
        try (Chain chain = chain("tcp>rdma");
                SocketChannel raw = SocketChannel.open(chain.bridges.getFirst().localAddress())) {
            byte[] call = TestPrograms.waitCall(7).build().head().toArray(ValueLayout.JAVA_BYTE);
            ByteBuffer twice = ByteBuffer.allocate(2 * (call.length + 4));
            for (int i = 0; i < 2; i++) {
                twice.putInt(0x8000_0000 | call.length).put(call);
            }
            raw.write(twice.flip());
            Bridge bridge = chain.bridges.getFirst();
            Waits.until(() -> bridge.counters().get(BridgeCounter.DUPLICATES) == 1, chain::describe);
            chain.programs.gate.countDown();
            ByteBuffer reply = ByteBuffer.allocate(28);
            while (reply.hasRemaining() && raw.read(reply) > 0) {
                // Until it is whole.
            }
            assertThat(reply.getInt(4)).isEqualTo(7);
            assertThat(chain.programs.executed).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp>rdma", "rdma>tcp"})
    void whatWasTakenIsAnsweredBeforeTheBridgeEnds(String kinds) throws Exception {
        try (Chain chain = chain(kinds);
                RpcClient client = chain.client()) {
            CompletableFuture<Reply> pending =
                    client.send(TestPrograms.waitCall(client.nextXid()).build());
            Waits.until(() -> chain.programs.waiting.get() == 1, chain::describe);
            CompletableFuture<Void> end = chain.bridges.getFirst().shutdown(Duration.ofSeconds(DEADLINE_SECONDS));
            chain.programs.gate.countDown();
            assertThat(await(chain, pending).transmissions()).isEqualTo(1);
            end.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            assertThat(chain.bridges.getFirst().connections()).isZero();
        }
    }

    @Test
    void aBridgeNeedsTwoEndsAndADeviceForRdma() {
        assertThatThrownBy(() ->
                        Bridge.builder().from(BridgeEnd.tcp(Chain.loopback(0))).start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("two ends");
        assertThatThrownBy(() -> Bridge.builder()
                        .from(BridgeEnd.tcp(Chain.loopback(0)))
                        .to(BridgeEnd.rdma(Chain.loopback(1)))
                        .start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("device");
    }
}
