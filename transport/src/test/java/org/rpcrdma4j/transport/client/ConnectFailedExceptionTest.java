// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/** Why a server cannot be reached, in one sentence for people. */
class ConnectFailedExceptionTest {

    private static final InetSocketAddress SERVER = InetSocketAddress.createUnresolved("server", 20049);

    @ParameterizedTest
    @CsvSource({
        "REJECTED, the peer's program said no, the server rejects the connection",
        "TIMED_OUT, no complete Reply within PT10S, no answer in time",
        "CLOSED_BY_PEER, end of stream, the server ends the connection; it may not speak RDMA",
        "PROTOCOL_ERROR, bad key, what answers there does not speak RDMA as it should",
        "LOCAL, no socket: java.io.IOException: Too many open files, too many open files",
        "UNREACHABLE, no address for server, unknown host"
    })
    void everyReasonHasItsWords(ConnectRefusal.Reason reason, String detail, String words) {
        ConnectFailedException failure = ConnectFailedException.of(SERVER, new ConnectRefusal(reason, detail));
        assertThat(failure).hasMessage("cannot reach server:20049: " + words);
        assertThat(failure.detail()).isEqualTo(reason + ": " + detail);
    }

    @Test
    void theSystemsWordsAreKeptWithoutTheNamesOfExceptions() throws UnknownHostException {
        byte[] host = new byte[16];
        host[15] = 1;
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByAddress(host), 7);
        ConnectRefusal refusal = new ConnectRefusal(
                ConnectRefusal.Reason.UNREACHABLE, "cannot connect: java.net.ConnectException: Connection refused");
        assertThat(ConnectFailedException.of(address, refusal).getMessage())
                .startsWith("cannot reach [")
                .endsWith("]:7: connection refused");
    }

    @Test
    void overTcpItIsTheSame() {
        assertThat(ConnectFailedException.of(SERVER, new ConnectException("Connection refused")))
                .hasMessage("cannot reach server:20049: connection refused");
        assertThat(ConnectFailedException.of(SERVER, new SocketTimeoutException("Connect timed out")))
                .hasMessage("cannot reach server:20049: no answer in time");
        assertThat(ConnectFailedException.of(SERVER, new UnknownHostException("server")))
                .hasMessage("cannot reach server:20049: unknown host");
    }

    @Test
    void itIsFoundAmongCausesThatMayGoInCircles() {
        ConnectFailedException failure = ConnectFailedException.of(SERVER, new ConnectException("Connection refused"));
        TransportException outer = new TransportException(
                Kind.CONNECTION_LOST, false, "outer", new TransportException(Kind.CONNECTION_LOST, false, "", failure));
        assertThat(ConnectFailedException.in(outer)).contains(failure);
        IOException one = new IOException("one");
        IOException two = new IOException("two", one);
        one.initCause(two);
        assertThat(ConnectFailedException.in(one)).isEmpty();
    }
}
