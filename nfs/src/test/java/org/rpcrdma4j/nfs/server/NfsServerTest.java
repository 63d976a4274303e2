// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;

/** Beginning and end of the server. */
class NfsServerTest {

    @TempDir
    private Path directory;

    @Test
    void anAddressThatIsTakenIsSaidAndLeavesNothing() throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            InetSocketAddress taken = fixture.address();
            assertThatIOException()
                    .isThrownBy(() -> NfsServer.builder(fixture.export)
                            .device(fixture.serverDevice)
                            .listen(taken)
                            .start())
                    .withMessageContaining("cannot listen on")
                    .withMessageContaining(Integer.toString(taken.getPort()))
                    .withMessageContaining("RDMA")
                    .withMessageContaining("in use");
            // The server that has the address is as it was.
            ServerFixture.root(fixture.caller());
        }
    }

    @Test
    void aServerNeedsSomewhereToListen() throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> NfsServer.builder(fixture.export).start())
                    .withMessageContaining("no address");
            assertThatIllegalStateException()
                    .isThrownBy(() -> NfsServer.builder(fixture.export)
                            .listen(ServerFixture.ANY)
                            .start())
                    .withMessageContaining("no device");
        }
    }

    @Test
    void manyClientsThatComeInOneMomentAreAllAccepted() throws Exception {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            List<CompletableFuture<Reply>> first = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                first.add(fixture.callerThatTriesOnce().sendAsync(Procedure.NULL, _ -> {}));
            }
            for (CompletableFuture<Reply> reply : first) {
                assertThat(reply).as(fixture.toString()).succeedsWithin(Duration.ofSeconds(60));
            }
        }
    }

    @Test
    void whatWasAcceptedIsAnsweredBeforeTheEnd() throws Exception {
        Files.createFile(directory.resolve("file"));
        try (ServerFixture fixture = new ServerFixture(directory);
                Arena arena = Arena.ofShared()) {
            Caller caller = fixture.caller();
            FileHandle file = ServerFixture.lookup(caller, ServerFixture.root(caller), "file");
            MemorySegment data = arena.allocate(300_000);
            List<CompletableFuture<Reply>> writes = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                writes.add(caller.sendAsync(
                        Procedure.WRITE, new Write.Arguments(file, i * 300_000L, StableHow.FILE_SYNC, List.of(data))));
            }
            Caller.await(CompletableFuture.anyOf(writes.toArray(CompletableFuture[]::new))
                    .thenApply(Reply.class::cast));
            CompletableFuture<Void> end = fixture.server.shutdown(Duration.ofSeconds(30));
            assertThat(fixture.server.shutdown(Duration.ofSeconds(30))).isSameAs(end);
            end.get(60, TimeUnit.SECONDS);
            assertThat(fixture.server.connections()).isZero();
            long answered = writes.stream()
                    .filter(write -> write.isDone() && !write.isCompletedExceptionally())
                    .count();
            // Each is in the file whose answer was sent; others were not begun, and the client still tries.
            assertThat(Files.size(directory.resolve("file"))).isGreaterThanOrEqualTo(300_000);
            assertThat(fixture.server.counters().get(NfsServerCounter.WRITTEN_BYTES))
                    .isGreaterThanOrEqualTo(answered * 300_000);
            caller.client.close();
            for (CompletableFuture<Reply> write : writes) {
                if (!write.isDone() || write.isCompletedExceptionally()) {
                    assertThatExceptionOfType(java.util.concurrent.ExecutionException.class)
                            .isThrownBy(() -> write.get(60, TimeUnit.SECONDS))
                            .withCauseInstanceOf(TransportException.class);
                }
            }
        }
    }

    @Test
    void itSaysInOneLineWhereItIsAndWhatItDoes() throws IOException {
        Files.writeString(directory.resolve("file"), "some text");
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            caller.call(Procedure.GETATTR, new GetAttr.Arguments(root), GetAttr.Results::read);
            assertThat(fixture.server.describe())
                    .contains("NFS server of / on RDMA")
                    .contains(Integer.toString(fixture.address().getPort()))
                    .contains("1 connections, 1 calls")
                    .doesNotContain("\n");
            assertThat(fixture.server.tcpAddress()).isNull();
            assertThat(fixture.server.calls().get(Procedure.GETATTR)).isEqualTo(1);
        }
    }
}
