// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.tcp.client.TcpRpcClient;
import org.rpcrdma4j.tcp.rpcbind.RpcbindClient;
import org.rpcrdma4j.tcp.server.TcpRpcServer;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The same programs over TCP, and both transports together. */
class TcpTest {

    @TempDir
    private Path directory;

    private static TcpRpcClient client(NfsServer server) {
        return TcpRpcClient.builder(Objects.requireNonNull(server.tcpAddress()))
                .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                .callTimeout(Duration.ofSeconds(30))
                .build();
    }

    @Test
    void filesAreReadAndWrittenOverTcp() throws IOException {
        byte[] bytes = new byte[1 << 20];
        new Random(1).nextBytes(bytes);
        Files.createFile(directory.resolve("file"));
        try (Export export = Export.open(directory, ServerFixture.OPTIONS);
                NfsServer server =
                        NfsServer.builder(export).tcp(ServerFixture.ANY).start();
                TcpRpcClient client = client(server);
                Arena arena = Arena.ofShared()) {
            Caller caller = new Caller(client, ServerFixture.USER);
            FileHandle file = ServerFixture.lookup(caller, ServerFixture.root(caller), "file");
            MemorySegment data = arena.allocate(bytes.length);
            data.copyFrom(MemorySegment.ofArray(bytes));
            Write.Ok written = (Write.Ok) caller.call(
                    Procedure.WRITE,
                    new Write.Arguments(file, 0, StableHow.UNSTABLE, List.of(data)),
                    Write.Results::read);
            assertThat(written.count()).isEqualTo(bytes.length);
            Commit.Ok committed =
                    (Commit.Ok) caller.call(Procedure.COMMIT, new Commit.Arguments(file, 0, 0), Commit.Results::read);
            assertThat(committed.verifier()).isEqualTo(written.verifier());
            MemorySegment target = arena.allocate(bytes.length);
            Reply reply =
                    Caller.await(caller.sendInto(Procedure.READ, new Read.Arguments(file, 0, bytes.length), target));
            Read.Ok read =
                    (Read.Ok) Caller.results(reply, in -> Read.Results.read(in, reply.placedBytes(), bytes.length));
            assertThat(read.count()).isEqualTo(bytes.length);
            assertThat(read.endOfFile()).isTrue();
            assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
            assertThat(server.rdmaAddress()).isNull();
            assertThat(server.describe()).contains("on TCP");
        }
    }

    @Test
    void aCallThatComesAgainByTheOtherTransportIsAnsweredWithTheSameBytes() throws IOException {
        Files.createFile(directory.resolve("file"));
        RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
        try (Export export = Export.open(directory, ServerFixture.OPTIONS);
                NfsServer server = NfsServer.builder(export)
                        .device(device)
                        .listen(ServerFixture.ANY)
                        .tcp(ServerFixture.ANY)
                        .start();
                TcpRpcClient tcp = client(server);
                RpcRdmaClient rdma = RpcRdmaClient.builder(device, Objects.requireNonNull(server.rdmaAddress()))
                        .build()) {
            Caller byTcp = new Caller(tcp, ServerFixture.USER);
            Caller byRdma = new Caller(rdma, ServerFixture.USER);
            Remove.Arguments remove = new Remove.Arguments(ServerFixture.root(byTcp), FileName.of("file"));
            byte[] first = byTcp.reply(4711, Procedure.REMOVE, remove);
            assertThat(byRdma.reply(4711, Procedure.REMOVE, remove)).isEqualTo(first);
            assertThat(byTcp.reply(4711, Procedure.REMOVE, remove)).isEqualTo(first);
            assertThat(server.calls().get(Procedure.REMOVE)).isEqualTo(1);
            assertThat(server.connections()).isEqualTo(2);
        } finally {
            device.close();
        }
    }

    @Test
    void ifOneAddressIsTakenTheOtherIsGivenBack() throws IOException {
        RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
        try (Export export = Export.open(directory, ServerFixture.OPTIONS);
                NfsServer server =
                        NfsServer.builder(export).tcp(ServerFixture.ANY).start()) {
            InetSocketAddress taken = Objects.requireNonNull(server.tcpAddress());
            assertThatIOException()
                    .isThrownBy(() -> NfsServer.builder(export)
                            .device(device)
                            .listen(ServerFixture.ANY)
                            .tcp(taken)
                            .start())
                    .withMessageContaining("cannot listen on")
                    .withMessageContaining("over TCP")
                    .withMessageContaining("in use");
            assertThat(device.ledger().isBalanced()).isTrue();
        } finally {
            device.close();
        }
    }

    /** Program 100000, version 4 (RFC 1833, Section 2.2.1): SET and UNSET of a mapping. */
    private static final class Rpcbind {
        private final Set<String> mappings = Collections.synchronizedSet(new TreeSet<>());

        private record Mapping(int program, int version, String network, String address) {
            static Mapping read(XdrReader in) throws XdrException {
                Mapping mapping = new Mapping(in.readInt(), in.readInt(), in.readString(100), in.readString(100));
                in.readString(100);
                return mapping;
            }

            String key() {
                return program + "." + version + " " + network;
            }
        }

        ProgramTable table() {
            return new ProgramTable(List.of(RpcProgram.program(100000, "rpcbind")
                    .procedure(4, 1, RpcProcedure.of(Mapping::read, (mapping, request, results) -> {
                        assertThat(mapping.address()).startsWith("127.0.0.1.");
                        results.writeBool(mappings.add(mapping.key()));
                    }))
                    .procedure(4, 2, RpcProcedure.of(Mapping::read, (mapping, request, results) -> {
                        results.writeBool(mappings.remove(mapping.key()));
                    }))
                    .build()));
        }
    }

    @Test
    void theAddressesAreKnownToRpcbindAsLongAsTheServerRuns() throws IOException {
        Rpcbind rpcbind = new Rpcbind();
        RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
        try (Export export = Export.open(directory, ServerFixture.OPTIONS);
                TcpRpcServer registry = TcpRpcServer.builder(rpcbind.table()).start()) {
            RpcbindClient client = new RpcbindClient(registry.localAddress(), Duration.ofSeconds(20));
            try (NfsServer server = NfsServer.builder(export)
                    .device(device)
                    .listen(ServerFixture.ANY)
                    .tcp(ServerFixture.ANY)
                    .options(NfsServerOptions.DEFAULT.withRpcbind(true))
                    .rpcbind(client)
                    .start()) {
                assertThat(rpcbind.mappings).containsExactly("100003.3 rdma", "100003.3 tcp", "100005.3 tcp");
                assertThat(server.connections()).isZero();
            }
            assertThat(rpcbind.mappings).isEmpty();
        } finally {
            device.close();
        }
    }

    @Test
    void withoutRpcbindTheServerIsThereAllTheSame() throws IOException {
        try (Export export = Export.open(directory, ServerFixture.OPTIONS)) {
            InetSocketAddress nobody;
            try (TcpRpcServer gone =
                    TcpRpcServer.builder(new ProgramTable(List.of())).start()) {
                nobody = gone.localAddress();
            }
            try (NfsServer server = NfsServer.builder(export)
                            .tcp(ServerFixture.ANY)
                            .options(NfsServerOptions.DEFAULT.withRpcbind(true))
                            .rpcbind(new RpcbindClient(nobody, Duration.ofSeconds(20)))
                            .start();
                    TcpRpcClient client = client(server)) {
                ServerFixture.root(new Caller(client, ServerFixture.USER));
            }
        }
    }
}
