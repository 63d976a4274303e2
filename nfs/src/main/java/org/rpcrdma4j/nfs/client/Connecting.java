// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import org.rpcrdma4j.tcp.client.TcpRpcClient;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.RdmaDevice;

/** Makes the clients that calls to a server go over. */
final class Connecting {

    /** Room for the largest READDIRPLUS and EXPORT. */
    private static final long LEAST_PAYLOAD_BYTES = 160 << 10;

    private static final Duration FIRST_RECONNECT_DELAY = Duration.ofMillis(50);
    private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofSeconds(2);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

    /** On how many connections a call is sent: a server may be restarted many times, but one call must not end connections for ever. */
    private static final int MAX_TRANSMISSIONS = 32;

    /** The same where nothing is known yet of what answers at the address. */
    private static final int FIRST_TRANSMISSIONS = 3;

    private final NfsUrl url;
    private final MountOptions options;
    private final NfsUrl.Transport transport;
    private final InetAddress host;

    Connecting(NfsUrl url, MountOptions options) throws IOException {
        this.url = url;
        this.options = options;
        transport = url.transport() == NfsUrl.Transport.TCP || options.device() == null
                ? NfsUrl.Transport.TCP
                : NfsUrl.Transport.RDMA;
        if (url.transport() == NfsUrl.Transport.RDMA && transport == NfsUrl.Transport.TCP) {
            throw new IOException("cannot mount " + url.display() + ": there is no RDMA device");
        }
        try {
            host = InetAddress.getByName(url.host());
        } catch (UnknownHostException e) {
            throw new IOException("cannot mount " + url.display() + ": unknown host " + url.host(), e);
        }
    }

    InetAddress host() {
        return host;
    }

    InetSocketAddress nfsAddress() {
        return new InetSocketAddress(host, url.portFor(transport));
    }

    /** A client of the NFS server that waits for it, however often it is gone, as long as each call has time. */
    RpcClient patient() {
        return nfsClient(0, MAX_TRANSMISSIONS);
    }

    /** A client of the NFS server that fails at once if that cannot be reached, and soon if what answers there ends each connection. */
    RpcClient impatient() {
        return nfsClient(1, FIRST_TRANSMISSIONS);
    }

    private RpcClient nfsClient(int connectAttempts, int maxTransmissions) {
        RdmaDevice device = options.device();
        if (transport == NfsUrl.Transport.TCP || device == null) {
            return tcp(nfsAddress(), connectAttempts, maxTransmissions);
        }
        return RpcRdmaClient.builder(device, nfsAddress())
                .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                .maxInFlight(options.maxInFlight())
                .maxPayloadBytes(Math.max(LEAST_PAYLOAD_BYTES, Math.max(options.readBytes(), options.writeBytes())))
                .maxTransmissions(maxTransmissions)
                .callTimeout(options.timeout())
                .connectTimeout(CONNECT_TIMEOUT)
                .connectAttempts(connectAttempts)
                .reconnectDelay(FIRST_RECONNECT_DELAY, LONGEST_RECONNECT_DELAY)
                .build();
    }

    /** A client of a MOUNT server, over TCP, that fails as the impatient one does. */
    RpcClient mount(InetSocketAddress address) {
        return tcp(address, 1, FIRST_TRANSMISSIONS);
    }

    private RpcClient tcp(InetSocketAddress address, int connectAttempts, int maxTransmissions) {
        return TcpRpcClient.builder(address)
                .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                .maxInFlight(options.maxInFlight())
                .maxTransmissions(maxTransmissions)
                .callTimeout(options.timeout())
                .connectTimeout(CONNECT_TIMEOUT)
                .connectAttempts(connectAttempts)
                .reconnectDelay(FIRST_RECONNECT_DELAY, LONGEST_RECONNECT_DELAY)
                .build();
    }
}
