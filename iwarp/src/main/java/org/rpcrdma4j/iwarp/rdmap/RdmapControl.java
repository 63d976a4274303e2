// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

/**
 * The RDMAP control octet (RFC 5040, Section 4.1).
 *
 * <pre>
 *    7  6   5  4   3        0
 *   +------+------+----------+
 *   |  RV  |  00  |  opcode  |   reserved bits: sent as zero, not checked
 *   +------+------+----------+
 * </pre>
 */
public final class RdmapControl {
    /** RFC 5040, Section 4.1. Version 0 is the RDMA Consortium's, which is not spoken here. */
    public static final int VERSION = 1;

    private static final int VERSION_SHIFT = 6;
    private static final int OPCODE_MASK = 0x0F;

    private RdmapControl() {}

    public static int version(int control) {
        return (control & 0xFF) >>> VERSION_SHIFT;
    }

    public static int opcode(int control) {
        return control & OPCODE_MASK;
    }

    static int of(int opcode) {
        return VERSION << VERSION_SHIFT | opcode;
    }
}
