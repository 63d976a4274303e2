// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.nfs.export.ServerUser;

/** Who has a socket, by what Linux lists; the samples are its own. */
class ProcNetTcpTest {

    private static final String TCP = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:DA15 00000000:0000 0A 00000000:00000001 00:00000000 00000000     0        0 325733 2 000000003ca2d5bb 100 0 0 10 0
           1: 0100007F:89DE 0100007F:9B3B 06 00000000:00000000 03:000010D4 00000000     0        0 0 3 0000000078a1a12d
           2: 0100007F:DA15 0100007F:A982 01 00000000:00000000 00:00000000 00000000     0        0 0 1 00000000c95d7c7a 20 0 0 10 -1
           3: 0100007F:BC0E 0100007F:9B3B 01 00000000:00000000 00:00000000 00000000  1000        0 324860 1 0000000077507546 21 4 14 18 -1
           4: 0100007F:A97E 0100007F:DA15 04 00000001:00000000 01:00000014 00000000     0        0 0 2 00000000be12cc30 20 0 0 10 -1
           5: 0100007F:A980 0100007F:DA15 01 00000000:00000000 00:00000000 00000000     0        0 325734 2 00000000be12cc30 20 0 0 10 -1
           6: 0100007F:DA15 0100007F:A97E 08 00000000:00000001 00:00000000 00000000     0        0 325735 2 00000000ec3fdead 20 0 1 10 -1
        """;

    private static final String TCP6 = """
          sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 00000000000000000000000001000000:CD0D 00000000000000000000000001000000:C880 01 00000000:00000000 00:00000000 00000000     0        0 0 1 000000003151126d 20 0 0 10 -1
           1: 00000000000000000000000001000000:C880 00000000000000000000000001000000:CD0D 01 00000000:00000000 00:00000000 00000000 65534        0 325738 2 000000004e341e3b 20 0 0 10 -1
           2: 0000000000000000FFFF00000100007F:981D 0000000000000000FFFF00000100007F:D692 06 00000000:00000000 03:0000152E 00000000     0        0 0 3 000000007b4d2a8d
           3: 0000000000000000FFFF00000100007F:9032 0000000000000000FFFF00000100007F:9569 01 00000000:00000000 02:000AFBFE 00000000     0        0 325040 4 000000002488fb87 21 4 23 18 -1
        """;

    @TempDir
    private Path directory;

    private static InetSocketAddress at(String host, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static OptionalInt user(String table, String host, int local, int remote) {
        return ProcNetTcp.userOf(table.lines().iterator(), at(host, local), at(host, remote), ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void theUserOfAnEstablishedConnectionsEndIsFound() {
        assertThat(user(TCP, "127.0.0.1", 0xA980, 0xDA15)).hasValue(0);
        assertThat(user(TCP, "127.0.0.1", 0xBC0E, 0x9B3B)).hasValue(1000);
        assertThat(user(TCP6, "::1", 0xC880, 0xCD0D)).hasValue(65534);
    }

    @Test
    void anIpv4ConnectionMayBeOfAnIpv6Socket() {
        assertThat(user(TCP6, "127.0.0.1", 0x9032, 0x9569)).hasValue(0);
    }

    @Test
    void aSocketThatNoProcessHasIsNotRoots() {
        assertThat(user(TCP, "127.0.0.1", 0xDA15, 0xA982))
                .as("not accepted yet")
                .isEmpty();
        assertThat(user(TCP, "127.0.0.1", 0xA97E, 0xDA15)).as("closed").isEmpty();
        assertThat(user(TCP, "127.0.0.1", 0x89DE, 0x9B3B)).as("in TIME_WAIT").isEmpty();
        assertThat(user(TCP, "127.0.0.1", 0xDA15, 0xA97E)).as("half closed").isEmpty();
        assertThat(user(TCP6, "::1", 0xCD0D, 0xC880)).as("not accepted yet").isEmpty();
    }

    @Test
    void bothEndsMustBeTheConnections() {
        assertThat(user(TCP, "127.0.0.1", 0xA980, 0x9B3B)).isEmpty();
        assertThat(user(TCP, "127.0.0.1", 0xDA15, 0xA980)).isEmpty();
        assertThat(user(TCP, "127.0.0.2", 0xA980, 0xDA15)).isEmpty();
        assertThat(user(TCP, "127.0.0.1", 0xDA15, 0)).as("a listener").isEmpty();
        assertThat(ProcNetTcp.userOf(
                        TCP.lines().iterator(),
                        InetSocketAddress.createUnresolved("localhost", 0xA980),
                        at("127.0.0.1", 0xDA15),
                        ByteOrder.LITTLE_ENDIAN))
                .isEmpty();
    }

    @Test
    void addressesAreInTheMachinesOrder() {
        String table = TCP.replace("0100007F", "7F000001");
        assertThat(ProcNetTcp.userOf(
                        table.lines().iterator(),
                        at("127.0.0.1", 0xA980),
                        at("127.0.0.1", 0xDA15),
                        ByteOrder.BIG_ENDIAN))
                .hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "5:",
                "5: 0100007F:A980 0100007F:DA15 01",
                "5: 0100007F:A980 0100007F:DA15 01 0:0 00:0 0 0 0",
                "5: 0100007F:A980 0100007F:DA15 01 0:0 00:0 0 root 0 7 2",
                "5: 0100007F:A980 0100007F:DA15 01 0:0 00:0 0 -1 0 7 2",
                "5: 0100007F:A980 0100007F:DA15 01 0:0 00:0 0 4294967296 0 7 2",
                "5: 0100007F:A980 0100007F:DA15 01 0:0 00:0 0 0 0 x 2",
                "5: 0100007F:A980 0100007F:DA15 1 0:0 00:0 0 0 0 7 2",
                "5: 0100007F:A980F 0100007F:DA15 01 0:0 00:0 0 0 0 7 2",
                "0100007F:A980 0100007F:DA15 01 0:0 00:0 0 0 0 7 2 3"
            })
    void linesThatMakeNoSenseArePassedOver(String line) {
        assertThat(user(line, "127.0.0.1", 0xA980, 0xDA15)).isEmpty();
        assertThat(user(line + "\n" + TCP, "127.0.0.1", 0xA980, 0xDA15)).hasValue(0);
    }

    @Test
    void oneWhoIsNotRootWinsIfThereAreTwo() {
        String other = "7: 0100007F:A980 0100007F:DA15 01 0:0 00:0 0 1000 0 7 2\n";
        assertThat(user(TCP + other, "127.0.0.1", 0xA980, 0xDA15)).hasValue(1000);
        assertThat(user(other + TCP, "127.0.0.1", 0xA980, 0xDA15)).hasValue(1000);
    }

    @Test
    void oneOfTheTablesMayBeMissing() throws IOException {
        InetSocketAddress local = at("127.0.0.1", 1);
        Path missing = directory.resolve("missing");
        Path empty = Files.createFile(directory.resolve("empty"));

        assertThat(ProcNetTcp.of(empty, missing).userOf(local, local)).isEmpty();
        assertThatThrownBy(() -> ProcNetTcp.of(missing, missing).userOf(local, local))
                .isInstanceOf(NoSuchFileException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void theKernelTellsWhoseTheSocketsOfThisProcessAre(String host) throws IOException {
        int user = ServerUser.current().identity().uid();
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            try {
                listener.bind(at(host, 0));
            } catch (IOException e) {
                assumeThat(e).as("there is no IPv6 here").isNull();
            }
            try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
                    SocketChannel server = listener.accept()) {
                InetSocketAddress local = (InetSocketAddress) server.getRemoteAddress();
                InetSocketAddress remote = (InetSocketAddress) server.getLocalAddress();
                ProcNetTcp sockets = ProcNetTcp.ofThisMachine();
                OptionalInt found = sockets.userOf(local, remote);
                // The table is not a snapshot: others' sockets come and go while it is read.
                for (int i = 0; i < 10 && found.isEmpty(); i++) {
                    found = sockets.userOf(local, remote);
                }
                assertThat(found).hasValue(user);
                client.shutdownOutput();
                assertThat(sockets.userOf(local, remote)).isEmpty();
            }
        }
    }
}
