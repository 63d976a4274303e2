// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** Two endpoints, one connecting to the other. */
final class EndpointPair implements AutoCloseable {

    final Rig rig;
    final TestEnd client;

    private final ListenEndpoint listening;
    private volatile @Nullable TestEnd server;

    private EndpointPair(Rig rig, Consumer<TestEnd> serverSetUp, Consumer<TestEnd> clientSetUp) throws IOException {
        this.rig = rig;
        listening = rig.serverDevice()
                .connectionManager()
                .listen(rig.listenAddress(), 4, request -> accept(request, serverSetUp));
        client = new TestEnd(rig, rig.clientDevice(), "client");
        clientSetUp.accept(client);
    }

    private void accept(ConnectRequest request, Consumer<TestEnd> setUp) {
        TestEnd end = new TestEnd(rig, rig.serverDevice(), "server");
        setUp.accept(end);
        server = end;
        end.accept(request);
    }

    /** Nothing is connected yet. */
    static EndpointPair prepare(Rig rig, Consumer<TestEnd> serverSetUp, Consumer<TestEnd> clientSetUp)
            throws IOException {
        return new EndpointPair(rig, serverSetUp, clientSetUp);
    }

    /** Connected. */
    static EndpointPair connected(Rig rig, Consumer<TestEnd> serverSetUp, Consumer<TestEnd> clientSetUp)
            throws IOException {
        EndpointPair pair = prepare(rig, serverSetUp, clientSetUp);
        pair.connect();
        rig.await("both ends are connected", () -> pair.client.isConnected() && pair.isServerConnected());
        return pair;
    }

    static EndpointPair connected(Rig rig) throws IOException {
        return connected(rig, end -> {}, end -> {});
    }

    void connect() {
        client.connect(listening.localAddress());
    }

    private boolean isServerConnected() {
        TestEnd end = server;
        return end != null && end.isConnected();
    }

    TestEnd server() {
        return Objects.requireNonNull(server, "nobody has connected");
    }

    boolean hasServer() {
        return server != null;
    }

    void awaitClosed() {
        TestEnd end = server;
        rig.await("all ends are closed", () -> client.isClosed() && (end == null || end.isClosed()));
    }

    /** Ends what is left and checks that nothing was out of order. */
    @Override
    public void close() {
        listening.close();
        client.monitor.run(() -> client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "end of the test"));
        TestEnd end = server;
        if (end != null) {
            end.monitor.run(() -> end.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "end of the test"));
        }
        awaitClosed();
        assertThat(client.faults).as("%s", client).isEmpty();
        if (end != null) {
            assertThat(end.faults).as("%s", end).isEmpty();
        }
    }
}
