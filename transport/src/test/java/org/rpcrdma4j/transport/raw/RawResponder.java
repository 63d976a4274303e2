// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;
import org.rpcrdma4j.verbs.cm.Octets;

/** Listens as a server that makes every byte itself: accepts all, keeps every message, answers as its script says. */
public final class RawResponder implements AutoCloseable {

    private final Rig rig;
    private final ListenEndpoint endpoint;
    private final List<RawConnection> connections = new ArrayList<>();
    private final List<ConnectRequest> requests = new ArrayList<>();
    private BiConsumer<RawConnection, RawMessage> script = (connection, message) -> {};
    private Predicate<ConnectRequest> policy = request -> true;
    private ConnectOptions options = ConnectOptions.DEFAULT;
    private int receives = 128;
    private int receiveBytes = 4096;

    /** Listens on a free port. */
    public RawResponder(Rig rig) {
        this.rig = rig;
        try {
            endpoint = rig.serverDevice().connectionManager().listen(rig.listenAddress(), 10, this::onConnectRequest);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A server that answers NULL well, and nothing else, until it gets another script. */
    public static RawResponder answeringNulls(Rig rig) {
        return new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA).onMessage((connection, call) -> {
            if (RawReplies.procedureOf(call) == Toy.NULL) {
                connection.send(RawReplies.plain(call, ClientUnderTest.CREDITS));
            }
        });
    }

    public InetSocketAddress address() {
        return endpoint.localAddress();
    }

    /** Private data of the answer in hexadecimal; none unless set. */
    public synchronized RawResponder privateData(String hex) {
        options = options.withPrivateData(Octets.of(HexFormat.of().parseHex(hex.replace(" ", ""))));
        return this;
    }

    public synchronized RawResponder options(ConnectOptions value) {
        options = value;
        return this;
    }

    /** Receives of the connections to come. */
    public synchronized RawResponder receives(int count, int bytes) {
        receives = count;
        receiveBytes = bytes;
        return this;
    }

    /** What is done with each message of every connection. Runs on a thread of the device; may post, must not wait. */
    public synchronized RawResponder onMessage(BiConsumer<RawConnection, RawMessage> newScript) {
        script = newScript;
        return this;
    }

    /** Which requests are accepted; the others stay unanswered, or were rejected by the policy itself. */
    public synchronized RawResponder accepts(Predicate<ConnectRequest> newPolicy) {
        policy = newPolicy;
        return this;
    }

    private synchronized void onConnectRequest(ConnectRequest request) {
        requests.add(request);
        if (!policy.test(request)) {
            return;
        }
        RawConnection connection = new RawConnection(rig.serverDevice(), receives, receiveBytes);
        rig.watch(connection::toString);
        connection.onMessage(message -> run(connection, message));
        connections.add(connection);
        request.accept(connection.queuePair(), options, connection);
    }

    private void run(RawConnection connection, RawMessage message) {
        BiConsumer<RawConnection, RawMessage> now;
        synchronized (this) {
            now = script;
        }
        now.accept(connection, message);
    }

    /** Requests to connect so far. */
    public synchronized List<ConnectRequest> requests() {
        return List.copyOf(requests);
    }

    public synchronized int connectionCount() {
        return connections.size();
    }

    /** The connection with the given number, from 0. */
    public synchronized RawConnection connection(int i) {
        return connections.get(i);
    }

    /** The latest connection. */
    public synchronized RawConnection connection() {
        return connections.getLast();
    }

    /** All messages of all connections. */
    public List<RawMessage> messages() {
        List<RawMessage> all = new ArrayList<>();
        List<RawConnection> now;
        synchronized (this) {
            now = List.copyOf(connections);
        }
        now.forEach(connection -> all.addAll(connection.messages()));
        return all;
    }

    public int messageCount() {
        return messages().size();
    }

    /** Takes no more requests; connections live on. */
    public void stopListening() {
        endpoint.close();
    }

    @Override
    public void close() {
        stopListening();
        List<RawConnection> now;
        synchronized (this) {
            now = List.copyOf(connections);
        }
        now.forEach(RawConnection::close);
    }
}
