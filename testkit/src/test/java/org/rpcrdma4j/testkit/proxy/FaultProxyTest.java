// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rules of {@link FaultProxy}, with a client and a server socket of the test's own. */
class FaultProxyTest {
    private static final int DEADLINE_MILLIS = 20_000;

    private ServerSocket listener;
    private FaultProxy proxy;
    private Socket client;
    private Socket server;

    @BeforeEach
    void connect() throws IOException {
        listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        listener.setSoTimeout(DEADLINE_MILLIS);
        proxy = FaultProxy.start(0, new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort()));
        open();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        proxy.close();
        listener.close();
    }

    @Test
    void passesBytesBothWaysAndKeepsTheFirstOfThem() throws IOException {
        client.getOutputStream().write(bytes(0, 30));
        assertThat(server.getInputStream().readNBytes(30)).isEqualTo(bytes(0, 30));
        server.getOutputStream().write(bytes(100, 5));
        assertThat(client.getInputStream().readNBytes(5)).isEqualTo(bytes(100, 5));

        client.shutdownOutput();
        assertThat(server.getInputStream().read()).isEqualTo(-1);
        server.getOutputStream().write(7);
        assertThat(client.getInputStream().read()).isEqualTo(7);
        assertThat(proxy.status().setupUp()).isEqualTo("000102030405060708090a0b0c0d0e0f10111213");
        assertThat(proxy.status().setupDown()).startsWith("6465666768");
    }

    @Test
    void invertsOneBitAfterEachSoManyBytesButNoneOfTheSetUp() throws IOException {
        proxy.flipEvery(Direction.UP, 10);
        client.getOutputStream().write(bytes(0, 20));
        assertThat(server.getInputStream().readNBytes(20)).isEqualTo(bytes(0, 20));
        byte[] damaged = bytes(0, 9);
        damaged[8] ^= 0x10;

        client.getOutputStream().write(bytes(0, 1));
        assertThat(server.getInputStream().readNBytes(1)).isEqualTo(bytes(0, 1));
        client.getOutputStream().write(bytes(0, 9));
        assertThat(server.getInputStream().readNBytes(9)).isEqualTo(damaged);
        assertThat(proxy.status().flips()).isEqualTo(1);

        proxy.heal();
        client.getOutputStream().write(bytes(0, 40));
        assertThat(server.getInputStream().readNBytes(40)).isEqualTo(bytes(0, 40));
    }

    @Test
    void cutsInTheMidstOfWhatIsSentAndTakesTheNextConnection() throws IOException {
        client.getOutputStream().write(bytes(0, 20));
        assertThat(server.getInputStream().readNBytes(20)).hasSize(20);
        proxy.cutEvery(Direction.UP, 101);
        client.getOutputStream().write(bytes(0, 100));
        assertThat(server.getInputStream().readNBytes(100)).isEqualTo(bytes(0, 100));
        client.getOutputStream().write(bytes(0, 100));

        assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        proxy.heal();
        client.close();
        server.close();
        open();
        client.getOutputStream().write(bytes(0, 3));
        assertThat(server.getInputStream().readNBytes(3)).isEqualTo(bytes(0, 3));
        assertThat(proxy.status().cuts()).isEqualTo(1);
        assertThat(proxy.status().connections()).isEqualTo(2);
    }

    @Test
    void cutsOnceAndPassesNothingOfItOn() throws IOException {
        server.getOutputStream().write(bytes(0, 20));
        assertThat(client.getInputStream().readNBytes(20)).hasSize(20);
        proxy.cutNext(Direction.DOWN);
        client.getOutputStream().write(1);
        assertThat(server.getInputStream().read()).isEqualTo(1);
        server.getOutputStream().write(bytes(0, 10));

        assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        client.close();
        server.close();
        open();
        server.getOutputStream().write(bytes(0, 40));
        assertThat(client.getInputStream().readNBytes(40)).isEqualTo(bytes(0, 40));
        assertThat(proxy.status().cuts()).isEqualTo(1);
    }

    @Test
    void cutsAllConnectionsOnCommand() throws IOException {
        client.getOutputStream().write(1);
        assertThat(server.getInputStream().read()).isEqualTo(1);
        assertThat(FaultProxyCommand.execute(proxy, "cut")).isEqualTo("ok");
        assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        assertThatThrownBy(() -> server.getInputStream().read()).isInstanceOf(SocketException.class);
    }

    @Test
    void passesNothingWhileFrozenAndAllOfItAfterwards() throws IOException {
        client.getOutputStream().write(1);
        assertThat(server.getInputStream().read()).isEqualTo(1);
        proxy.freeze();
        client.getOutputStream().write(2);
        server.setSoTimeout(100);
        assertThatThrownBy(() -> server.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        server.setSoTimeout(DEADLINE_MILLIS);
        proxy.thaw();
        assertThat(server.getInputStream().read()).isEqualTo(2);
    }

    @Test
    void refusesByResetWhenItsTargetDoes() throws IOException {
        listener.close();
        try (Socket second =
                new Socket(proxy.address().getAddress(), proxy.address().getPort())) {
            second.setSoTimeout(DEADLINE_MILLIS);
            assertThatThrownBy(() -> second.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void saysWhatIsWrongWithACommand() {
        assertThatThrownBy(() -> FaultProxyCommand.execute(proxy, "melt")).hasMessageContaining("melt");
        assertThatThrownBy(() -> FaultProxyCommand.execute(proxy, "cut-every up"))
                .hasMessageContaining("BYTES");
        assertThatThrownBy(() -> FaultProxyCommand.execute(proxy, "flip-every up 0"))
                .hasMessageContaining("0");
        assertThat(FaultProxyCommand.execute(proxy, "status")).startsWith("connections=");
    }

    private void open() throws IOException {
        client = new Socket(proxy.address().getAddress(), proxy.address().getPort());
        client.setSoTimeout(DEADLINE_MILLIS);
        server = listener.accept();
        server.setSoTimeout(DEADLINE_MILLIS);
    }

    private static byte[] bytes(int first, int length) {
        byte[] bytes = new byte[length];
        IntStream.range(0, length).forEach(i -> bytes[i] = (byte) (first + i));
        return Arrays.copyOf(bytes, length);
    }
}
