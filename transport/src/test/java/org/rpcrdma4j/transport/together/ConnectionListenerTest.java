// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.client.ConnectionListener;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.client.TransportException;

/** What a client tells of its connections. */
class ConnectionListenerTest {

    private static final class Log implements ConnectionListener {
        final List<String> events = new CopyOnWriteArrayList<>();
        final List<InetSocketAddress> locals = new CopyOnWriteArrayList<>();

        @Override
        public void onConnected(InetSocketAddress localAddress) {
            locals.add(localAddress);
            events.add("connected");
        }

        @Override
        public void onEnded(boolean wasConnected, String detail) {
            events.add("ended " + wasConnected);
        }
    }

    @Test
    void aClientConnectsWithoutACallIfItIsAskedTo() throws TransportException {
        Log log = new Log();
        try (OneServer one = new OneServer()) {
            try (RpcRdmaClient client = one.client().build()) {
                client.connect(log);
                one.await("it is connected", () -> !log.locals.isEmpty());
                assertThat(log.locals.getFirst().getPort()).isPositive();
                client.call(OneServer.nothing(client));
            }
            one.await("its end is told", () -> log.events.size() == 2);
        }
        assertThat(log.events).containsExactly("connected", "ended true");
    }

    @Test
    void anAttemptThatFailsIsToldToo() {
        Log log = new Log();
        try (OneServer one = new OneServer()) {
            RpcRdmaClient.Builder builder = one.client().connectAttempts(1);
            one.server.close();
            try (RpcRdmaClient client = builder.build()) {
                client.connect(log);
                one.await("the failure is told", () -> !log.events.isEmpty());
            }
            one.startAnother();
        }
        assertThat(log.events).containsExactly("ended false");
    }
}
