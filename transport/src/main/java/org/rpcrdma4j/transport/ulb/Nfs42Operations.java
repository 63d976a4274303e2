// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.rpcrdma4j.transport.ulb.Nfs4Types.BITMAP;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.CHANGE;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.COMPONENT;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.DEVICE_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LAYOUT_BODY;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LENGTH;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LOCATION;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.OFFSET;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.STATE_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.TIME;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.WRITTEN;
import static org.rpcrdma4j.transport.ulb.Shapes.ANY;
import static org.rpcrdma4j.transport.ulb.Shapes.BOOL;
import static org.rpcrdma4j.transport.ulb.Shapes.HYPER;
import static org.rpcrdma4j.transport.ulb.Shapes.INT;
import static org.rpcrdma4j.transport.ulb.Shapes.VOID;
import static org.rpcrdma4j.transport.ulb.Shapes.arm;
import static org.rpcrdma4j.transport.ulb.Shapes.array;
import static org.rpcrdma4j.transport.ulb.Shapes.bytes;
import static org.rpcrdma4j.transport.ulb.Shapes.result;
import static org.rpcrdma4j.transport.ulb.Shapes.resultBytes;
import static org.rpcrdma4j.transport.ulb.Shapes.sequence;
import static org.rpcrdma4j.transport.ulb.Shapes.unionOr;

import java.util.List;

/**
 * The operations 59 to 75 of NFS version 4, those that minor version 2 adds (RFC 7862, and RFC 8276 for extended attributes).
 *
 * <p>RFC 8267, Section 6.1: none has an eligible item, READ_PLUS not either, though it returns data.
 */
final class Nfs42Operations {

    private static final int OFFLOAD_NO_REQUIREMENTS = 10094;
    private static final Shape STATUS = INT;
    private static final Shape RANGE = sequence(STATE_ID, OFFSET, LENGTH);
    private static final Shape REQUIREMENTS = sequence(BOOL, BOOL);
    private static final Shape DATA_OR_HOLE =
            unionOr(VOID, arm(0, sequence(OFFSET, ANY)), arm(1, sequence(OFFSET, LENGTH)));

    /** READ_PLUS says how much it wants, not how large the answer may be: extents come on top. */
    private static final int EXTENTS = 4096;

    static final List<Nfs4Operation> ALL = List.of(
            new Nfs4Operation(59, "ALLOCATE", RANGE, STATUS),
            new Nfs4Operation(
                    60,
                    "COPY",
                    sequence(STATE_ID, STATE_ID, OFFSET, OFFSET, LENGTH, BOOL, BOOL, array(LOCATION)),
                    unionOr(VOID, arm(0, sequence(WRITTEN, REQUIREMENTS)), arm(OFFLOAD_NO_REQUIREMENTS, REQUIREMENTS))),
            new Nfs4Operation(
                    61, "COPY_NOTIFY", sequence(STATE_ID, LOCATION), result(sequence(TIME, STATE_ID, array(LOCATION)))),
            new Nfs4Operation(62, "DEALLOCATE", RANGE, STATUS),
            new Nfs4Operation(63, "IO_ADVISE", sequence(RANGE, BITMAP), result(BITMAP)),
            new Nfs4Operation(
                    64,
                    "LAYOUTERROR",
                    sequence(OFFSET, LENGTH, STATE_ID, array(sequence(DEVICE_ID, INT, INT))),
                    STATUS),
            new Nfs4Operation(
                    65, "LAYOUTSTATS", sequence(OFFSET, LENGTH, STATE_ID, bytes(32), DEVICE_ID, LAYOUT_BODY), STATUS),
            new Nfs4Operation(66, "OFFLOAD_CANCEL", STATE_ID, STATUS),
            new Nfs4Operation(67, "OFFLOAD_STATUS", STATE_ID, result(sequence(LENGTH, array(1, INT)))),
            new Nfs4Operation(
                    68,
                    "READ_PLUS",
                    sequence(STATE_ID, OFFSET, resultBytes(EXTENTS, false)),
                    result(sequence(BOOL, array(DATA_OR_HOLE)))),
            new Nfs4Operation(69, "SEEK", sequence(STATE_ID, OFFSET, INT), result(sequence(BOOL, OFFSET))),
            new Nfs4Operation(70, "WRITE_SAME", sequence(STATE_ID, INT, bytes(32), INT, HYPER, ANY), result(WRITTEN)),
            new Nfs4Operation(71, "CLONE", sequence(STATE_ID, STATE_ID, OFFSET, OFFSET, LENGTH), STATUS),
            new Nfs4Operation(72, "GETXATTR", COMPONENT, result(ANY)),
            new Nfs4Operation(73, "SETXATTR", sequence(INT, COMPONENT, ANY), result(CHANGE)),
            new Nfs4Operation(
                    74,
                    "LISTXATTRS",
                    sequence(HYPER, resultBytes(16, true)),
                    result(sequence(HYPER, array(COMPONENT), BOOL))),
            new Nfs4Operation(75, "REMOVEXATTR", COMPONENT, result(CHANGE)));

    private Nfs42Operations() {}
}
