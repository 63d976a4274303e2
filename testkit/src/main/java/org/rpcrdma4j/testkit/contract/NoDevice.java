// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.verbs.RdmaDevice;

/** Stands in until a test has opened its devices. */
enum NoDevice implements DeviceUnderTest {
    INSTANCE;

    @Override
    public RdmaDevice client() {
        throw notOpened();
    }

    @Override
    public RdmaDevice server() {
        throw notOpened();
    }

    @Override
    public InetSocketAddress listenAddress() {
        throw notOpened();
    }

    @Override
    public InetSocketAddress deadAddress() {
        throw notOpened();
    }

    @Override
    public boolean await(BooleanSupplier condition) {
        throw notOpened();
    }

    @Override
    public void settle() {
        throw notOpened();
    }

    @Override
    public void close() {}

    private static IllegalStateException notOpened() {
        return new IllegalStateException("the test has not opened its devices");
    }
}
