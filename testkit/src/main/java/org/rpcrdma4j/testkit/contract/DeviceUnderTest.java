// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.verbs.RdmaDevice;

/** What a device's tests supply to the contract suite: two devices that reach each other, and how to wait. One for each test. */
public interface DeviceUnderTest extends AutoCloseable {

    /** The device that connects. */
    RdmaDevice client();

    /** The device that listens; may be the same object. */
    RdmaDevice server();

    /** Where the server may listen; port 0 takes a free one. */
    InetSocketAddress listenAddress();

    /** An address where nobody listens, and which answers so at once. */
    InetSocketAddress deadAddress();

    /**
     * Waits, calling the condition again and again on the calling thread, until it holds or the device's patience ends. A real
     * device polls until a deadline; a simulation runs its steps.
     *
     * @return whether it held
     */
    boolean await(BooleanSupplier condition);

    /** Gives the devices time to do what they must not do: a simulation runs until nothing is left, a real device idles a little. */
    void settle();

    /** First seed of the random operation mixes; {@code -Drpcrdma.seed} replaces it and runs that one alone. */
    default long firstMixSeed() {
        return 1;
    }

    /** How many random operation mixes are run. */
    default int mixSeeds() {
        return 10;
    }

    /** Longest message of a random mix; contract: 16 MiB once in a while. */
    default int longestMixMessage() {
        return 16 << 20;
    }

    /** More state for the report of a failed wait; empty if there is none. */
    default String describe() {
        return "";
    }

    /** Closes both devices. Afterwards their ledgers are read once more. */
    @Override
    default void close() {
        client().close();
        server().close();
    }
}
