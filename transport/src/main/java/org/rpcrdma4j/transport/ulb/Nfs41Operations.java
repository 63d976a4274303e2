// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.rpcrdma4j.transport.ulb.Nfs4Types.BITMAP;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.CALLBACK_SECURITY;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.CHANNEL;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.CLIENT_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.DELEGATION;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.DEVICE_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.IMPLEMENTATION;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LAYOUTS;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LAYOUT_BODY;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LENGTH;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.OFFSET;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.OPAQUE_1024;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.PROTECTED;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.SECURITY;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.SESSION_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.STATE_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.TIME;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.VERIFIER;
import static org.rpcrdma4j.transport.ulb.Shapes.ANY;
import static org.rpcrdma4j.transport.ulb.Shapes.BOOL;
import static org.rpcrdma4j.transport.ulb.Shapes.HYPER;
import static org.rpcrdma4j.transport.ulb.Shapes.INT;
import static org.rpcrdma4j.transport.ulb.Shapes.VOID;
import static org.rpcrdma4j.transport.ulb.Shapes.arm;
import static org.rpcrdma4j.transport.ulb.Shapes.array;
import static org.rpcrdma4j.transport.ulb.Shapes.bytes;
import static org.rpcrdma4j.transport.ulb.Shapes.optional;
import static org.rpcrdma4j.transport.ulb.Shapes.result;
import static org.rpcrdma4j.transport.ulb.Shapes.resultBytes;
import static org.rpcrdma4j.transport.ulb.Shapes.sequence;
import static org.rpcrdma4j.transport.ulb.Shapes.union;
import static org.rpcrdma4j.transport.ulb.Shapes.unionOr;

import java.util.List;

/** The operations 40 to 58 of NFS version 4, those that minor version 1 adds (RFC 8881). None has an eligible item. */
final class Nfs41Operations {

    private static final int TOO_SMALL = 10005;
    private static final int LAYOUT_TRY_LATER = 10058;

    /** What is in front of and behind the data that a layout's or device's size argument bounds. */
    private static final int HEAD = 64;

    private static final Shape STATUS = INT;
    private static final Shape SECURITY_RESULT = result(SECURITY);

    private static final Shape WANTED_PROTECTION =
            union(arm(0, VOID), arm(1, PROTECTED), arm(2, sequence(PROTECTED, array(ANY), array(ANY), INT, INT)));
    private static final Shape GIVEN_PROTECTION =
            union(arm(0, VOID), arm(1, PROTECTED), arm(2, sequence(PROTECTED, INT, INT, INT, INT, array(ANY))));

    private static final Shape CLIENT = sequence(CLIENT_ID, INT, INT);

    static final List<Nfs4Operation> SESSIONS = List.of(
            new Nfs4Operation(40, "BACKCHANNEL_CTL", sequence(INT, CALLBACK_SECURITY), STATUS),
            new Nfs4Operation(
                    41,
                    "BIND_CONN_TO_SESSION",
                    sequence(SESSION_ID, INT, BOOL),
                    result(sequence(SESSION_ID, INT, BOOL))),
            new Nfs4Operation(
                    42,
                    "EXCHANGE_ID",
                    sequence(VERIFIER, OPAQUE_1024, INT, WANTED_PROTECTION, IMPLEMENTATION),
                    result(sequence(CLIENT, GIVEN_PROTECTION, HYPER, OPAQUE_1024, OPAQUE_1024, IMPLEMENTATION))),
            new Nfs4Operation(
                    43,
                    "CREATE_SESSION",
                    sequence(CLIENT, CHANNEL, CHANNEL, INT, CALLBACK_SECURITY),
                    result(sequence(SESSION_ID, INT, INT, CHANNEL, CHANNEL))),
            new Nfs4Operation(44, "DESTROY_SESSION", SESSION_ID, STATUS),
            new Nfs4Operation(45, "FREE_STATEID", STATE_ID, STATUS),
            new Nfs4Operation(52, "SECINFO_NO_NAME", INT, SECURITY_RESULT),
            new Nfs4Operation(
                    53, "SEQUENCE", sequence(SESSION_ID, INT, INT, INT, BOOL), result(sequence(SESSION_ID, bytes(20)))),
            new Nfs4Operation(54, "SET_SSV", sequence(ANY, ANY), result(ANY)),
            new Nfs4Operation(55, "TEST_STATEID", array(STATE_ID), result(array(INT))),
            new Nfs4Operation(57, "DESTROY_CLIENTID", CLIENT_ID, STATUS),
            new Nfs4Operation(58, "RECLAIM_COMPLETE", BOOL, STATUS));

    static final List<Nfs4Operation> LAYOUTS_AND_DELEGATIONS = List.of(
            new Nfs4Operation(
                    46,
                    "GET_DIR_DELEGATION",
                    sequence(BOOL, BITMAP, TIME, TIME, BITMAP, BITMAP),
                    result(union(arm(0, sequence(VERIFIER, STATE_ID, BITMAP, BITMAP, BITMAP)), arm(1, BOOL)))),
            new Nfs4Operation(
                    47,
                    "GETDEVICEINFO",
                    sequence(DEVICE_ID, INT, resultBytes(HEAD, true), BITMAP),
                    unionOr(VOID, arm(0, sequence(LAYOUT_BODY, BITMAP)), arm(TOO_SMALL, INT))),
            new Nfs4Operation(
                    48,
                    "GETDEVICELIST",
                    sequence(INT, INT, HYPER, VERIFIER),
                    result(sequence(HYPER, VERIFIER, array(DEVICE_ID), BOOL))),
            new Nfs4Operation(
                    49,
                    "LAYOUTCOMMIT",
                    sequence(OFFSET, LENGTH, BOOL, STATE_ID, optional(OFFSET), optional(TIME), LAYOUT_BODY),
                    result(optional(HYPER))),
            new Nfs4Operation(
                    50,
                    "LAYOUTGET",
                    sequence(BOOL, INT, INT, OFFSET, LENGTH, LENGTH, STATE_ID, resultBytes(HEAD, true)),
                    unionOr(VOID, arm(0, sequence(BOOL, STATE_ID, LAYOUTS)), arm(LAYOUT_TRY_LATER, BOOL))),
            new Nfs4Operation(
                    51,
                    "LAYOUTRETURN",
                    sequence(BOOL, INT, INT, unionOr(VOID, arm(1, sequence(OFFSET, LENGTH, STATE_ID, ANY)))),
                    result(optional(STATE_ID))),
            new Nfs4Operation(
                    56,
                    "WANT_DELEGATION",
                    sequence(INT, union(arm(1, INT), arm(4, VOID), arm(6, VOID))),
                    result(DELEGATION)));

    private Nfs41Operations() {}
}
