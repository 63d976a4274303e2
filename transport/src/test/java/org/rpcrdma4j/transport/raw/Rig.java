// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * A network that tests run on: two devices that reach each other, a clock, a place for blocking work, and the ways to wait. Opened by
 * {@link Network#open}, one for each test.
 */
public interface Rig extends AutoCloseable {

    /** The device that connects. */
    RdmaDevice clientDevice();

    /** The device that listens. */
    RdmaDevice serverDevice();

    /** The clock for the product. */
    TimeSource time();

    /** For blocking work of the product. */
    Executor worker();

    /** Where the server may listen; port 0. */
    InetSocketAddress listenAddress();

    /** Where nobody listens. */
    InetSocketAddress deadAddress();

    /** Waits until the condition holds; fails with the state of everything if it does not in time. Called on the test's thread. */
    void await(String what, BooleanSupplier condition);

    /** Waits until the condition holds or the given time of {@link #time} has passed. Returns whether it held. */
    boolean awaitWithin(Duration limit, BooleanSupplier condition);

    /** Gives everybody time for what they must not do, without letting timers go off. */
    void settle();

    /** Lets the clock go on by so much, with all that happens meanwhile. */
    void advance(Duration duration);

    /** Whether the devices are simulated, and only run while the test waits. */
    boolean isSimulated();

    /** For runs in which a deregistration is made to fail. */
    Rig withoutLedgerCheck();

    /** What a failed wait prints too. */
    void watch(Supplier<String> described);

    /** Everything in words. */
    String describe();

    /** Closes the devices; fails if somebody broke the verbs' contract, or the devices still hold something. */
    @Override
    void close();
}
