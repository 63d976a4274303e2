// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.rpcbind;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Asks the rpcbind of a host where programs are served, and tells that of this host (RFC 1833), over a stream. That no rpcbind runs, or none
 * answers in time, is a normal result, not an error. Each method makes connections of its own, at most three, each of which takes at most
 * the timeout. Any thread may call any method.
 */
public final class RpcbindClient {

    /** RFC 1833, Section 2: where rpcbind listens. */
    public static final int PORT = 111;

    private static final int PROGRAM = 100000;
    private static final int VERSION_4 = 4;
    private static final int VERSION_3 = 3;
    private static final int VERSION_2 = 2;
    private static final int SET = 1;
    private static final int UNSET = 2;
    /** GETADDR of versions 3 and 4, GETPORT of version 2. */
    private static final int GET = 3;

    private static final int DUMP = 4;
    private static final int IP_TCP = 6;
    private static final int LONGEST_TEXT = 1024;
    private static final int MOST_ENTRIES = 4096;
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(3);
    private static final Path LOCAL_SOCKET = Path.of("/run/rpcbind.sock");

    private final SocketAddress rpcbind;
    private final Duration timeout;
    private final @Nullable InetAddress host;

    /** A client of the rpcbind at the address. */
    public RpcbindClient(InetSocketAddress rpcbind, Duration timeout) {
        this(rpcbind, rpcbind.getAddress(), timeout);
    }

