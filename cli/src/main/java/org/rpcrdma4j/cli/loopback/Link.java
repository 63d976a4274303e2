// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** A connection of a device to itself over loopback: a client's end and a server's end. */
public final class Link implements AutoCloseable {
    /** Either end may send first: the server opens the talk where it offers its memory. */
    private static final ConnectOptions OPTIONS = ConnectOptions.DEFAULT.withPeerToPeer(true);

    private final LinkEnd client;
    private final LinkEnd server;
    private final ConnectionInfo info;

    private Link(LinkEnd client, LinkEnd server, ConnectionInfo info) {
        this.client = client;
        this.server = server;
        this.info = info;
    }

    /**
     * Listens, connects and stops listening.
     *
     * @param prepare posts Receives on both ends before they are connected
     * @throws IllegalStateException if the connection does not come about
     */
    public static Link open(RdmaDevice device, Consumer<LinkEnd> prepare) throws IOException {
        return open(device, null, null, prepare);
    }

    /** The same in domains that exist. */
    public static Link open(
            RdmaDevice device,
            @Nullable ProtectionDomain clientDomain,
            @Nullable ProtectionDomain serverDomain,
            Consumer<LinkEnd> prepare)
            throws IOException {
        LinkEnd client = new LinkEnd(device, clientDomain);
        LinkEnd server = new LinkEnd(device, serverDomain);
        try {
            prepare.accept(client);
            prepare.accept(server);
            return new Link(client, server, connect(device, client, server));
        } catch (RuntimeException | IOException e) {
            client.close();
            server.close();
            throw e;
        }
    }

    private static ConnectionInfo connect(RdmaDevice device, LinkEnd client, LinkEnd server) throws IOException {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ListenEndpoint endpoint = device.connectionManager()
                .listen(anyPort, 1, request -> request.accept(server.queuePair(), OPTIONS, server))) {
            device.connectionManager().connect(client.queuePair(), endpoint.localAddress(), OPTIONS, client);
            Await.result(
                    client.established(),
                    "connect to " + endpoint.localAddress(),
                    () -> client.queuePair().toString());
            return Await.result(
                    server.established(),
                    "accept at " + endpoint.localAddress(),
                    () -> server.queuePair().toString());
        }
    }

    /** The end that connected. */
    public LinkEnd client() {
        return client;
    }

    /** The end that accepted. */
    public LinkEnd server() {
        return server;
    }

    /** What was agreed, as the server sees it. */
    public ConnectionInfo info() {
        return info;
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
