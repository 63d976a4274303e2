// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.tcp.server.TcpRpcServer;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.server.ProgramHandler;
import org.rpcrdma4j.transport.server.RpcRdmaServer;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The client and both transports, with a server in memory behind them. */
@Timeout(120)
class OverTheNetworkTest {

    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final FakeNfs nfs = new FakeNfs();
    private final RdmaDevice device = RdmaDevices.open("iwarp", Map.of());

    /** A server and how to stop it at once. */
    private record Server(InetSocketAddress address, Runnable stop) implements AutoCloseable {
        @Override
        public void close() {
            stop.run();
        }
    }

    private Server start(NfsUrl.Transport transport, ProgramTable table, InetSocketAddress address) throws IOException {
        if (transport == NfsUrl.Transport.TCP) {
            TcpRpcServer server = TcpRpcServer.builder(table).address(address).start();
            return new Server(server.localAddress(), () -> {
                server.abort();
                server.close();
            });
        }
        RpcRdmaServer server = RpcRdmaServer.builder(device, new ProgramHandler(table))
                .address(address)
                .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                .start();
        return new Server(server.localAddress(), server::close);
    }

    private Server start(NfsUrl.Transport transport) throws IOException {
        return start(transport, nfs.table(), ANY_PORT);
    }

    private MountOptions options(NfsUrl.Transport transport) {
        MountOptions options = transport == NfsUrl.Transport.TCP ? MountOptions.overTcp() : MountOptions.over(device);
        return options.withTransferBytes(64 << 10, 64 << 10)
                .withStreams(8, 8, 1 << 20)
                .withTimeouts(Duration.ofSeconds(60), Duration.ofSeconds(30));
    }

    private static NfsUrl url(Server server, String rest) {
        return NfsUrl.parse("nfs://127.0.0.1:" + server.address().getPort() + rest);
    }

    @AfterEach
    void closeDevice() {
        device.close();
    }

    @ParameterizedTest
    @EnumSource(NfsUrl.Transport.class)
    void aFileIsWrittenListedAndReadBack(NfsUrl.Transport transport) throws Exception {
        byte[] data = new byte[1_000_003];
        new Random(1).nextBytes(data);
        nfs.add(nfs.root, "dir", FileType.DIRECTORY);
        try (Server server = start(transport);
                NfsVolume volume = NfsVolume.mount(url(server, "/export/dir/file"), options(transport))) {
            assertThat(volume.export().path()).isEqualTo(NfsPath.parse("export"));
            NfsPath path = volume.pathOf(url(server, "/export/dir/file"));
            NfsFile file = volume.createFile(path, CreateMode.NEW, SetAttributes.NONE.withMode(0640));
            try (NfsWriter writer = volume.openWrite(file)) {
                writer.write(0, ByteBuffer.wrap(data));
            }
            byte[] back = new byte[data.length];
            try (NfsReader reader = volume.openRead(path)) {
                for (NfsBuffer buffer = reader.next(); buffer != null; buffer = reader.next()) {
                    MemorySegment.copy(
                            buffer.memory(), ValueLayout.JAVA_BYTE, 0, back, (int) buffer.offset(), buffer.length());
                    buffer.close();
                }
            }
            assertThat(back).isEqualTo(data);
            try (NfsReader reader = volume.openRead(path);
                    Arena arena = Arena.ofShared()) {
                MemorySegment whole = arena.allocate(data.length + 1000L);
                assertThat(reader.read(0, whole)).isEqualTo(data.length);
                assertThat(whole.asSlice(0, data.length).toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(data);
            }
            try (NfsListing listing = volume.list(NfsPath.parse("dir"))) {
                NfsEntry entry = listing.next();
                assertThat(entry).isNotNull();
                assertThat(entry.name()).isEqualTo(FileName.of("file"));
                assertThat(listing.next()).isNull();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(NfsUrl.Transport.class)
    void aServerThatIsKilledAndStartedAgainLosesNothing(NfsUrl.Transport transport) throws Exception {
        byte[] data = new byte[3_000_000];
        new Random(2).nextBytes(data);
        Server server = start(transport);
        InetSocketAddress address = server.address();
        try (NfsVolume volume = NfsVolume.mount(url(server, "/export"), options(transport))) {
            NfsFile file = volume.createFile(NfsPath.parse("file"), CreateMode.NEW, SetAttributes.NONE);
            try (NfsWriter writer = volume.openWrite(file)) {
                for (int at = 0; at < data.length; at += 100_000) {
                    writer.write(at, ByteBuffer.wrap(data, at, 100_000));
                    if (at == 1_000_000 || at == 2_500_000) {
                        server.close();
                        nfs.crash();
                        server = start(transport, nfs.table(), address);
                    }
                }
            }
            FakeNode node = nfs.root.children.get(FileName.of("file"));
            assertThat(node).isNotNull();
            assertThat(node.durable).isEqualTo(data);
        } finally {
            server.close();
        }
    }

    @ParameterizedTest
    @EnumSource(NfsUrl.Transport.class)
    void aServerThatIsNotThereIsToldAtOnce(NfsUrl.Transport transport) throws Exception {
        NfsUrl url;
        try (Server server = start(transport)) {
            url = url(server, "/export");
        }
        assertThatThrownBy(() -> NfsVolume.mount(url, options(transport)))
                .isInstanceOf(CallFailedException.class)
                .hasMessage("cannot mount " + url.display() + ": cannot reach 127.0.0.1:" + url.portFor(transport)
                        + ": connection refused");
    }

    @Test
    void whatIsNotExportedIsToldWithWhatIs() throws Exception {
        try (Server server = start(NfsUrl.Transport.RDMA)) {
            NfsUrl url = url(server, "/other/x");
            assertThatThrownBy(() -> NfsVolume.mount(url, options(NfsUrl.Transport.RDMA)))
                    .isInstanceOfSatisfying(
                            NfsException.class, e -> assertThat(e.status()).isEqualTo(Status.NOENT))
                    .hasMessage("cannot mount " + url.display() + ": no such export; 127.0.0.1 exports: /export");
        }
    }

    @Test
    void mountIsAskedOverTcpAtTheGivenPort() throws Exception {
        try (Server mountd = start(NfsUrl.Transport.TCP)) {
            nfs.servesMount = false;
            try (Server server = start(NfsUrl.Transport.RDMA)) {
                NfsUrl url = url(server, "/export?mountport=" + mountd.address().getPort());
                try (NfsVolume volume = NfsVolume.mount(url, options(NfsUrl.Transport.RDMA))) {
                    assertThat(volume.attributes(NfsPath.ROOT, true).isDirectory())
                            .isTrue();
                }
            }
        }
    }

    @Test
    void aGivenHandleNeedsNoMount() throws Exception {
        nfs.servesMount = false;
        nfs.addFile(nfs.root, "file", new byte[7]);
        try (Server server = start(NfsUrl.Transport.RDMA)) {
            NfsUrl url = url(server, "/file?fh=" + nfs.root.handle());
            try (NfsVolume volume = NfsVolume.mount(url, options(NfsUrl.Transport.RDMA))) {
                assertThat(volume.attributes(volume.pathOf(url), true).size()).isEqualTo(7);
            }
            assertThat(nfs.count(Procedure.FSINFO)).isEqualTo(1);
        }
    }
}
