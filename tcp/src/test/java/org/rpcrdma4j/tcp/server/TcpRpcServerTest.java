// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.tcp.TestPrograms;
import org.rpcrdma4j.tcp.client.TcpClientCounter;
import org.rpcrdma4j.tcp.client.TcpRpcClient;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.transport.client.Reply;

class TcpRpcServerTest {

    private final TestPrograms programs = new TestPrograms();

    private static void await(TcpRpcServer server, BooleanSupplier condition) {
        Waits.until(condition, () -> server.describe() + " " + server.counters());
    }

    private static byte[] call(byte[] message) {
        return ByteBuffer.allocate(4 + message.length)
                .putInt(0x8000_0000 | message.length)
                .put(message)
                .array();
    }

    private static byte[] waitCall(int xid) {
        return call(TestPrograms.waitCall(xid).build().head().toArray(ValueLayout.JAVA_BYTE));
    }

    private static int readUntilClosed(SocketChannel raw) {
        ByteBuffer bytes = ByteBuffer.allocate(4096);
        try {
            while (bytes.hasRemaining() && raw.read(bytes) >= 0) {
                // Until it is closed.
            }
        } catch (IOException e) {
            return bytes.position();
        }
        return bytes.position();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x7fff_ffff, -1, 0x8000_0401, 0x0000_0401})
    void aRecordBeyondTheLimitEndsItsConnection(int mark) throws Exception {
        try (TcpRpcServer server = TcpRpcServer.builder(programs.table())
                        .maxRecordBytes(1024)
                        .start();
                SocketChannel raw = SocketChannel.open(server.localAddress())) {
            raw.write(ByteBuffer.allocate(4).putInt(mark).flip());
            assertThat(readUntilClosed(raw)).isZero();
            await(server, () -> server.connections() == 0);
            assertThat(server.counters().get(TcpServerCounter.BAD_RECORDS)).isEqualTo(1);
        }
    }

    @Test
    void whatIsNoCallEndsItsConnection() throws Exception {
        try (TcpRpcServer server = TcpRpcServer.builder(programs.table()).start()) {
            for (byte[] message : new byte[][] {{}, {0, 0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 1}}) {
                try (SocketChannel raw = SocketChannel.open(server.localAddress())) {
                    raw.write(ByteBuffer.wrap(call(message)));
                    assertThat(readUntilClosed(raw)).isZero();
                }
            }
        }
    }

    @Test
    void aConnectionWithItsMostCallsUnansweredIsNotReadAnyMore() throws Exception {
        try (TcpRpcServer server =
                        TcpRpcServer.builder(programs.table()).maxInFlight(3).start();
                SocketChannel raw = SocketChannel.open(server.localAddress())) {
            for (int i = 0; i < 10; i++) {
                raw.write(ByteBuffer.wrap(waitCall(i)));
            }
            await(server, () -> programs.waiting.get() == 3);
            await(server, () -> server.counters().get(TcpServerCounter.READS_HELD) == 1);
            assertThat(programs.waiting).hasValue(3);
            programs.gate.countDown();
            await(server, () -> server.counters().get(TcpServerCounter.REPLIES) == 10);
        }
    }

    @Test
    void connectionsBeyondTheMostAreClosed() throws Exception {
        try (TcpRpcServer server =
                        TcpRpcServer.builder(programs.table()).maxConnections(1).start();
                SocketChannel first = SocketChannel.open(server.localAddress())) {
            await(server, () -> server.connections() == 1);
            try (SocketChannel second = SocketChannel.open(server.localAddress())) {
                assertThat(readUntilClosed(second)).isZero();
            }
            assertThat(server.counters().get(TcpServerCounter.REFUSED_CONNECTS)).isEqualTo(1);
            assertThat(first.isOpen()).isTrue();
        }
    }

    @Test
    void aConnectionWithoutCallsIsEndedAndOneThatStallsInARecordToo() throws Exception {
        try (TcpRpcServer server = TcpRpcServer.builder(programs.table())
                        .idleTimeout(Duration.ofMillis(200))
                        .start();
                SocketChannel raw = SocketChannel.open(server.localAddress())) {
            assertThat(readUntilClosed(raw)).isZero();
            assertThat(server.counters().get(TcpServerCounter.IDLE_DISCONNECTS)).isEqualTo(1);
        }
        try (TcpRpcServer server = TcpRpcServer.builder(programs.table())
                        .stallTimeout(Duration.ofMillis(200))
                        .start();
                SocketChannel raw = SocketChannel.open(server.localAddress())) {
            raw.write(ByteBuffer.allocate(8).putInt(0x8000_0100).putInt(1).flip());
            assertThat(readUntilClosed(raw)).isZero();
            assertThat(server.counters().get(TcpServerCounter.STALLED_DISCONNECTS))
                    .isEqualTo(1);
        }
    }

    @Test
    void shuttingDownAnswersWhatWasTakenAndThenCloses() throws Exception {
        try (TcpRpcServer server = TcpRpcServer.builder(programs.table()).start();
                SocketChannel raw = SocketChannel.open(server.localAddress())) {
            raw.write(ByteBuffer.wrap(waitCall(7)));
            await(server, () -> programs.waiting.get() == 1);
            CompletableFuture<Void> end = server.shutdown(Duration.ofSeconds(30));
            assertThat(end).isNotDone();
            programs.gate.countDown();
            assertThat(readUntilClosed(raw)).isEqualTo(28);
            end.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void whatIsLeftAfterTheGraceIsBrokenOff() throws Exception {
        try (TcpRpcServer server = TcpRpcServer.builder(programs.table()).start();
                SocketChannel raw = SocketChannel.open(server.localAddress())) {
            raw.write(ByteBuffer.wrap(waitCall(7)));
            await(server, () -> programs.waiting.get() == 1);
            server.shutdown(Duration.ofMillis(20)).get(30, TimeUnit.SECONDS);
            assertThat(readUntilClosed(raw)).isZero();
            programs.gate.countDown();
        }
    }

    @Test
    void callsWithoutReplyAreSentAgainToAServerInThePlaceOfTheFirst() throws Exception {
        TcpRpcServer first = TcpRpcServer.builder(programs.table()).start();
        TestPrograms later = new TestPrograms();
        try (TcpRpcClient client = TcpRpcClient.builder(first.localAddress())
                .reconnectDelay(Duration.ofMillis(5), Duration.ofMillis(50))
                .build()) {
            CompletableFuture<Reply> pending =
                    client.send(TestPrograms.waitCall(client.nextXid()).build());
            await(first, () -> programs.waiting.get() == 1);
            first.abort();
            later.gate.countDown();
            try (TcpRpcServer second = TcpRpcServer.builder(later.table())
                    .address(first.localAddress())
                    .start()) {
                assertThat(pending.get(30, TimeUnit.SECONDS).transmissions()).isEqualTo(2);
                assertThat(second.counters().get(TcpServerCounter.RECORDS)).isEqualTo(1);
            }
            assertThat(client.counters().get(TcpClientCounter.RETRANSMISSIONS)).isEqualTo(1);
        } finally {
            programs.gate.countDown();
        }
    }
}
