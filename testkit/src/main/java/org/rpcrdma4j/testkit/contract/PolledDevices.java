// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * Devices that work by themselves: waiting is polling until a deadline.
 *
 * @param client the device that connects
 * @param server the device that listens
 * @param listenAddress where it may listen
 * @param patience how long a condition may take
 */
public record PolledDevices(RdmaDevice client, RdmaDevice server, InetSocketAddress listenAddress, Duration patience)
        implements DeviceUnderTest {

    private static final Duration SETTLING = Duration.ofMillis(20);

    public PolledDevices {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(server, "server");
    }

    /** On the loopback address, with 10 seconds of patience. */
    public PolledDevices(RdmaDevice client, RdmaDevice server) {
        this(client, server, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), Duration.ofSeconds(10));
    }

    @Override
    public InetSocketAddress deadAddress() {
        return new InetSocketAddress(listenAddress.getAddress(), 1);
    }

    @Override
    public boolean await(BooleanSupplier condition) {
        return Waits.within(patience, condition);
    }

    @Override
    public void settle() {
        Waits.pause(SETTLING);
    }
}
