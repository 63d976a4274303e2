// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.net.InetSocketAddress;
import java.util.HexFormat;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.Octets;

/** Connects as a client that makes every byte itself. */
public final class RawRequester {

    private final Rig rig;
    private ConnectOptions options = ConnectOptions.DEFAULT;
    private int receives = 32;
    private int receiveBytes = 4096;
    private RdmaDevice device;

    /** One that sends no private data. */
    public RawRequester(Rig rig) {
        this.rig = rig;
        device = rig.clientDevice();
    }

    /** A device of the same network that connects in place of the rig's: another host. */
    public RawRequester from(RdmaDevice value) {
        device = value;
        return this;
    }

    /** Private data in hexadecimal, for example {@code f6ab0e18 01010303}: 4096 bytes each way, can be invalidated (RFC 8797). */
    public RawRequester privateData(String hex) {
        options = options.withPrivateData(Octets.of(HexFormat.of().parseHex(hex.replace(" ", ""))));
        return this;
    }

    public RawRequester options(ConnectOptions value) {
        options = value;
        return this;
    }

    public RawRequester receives(int count, int bytes) {
        receives = count;
        receiveBytes = bytes;
        return this;
    }

    /** Starts to connect. */
    public RawConnection dial(InetSocketAddress address) {
        RawConnection connection = new RawConnection(device, receives, receiveBytes);
        rig.watch(connection::toString);
        device.connectionManager().connect(connection.queuePair(), address, options, connection);
        return connection;
    }

    /** Connects, and waits until it is. */
    public RawConnection connect(InetSocketAddress address) {
        RawConnection connection = dial(address);
        rig.await("the raw client is connected", () -> connection.isEstablished() || connection.hasEnded());
        connection.info();
        return connection;
    }
}
