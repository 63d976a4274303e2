// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.util.Locale;

/** Whether to use CRCs. */
enum Switch {
    ON,
    OFF;

    /** As settings and options write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
