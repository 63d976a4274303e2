// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

/**
 * The ready-to-receive operations this side can send: the first FPDU of a peer-to-peer connection (RFC 6581,
 * Section 9.2). The zero-length Send, flag B, is left out: it would use up a Receive of the other ULP.
 */
public enum Rtr {
    /** Flag C: zero-length RDMA Write. */
    WRITE,
    /** Flag D: zero-length RDMA Read; it takes MSN 1 of the Read Request queue, and is answered. */
    READ
}
