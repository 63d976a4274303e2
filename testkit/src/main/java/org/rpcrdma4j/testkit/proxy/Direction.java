// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.proxy;

/** Which way bytes go through a {@link FaultProxy}. */
public enum Direction {
    /** From the client, which connected, to the server. */
    UP,
    /** From the server to the client. */
    DOWN
}
