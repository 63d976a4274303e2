// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** Which way a message goes, as seen from here. */
public enum Direction {
    /** We sent it. */
    SENT,
    /** We received it. */
    RECEIVED
}
