// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

/**
 * What is known of a region's registration. It follows completions, never posts: {@link #INVALID} is said only of a region that the
 * device has shut as well.
 */
public enum RegionState {
    /** Shut: the peer can do nothing with it. */
    INVALID,
    /** A registration was handed to the send queue; the region may be open to the peer. */
    VALID,
    /** A work request of it failed or was flushed; whether it is open is not known. Never used again as it is. */
    STALE
}
