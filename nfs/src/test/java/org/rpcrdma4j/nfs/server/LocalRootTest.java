// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.rpc.CallerConnection;

/** Which connections are taken for root's. */
class LocalRootTest {

    private static final OptionalInt ROOT = OptionalInt.of(0);
    private static final OptionalInt ANNA = OptionalInt.of(1001);

    private final Deque<OptionalInt> answers = new ArrayDeque<>();
    private int lookUps;
    private Runnable meanwhile = () -> {};

    private final LocalRoot localRoot = new LocalRoot((local, remote) -> {
        lookUps++;
        meanwhile.run();
        assertThat(local.getPort()).as("the caller's end").isEqualTo(700);
        assertThat(remote.getPort()).as("the server's end").isEqualTo(20049);
        OptionalInt answer = answers.poll();
        if (answer == null) {
            throw new IOException("no table");
        }
        return answer;
    });

    private static final class Connection implements CallerConnection {
        private final InetSocketAddress local;
        private final InetSocketAddress remote;
        private boolean isOpen = true;

        Connection(String local, String remote) {
            this.local = at(local, 20049);
            this.remote = at(remote, 700);
        }

        private static InetSocketAddress at(String host, int port) {
            try {
                return new InetSocketAddress(InetAddress.getByName(host), port);
            } catch (UnknownHostException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public InetSocketAddress localAddress() {
            return local;
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return remote;
        }

        @Override
        public boolean isOpen() {
            return isOpen;
        }
    }

    private static Connection loopback() {
        return new Connection("127.0.0.1", "127.0.0.1");
    }

    @Test
    void rootIsLookedUpOnceForAConnection() {
        answers.add(ROOT);
        Connection connection = loopback();
        assertThat(localRoot.isAt(connection)).isTrue();
        assertThat(localRoot.isAt(connection)).isTrue();
        assertThat(lookUps).isEqualTo(1);
    }

    @Test
    void aPortThatAnotherUserHasLaterIsLookedUpAnew() {
        answers.addAll(List.of(ROOT, ANNA));
        assertThat(localRoot.isAt(loopback())).isTrue();
        Connection again = loopback();
        assertThat(localRoot.isAt(again)).isFalse();
        assertThat(localRoot.isAt(again)).isFalse();
        assertThat(lookUps).isEqualTo(2);
    }

    @Test
    void aConnectionThatEndedMeanwhileIsNotRoots() {
        Connection connection = loopback();
        meanwhile = () -> connection.isOpen = false;
        answers.add(ROOT);
        assertThat(localRoot.isAt(connection)).isFalse();
    }

    @Test
    void onlyLoopbackAtBothEndsIsLookedUp() {
        answers.add(ROOT);
        assertThat(localRoot.isAt(new Connection("127.0.0.1", "192.0.2.1"))).isFalse();
        assertThat(localRoot.isAt(new Connection("192.0.2.1", "127.0.0.1"))).isFalse();
        assertThat(localRoot.isAt(new Connection("2001:db8::1", "2001:db8::1"))).isFalse();
        assertThat(localRoot.isAt(null)).isFalse();
        assertThat(lookUps).isZero();
        assertThat(localRoot.isAt(new Connection("::1", "::1"))).isTrue();
    }

    @Test
    void aLineThatIsMissedOnceIsLookedForAgain() {
        answers.addAll(List.of(OptionalInt.empty(), ROOT));
        assertThat(localRoot.isAt(loopback())).isTrue();
    }

    @Test
    void whomNobodyKnowsIsNotRoot() {
        for (int i = 0; i < 10; i++) {
            answers.add(OptionalInt.empty());
        }
        Connection connection = loopback();
        assertThat(localRoot.isAt(connection)).isFalse();
        assertThat(localRoot.isAt(connection)).isFalse();
        assertThat(lookUps).as("tables read for such a connection").isEqualTo(3);
    }

    @Test
    void withoutATableNobodyIsRoot() {
        assertThat(localRoot.isAt(loopback())).isFalse();
    }
}
