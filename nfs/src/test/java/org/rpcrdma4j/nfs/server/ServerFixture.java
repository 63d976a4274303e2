// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** A server of a directory over software iWARP, and as many clients as a test wants. Closing it looks that nothing is left. */
final class ServerFixture implements AutoCloseable {

    static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    /** Whoever runs the tests may do everything: as root without squash; as another user, for whom the export takes everybody. */
    static final Credential USER = new Credential.Sys(0, "test", 0, 0, List.of());

    static final ExportOptions OPTIONS = ExportOptions.DEFAULT.withSquash(Squash.NONE);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    final RdmaDevice serverDevice = RdmaDevices.open("iwarp", Map.of());
    final RdmaDevice clientDevice = RdmaDevices.open("iwarp", Map.of());
    private final List<RpcRdmaClient> clients = new ArrayList<>();
    private final Path directory;
    private final ExportOptions exportOptions;
    private final NfsServerOptions options;
    private final SocketOwners owners;
    Export export;
    NfsServer server;

    ServerFixture(Path directory) throws IOException {
        this(directory, OPTIONS, NfsServerOptions.DEFAULT);
    }

    ServerFixture(Path directory, ExportOptions exportOptions, NfsServerOptions options) throws IOException {
        this(directory, exportOptions, options, ProcNetTcp.ofThisMachine());
    }

    ServerFixture(Path directory, ExportOptions exportOptions, NfsServerOptions options, SocketOwners owners)
            throws IOException {
        this.owners = owners;
        this.directory = directory;
        this.exportOptions = exportOptions;
        this.options = options;
        export = Export.open(directory, exportOptions);
        server = start();
    }

    private NfsServer start() throws IOException {
        return NfsServer.builder(export)
                .device(serverDevice)
                .listen(ANY)
                .options(options)
                .socketOwners(owners)
                .start();
    }

    /** As after a restart of the server's process, but for the port. */
    void restart() throws IOException {
        server.close();
        export.close();
        export = Export.open(directory, exportOptions);
        server = start();
    }

    InetSocketAddress address() {
        return Objects.requireNonNull(server.rdmaAddress());
    }

    Caller caller() {
        return caller(USER, address());
    }

    Caller caller(Credential credential, InetSocketAddress at) {
        return caller(credential, at, 0);
    }

    /** One whose calls fail if it is refused. */
    Caller callerThatTriesOnce() {
        return caller(USER, address(), 1);
    }

    private Caller caller(Credential credential, InetSocketAddress at, int connectAttempts) {
        RpcRdmaClient client = RpcRdmaClient.builder(clientDevice, at)
                .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(20))
                .callTimeout(Duration.ofSeconds(30))
                .connectAttempts(connectAttempts)
                .build();
        clients.add(client);
        return new Caller(client, credential);
    }

    /** The export's root, by MOUNT. */
    static FileHandle root(Caller caller) {
        return ((Mount.Ok) caller.mount(Mount.MNT, PathBytes.of("/"), Mount.Results::read)).directory();
    }

    static FileHandle lookup(Caller caller, FileHandle directory, String name) {
        Lookup.Results found =
                caller.call(Procedure.LOOKUP, new Lookup.Arguments(directory, FileName.of(name)), Lookup.Results::read);
        assertThat(found).as("look-up of %s", name).isInstanceOf(Lookup.Ok.class);
        return ((Lookup.Ok) found).file();
    }

    /** Waits until the condition holds; fails with the state of all if it does not in time. */
    void await(String what, BooleanSupplier condition) {
        Waits.until(PATIENCE, condition, () -> what + System.lineSeparator() + this);
    }

    @Override
    public String toString() {
        return server + ", " + server.counters().snapshot() + ", " + server.replyCache() + ", client's device "
                + clientDevice.ledger() + ", server's " + serverDevice.ledger();
    }

    @Override
    public void close() throws IOException {
        clients.forEach(RpcRdmaClient::close);
        server.close();
        export.close();
        await(
                "all is given back",
                () -> clientDevice.ledger().isBalanced()
                        && serverDevice.ledger().isBalanced());
        clientDevice.close();
        serverDevice.close();
    }
}