    private RpcbindClient(SocketAddress rpcbind, @Nullable InetAddress host, Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout " + timeout + " must be positive");
        }
        this.rpcbind = rpcbind;
        this.host = host;
        this.timeout = timeout;
    }

    /** A client of the host's rpcbind, with a timeout of three seconds. */
    public static RpcbindClient of(InetAddress host) {
        return new RpcbindClient(new InetSocketAddress(host, PORT), DEFAULT_TIMEOUT);
    }

    /**
     * A client of this host's rpcbind, for registrations: over its local socket if there is one, since rpcbind takes registrations over TCP
     * from privileged ports only.
     */
    public static RpcbindClient local() {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        return Files.exists(LOCAL_SOCKET)
                ? new RpcbindClient(UnixDomainSocketAddress.of(LOCAL_SOCKET), loopback, DEFAULT_TIMEOUT)
                : of(loopback);
    }

    /** Thrown inside: this version of rpcbind's protocol is not to be had, or refuses. */
    private static final class NoResult extends Exception {
        private static final long serialVersionUID = 1L;
        private final boolean mayOtherVersion;

        NoResult(boolean mayOtherVersion) {
            super(null, null, false, false);
            this.mayOtherVersion = mayOtherVersion;
        }
    }

    /**
     * Where the host serves a version of a program: asked of rpcbind version 4, then 3, then, for {@link NetworkId#TCP}, of the port mapper
     * of version 2.
     *
     * @return empty if no rpcbind runs, or it knows none; otherwise the address. If rpcbind names the wildcard address, it is that of the
     *     host
     * @throws IOException if an answer can't be understood
     */
    public Optional<InetSocketAddress> find(int program, int version, NetworkId network) throws IOException {
        for (int spoken = VERSION_4; spoken >= VERSION_3; spoken--) {
            try {
                return find(spoken, program, version, network);
            } catch (NoResult e) {
                if (!e.mayOtherVersion) {
                    return Optional.empty();
                }
            }
        }
        return network == NetworkId.TCP ? findPort(program, version) : Optional.empty();
    }

    private Optional<InetSocketAddress> find(int spoken, int program, int version, NetworkId network)
            throws IOException, NoResult {
        try {
            if (network == NetworkId.TCP || network == NetworkId.TCP6) {
                XdrReader reply = call(spoken, GET, mapping(program, version, network, ""));
                return usable(reply.readString(LONGEST_TEXT));
            }
            // RFC 1833, Section 2.2.1: GETADDR tells of the transport that it is asked over; the list tells of all.
            return usable(findInList(call(spoken, DUMP, new XdrWriter()), program, version, network));
        } catch (XdrException e) {
            throw undecodable(e);
        }
    }

    private static String findInList(XdrReader list, int program, int version, NetworkId network) throws XdrException {
        String found = "";
        int entries = 0;
        while (list.readBool() && entries++ < MOST_ENTRIES) {
            int foundProgram = list.readInt();
            int foundVersion = list.readInt();
            String foundNetwork = list.readString(LONGEST_TEXT);
            String address = list.readString(LONGEST_TEXT);
            list.skipOpaque(LONGEST_TEXT);
            if (foundProgram == program && foundVersion == version && foundNetwork.equals(network.text())) {
                found = address;
            }
        }
        return found;
    }

    private Optional<InetSocketAddress> findPort(int program, int version) throws IOException {
        XdrWriter mapping = new XdrWriter();
        mapping.writeInt(program);
        mapping.writeInt(version);
        mapping.writeInt(IP_TCP);
        mapping.writeInt(0);
        try {
            int port = call(VERSION_2, GET, mapping).readInt();
            InetAddress at = host;
            return port <= 0 || port > 0xffff || at == null
                    ? Optional.empty()
                    : Optional.of(new InetSocketAddress(at, port));
        } catch (NoResult e) {
            return Optional.empty();
        } catch (XdrException e) {
            throw undecodable(e);
        }
    }

    private Optional<InetSocketAddress> usable(String text) {
        return UniversalAddress.parse(text)
                .filter(address -> address.getPort() != 0)
                .map(address -> {
                    InetAddress at = host;
                    boolean isWildcard = address.getAddress().isAnyLocalAddress();
                    return isWildcard && at != null ? new InetSocketAddress(at, address.getPort()) : address;
                });
    }

    /**
     * Registers: the program is served at the address. An older registration of the same program, version and network is replaced.
     *
     * @return whether it is registered now; false if no rpcbind runs, or it refuses
     * @throws IOException if an answer can't be understood
     */
    public boolean register(int program, int version, NetworkId network, InetSocketAddress address) throws IOException {
        // RFC 1833, Section 2.2.1: SET refuses what is registered already, if only by a server that was killed.
        unregister(program, version, network);
        return change(SET, mapping(program, version, network, UniversalAddress.format(address)));
    }

    /**
     * Takes a registration back.
     *
     * @return whether there was one that rpcbind let go
     * @throws IOException if an answer can't be understood
     */
    public boolean unregister(int program, int version, NetworkId network) throws IOException {
        return change(UNSET, mapping(program, version, network, ""));
    }

    private boolean change(int procedure, XdrWriter mapping) throws IOException {
        for (int spoken = VERSION_4; spoken >= VERSION_3; spoken--) {
            try {
                return call(spoken, procedure, mapping).readBool();
            } catch (NoResult e) {
                if (!e.mayOtherVersion) {
                    return false;
                }
            } catch (XdrException e) {
                throw undecodable(e);
            }
        }
        return false;
    }

    /** RFC 1833, Section 2.1: program, version, network, address, owner; rpcbind knows the owner better. */
    private static XdrWriter mapping(int program, int version, NetworkId network, String address) {
        XdrWriter out = new XdrWriter();
        out.writeInt(program);
        out.writeInt(version);
        out.writeString(network.text());
        out.writeString(address);
        out.writeString("");
        return out;
    }

    private XdrReader call(int spoken, int procedure, XdrWriter arguments) throws IOException, NoResult {
        int xid = ThreadLocalRandom.current().nextInt();
        XdrWriter call = new XdrWriter();
        new CallHeader(xid, PROGRAM, spoken, procedure, Credential.None.INSTANCE).encode(call);
        call.writeBytes(arguments.part(0));
        XdrReader reply = new RpcbindExchange(rpcbind, timeout).call(call.toByteArray());
        if (reply == null) {
            throw new NoResult(false);
        }
        try {
            ReplyReader.readHeader(reply, xid);
            return reply;
        } catch (RpcException.BadReply e) {
            throw new IOException(rpcbind + " answers with what is no reply: " + e.getMessage(), e);
        } catch (RpcException e) {
            throw new NoResult(true);
        }
    }

    private IOException undecodable(XdrException e) {
        return new IOException(rpcbind + " answers with what can't be decoded: " + e.getMessage(), e);
    }

    @Override
    public String toString() {
        return "rpcbind at " + rpcbind;
    }
}
