// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.rpcbind;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.tcp.server.TcpRpcServer;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.rpc.RpcRequest;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrWriter;

class RpcbindClientTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Map<String, String> registered = new ConcurrentHashMap<>();

    private TcpRpcServer rpcbind(int... versions) throws IOException {
        RpcProgram.Builder program = RpcProgram.program(100000, "rpcbind");
        for (int version : versions) {
            if (version == 2) {
                program.procedure(2, 3, this::getPort);
            } else {
                program.procedure(version, 1, this::set)
                        .procedure(version, 2, this::unset)
                        .procedure(version, 3, this::getAddress)
                        .procedure(version, 4, this::dump);
            }
        }
        return TcpRpcServer.builder(new ProgramTable(List.of(program.build()))).start();
    }

    private static String key(RpcRequest request) throws XdrException {
        return request.arguments().readInt() + " " + request.arguments().readInt() + " "
                + request.arguments().readString(100);
    }

    private static String restOf(RpcRequest request) throws XdrException {
        String address = request.arguments().readString(100);
        request.arguments().readString(100);
        return address;
    }

    private void set(RpcRequest request) throws XdrException {
        String key = key(request);
        request.results().writeBool(registered.putIfAbsent(key, restOf(request)) == null);
    }

    private void unset(RpcRequest request) throws XdrException {
        String key = key(request);
        restOf(request);
        request.results().writeBool(registered.remove(key) != null);
    }

    private void getAddress(RpcRequest request) throws XdrException {
        String key = key(request);
        restOf(request);
        request.results().writeString(registered.getOrDefault(key, ""));
    }

    private void getPort(RpcRequest request) throws XdrException {
        request.arguments().skip(16);
        request.results().writeInt(777);
    }

    private void dump(RpcRequest request) {
        XdrWriter out = request.results();
        registered.forEach((key, address) -> {
            String[] parts = key.split(" ", -1);
            out.writeBool(true);
            out.writeInt(Integer.parseInt(parts[0]));
            out.writeInt(Integer.parseInt(parts[1]));
            out.writeString(parts[2]);
            out.writeString(address);
            out.writeString("superuser");
        });
        out.writeBool(false);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4})
    void whatIsRegisteredIsFoundUntilItIsTakenBack(int version) throws IOException {
        try (TcpRpcServer server = rpcbind(version)) {
            RpcbindClient client = new RpcbindClient(server.localAddress(), TIMEOUT);
            InetSocketAddress address = new InetSocketAddress("192.0.2.1", 20049);
            for (NetworkId network : List.of(NetworkId.TCP, NetworkId.RDMA)) {
                assertThat(client.find(100003, 3, network)).isEmpty();
                assertThat(client.register(100003, 3, network, address)).isTrue();
                assertThat(client.register(100003, 3, network, address)).isTrue();
                assertThat(client.find(100003, 3, network)).contains(address);
                assertThat(client.unregister(100003, 3, network)).isTrue();
                assertThat(client.unregister(100003, 3, network)).isFalse();
            }
        }
    }

    @Test
    void theWildcardAddressBecomesThatOfTheHost() throws IOException {
        registered.put("100005 3 tcp", "0.0.0.0.2.1");
        try (TcpRpcServer server = rpcbind(4)) {
            assertThat(new RpcbindClient(server.localAddress(), TIMEOUT).find(100005, 3, NetworkId.TCP))
                    .contains(new InetSocketAddress(server.localAddress().getAddress(), 513));
        }
    }

    @Test
    void aPortMapperOfVersionTwoIsAskedForItsPort() throws IOException {
        try (TcpRpcServer server = rpcbind(2)) {
            RpcbindClient client = new RpcbindClient(server.localAddress(), TIMEOUT);
            assertThat(client.find(100005, 3, NetworkId.TCP))
                    .contains(new InetSocketAddress(server.localAddress().getAddress(), 777));
            assertThat(client.find(100005, 3, NetworkId.RDMA)).isEmpty();
            assertThat(client.register(100005, 3, NetworkId.RDMA, server.localAddress()))
                    .isFalse();
        }
    }

    @Test
    void thatNoneRunsOrAnswersIsANormalResult() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        RpcbindClient client;
        try (ServerSocket silent = new ServerSocket(0, 1, loopback)) {
            InetSocketAddress address = new InetSocketAddress(loopback, silent.getLocalPort());
            client = new RpcbindClient(address, Duration.ofMillis(50));
            assertThat(client.find(100003, 3, NetworkId.TCP)).isEmpty();
        }
        assertThat(client.find(100003, 3, NetworkId.TCP)).isEmpty();
        assertThat(client.register(100003, 3, NetworkId.TCP, new InetSocketAddress(loopback, 1)))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 2049, 192.0.2.1.8.1",
        "0.0.0.0, 111, 0.0.0.0.0.111",
        "2001:db8::1, 20049, 2001:db8:0:0:0:0:0:1.78.81"
    })
    void universalAddressesAreWrittenAndRead(String host, int port, String text) {
        InetSocketAddress address = new InetSocketAddress(host, port);
        assertThat(UniversalAddress.format(address)).isEqualTo(text);
        assertThat(UniversalAddress.parse(text)).contains(address);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ".", "..", "1.2.3.4", "1.2.3.4.256.1", "1.2.3.4.1.-1", "host.example.1.1", "1.2.3.4.a.b"})
    void whatIsNoUniversalAddressIsNone(String text) {
        assertThat(UniversalAddress.parse(text)).isEmpty();
    }
}
