// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

/** Why an access of the peer is refused, with the error codes of DDP tagged buffers (RFC 5041) and of RDMAP (RFC 5040). */
enum AccessFault {
    UNKNOWN_KEY(0, 0, "no valid region has this key"),
    OUT_OF_BOUNDS(1, 1, "the range leaves the region"),
    // DDP has no code for rights.
    RIGHTS(0, 2, "the region does not give this right"),
    FOREIGN(2, 3, "the region is not open to this queue pair"),
    WRAP(3, 4, "the range wraps around");

    final int ddpCode;
    final int rdmapCode;
    final String description;

    AccessFault(int ddpCode, int rdmapCode, String description) {
        this.ddpCode = ddpCode;
        this.rdmapCode = rdmapCode;
        this.description = description;
    }
}
