// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.rpcrdma4j.transport.ulb.Shapes.ANY;
import static org.rpcrdma4j.transport.ulb.Shapes.BOOL;
import static org.rpcrdma4j.transport.ulb.Shapes.HYPER;
import static org.rpcrdma4j.transport.ulb.Shapes.INT;
import static org.rpcrdma4j.transport.ulb.Shapes.NAME;
import static org.rpcrdma4j.transport.ulb.Shapes.VOID;
import static org.rpcrdma4j.transport.ulb.Shapes.arm;
import static org.rpcrdma4j.transport.ulb.Shapes.array;
import static org.rpcrdma4j.transport.ulb.Shapes.bytes;
import static org.rpcrdma4j.transport.ulb.Shapes.opaque;
import static org.rpcrdma4j.transport.ulb.Shapes.sequence;
import static org.rpcrdma4j.transport.ulb.Shapes.union;
import static org.rpcrdma4j.transport.ulb.Shapes.unionOr;
import static org.rpcrdma4j.transport.ulb.Shapes.usualArray;

/** The types that several operations of NFS version 4 share (RFC 7530, 8881, 7862). */
final class Nfs4Types {

    /** Words of the longest bitmap that is reckoned with; the attributes of all minor versions fit in three. */
    static final int BITMAP_WORDS = 8;

    static final Shape HANDLE = opaque(128);
    static final Shape STATE_ID = bytes(16);
    static final Shape VERIFIER = HYPER;
    static final Shape CLIENT_ID = HYPER;
    static final Shape SESSION_ID = bytes(16);
    static final Shape DEVICE_ID = bytes(16);
    static final Shape OFFSET = HYPER;
    static final Shape LENGTH = HYPER;
    static final Shape TIME = bytes(12);
    static final Shape BITMAP = usualArray(BITMAP_WORDS, INT);
    static final Shape ATTRIBUTES = sequence(BITMAP, ANY);
    static final Shape COMPONENT = ANY;
    static final Shape OPAQUE_1024 = opaque(1024);
    static final Shape CHANGE = sequence(BOOL, HYPER, HYPER);
    static final Shape OWNER = sequence(CLIENT_ID, OPAQUE_1024);

    /** Netid and address. */
    static final Shape ADDRESS = sequence(NAME, NAME);

    /** Type, flag, mask, who. */
    private static final Shape ACCESS_ENTRY = sequence(INT, INT, INT, NAME);

    static final Shape LOCK_DENIED = sequence(OFFSET, LENGTH, INT, OWNER);

    private static final Shape READ_DELEGATION = sequence(STATE_ID, BOOL, ACCESS_ENTRY);
    private static final Shape WRITE_DELEGATION =
            sequence(STATE_ID, BOOL, union(arm(1, HYPER), arm(2, bytes(8))), ACCESS_ENTRY);

    /** None, read, write, none with a reason (4.1), and the two with attributes (RFC 9754). */
    static final Shape DELEGATION = union(
            arm(0, VOID),
            arm(1, READ_DELEGATION),
            arm(2, WRITE_DELEGATION),
            arm(3, unionOr(VOID, arm(1, BOOL), arm(2, BOOL))),
            arm(4, READ_DELEGATION),
            arm(5, WRITE_DELEGATION));

    private static final int RPCSEC_GSS = 6;
    static final Shape SECURITY = array(unionOr(VOID, arm(RPCSEC_GSS, sequence(ANY, INT, INT))));

    private static final Shape SYS = sequence(INT, opaque(255), INT, INT, array(16, INT));
    static final Shape CALLBACK_SECURITY =
            array(union(arm(0, VOID), arm(1, SYS), arm(RPCSEC_GSS, sequence(INT, ANY, ANY))));

    /** Six sizes and the inbound RDMA Reads. */
    static final Shape CHANNEL = sequence(bytes(24), array(1, INT));

    /** Operations that must and that may be protected. */
    static final Shape PROTECTED = sequence(BITMAP, BITMAP);

    static final Shape IMPLEMENTATION = array(1, sequence(NAME, NAME, TIME));

    /** Type and a body that only that type understands. */
    static final Shape LAYOUT_BODY = sequence(INT, ANY);

    static final Shape LAYOUTS = array(sequence(OFFSET, LENGTH, INT, LAYOUT_BODY));

    /** A name, a URL, an address. */
    static final Shape LOCATION = union(arm(1, NAME), arm(2, NAME), arm(3, ADDRESS));

    static final Shape WRITTEN = sequence(array(1, STATE_ID), LENGTH, INT, VERIFIER);

    private Nfs4Types() {}
}
