// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Keeps the log silent for a class of tests: the faults of thousands of schedules would be told one by one. */
public final class SilentLog implements BeforeAllCallback, AfterAllCallback {
    private static final Logger PRODUCT = Logger.getLogger("org.rpcrdma4j");

    public SilentLog() {}

    @Override
    public void beforeAll(ExtensionContext context) {
        PRODUCT.setLevel(Level.OFF);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        PRODUCT.setLevel(null);
    }
}
