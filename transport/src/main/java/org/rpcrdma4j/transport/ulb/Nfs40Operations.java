// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.rpcrdma4j.transport.ulb.Nfs4Types.ADDRESS;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.ATTRIBUTES;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.BITMAP;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.CHANGE;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.CLIENT_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.COMPONENT;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.DELEGATION;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.HANDLE;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LENGTH;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.LOCK_DENIED;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.OFFSET;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.OPAQUE_1024;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.OWNER;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.SECURITY;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.STATE_ID;
import static org.rpcrdma4j.transport.ulb.Nfs4Types.VERIFIER;
import static org.rpcrdma4j.transport.ulb.Shapes.BOOL;
import static org.rpcrdma4j.transport.ulb.Shapes.HYPER;
import static org.rpcrdma4j.transport.ulb.Shapes.INT;
import static org.rpcrdma4j.transport.ulb.Shapes.ITEM_BYTES;
import static org.rpcrdma4j.transport.ulb.Shapes.VOID;
import static org.rpcrdma4j.transport.ulb.Shapes.arm;
import static org.rpcrdma4j.transport.ulb.Shapes.bytes;
import static org.rpcrdma4j.transport.ulb.Shapes.item;
import static org.rpcrdma4j.transport.ulb.Shapes.list;
import static org.rpcrdma4j.transport.ulb.Shapes.pathItem;
import static org.rpcrdma4j.transport.ulb.Shapes.result;
import static org.rpcrdma4j.transport.ulb.Shapes.resultBytes;
import static org.rpcrdma4j.transport.ulb.Shapes.sequence;
import static org.rpcrdma4j.transport.ulb.Shapes.union;
import static org.rpcrdma4j.transport.ulb.Shapes.unionOr;

import java.util.List;

/** The operations 3 to 39 of NFS version 4, those of all minor versions (RFC 7530, with what RFC 8881 adds to their unions). */
final class Nfs40Operations {

    private static final int DENIED = 10010;
    private static final int CLIENT_ID_IN_USE = 10017;
    private static final Shape STATUS = INT;

    /** RFC 8267, Section 6.1: the text of a link is eligible, the rest of CREATE is not. */
    private static final Shape CREATED_TYPE = unionOr(VOID, arm(3, bytes(8)), arm(4, bytes(8)), arm(5, pathItem()));

    private static final Shape CREATE_HOW =
            union(arm(0, ATTRIBUTES), arm(1, ATTRIBUTES), arm(2, VERIFIER), arm(3, sequence(VERIFIER, ATTRIBUTES)));
    private static final Shape OPEN_HOW = unionOr(VOID, arm(1, CREATE_HOW));

    /** By name, after a restart, by delegation, and the three by filehandle (4.1). */
    private static final Shape CLAIM = union(
            arm(0, COMPONENT),
            arm(1, INT),
            arm(2, sequence(STATE_ID, COMPONENT)),
            arm(3, COMPONENT),
            arm(4, VOID),
            arm(5, STATE_ID),
            arm(6, VOID));

    private static final Shape LOCKER =
            union(arm(1, sequence(INT, STATE_ID, INT, OWNER)), arm(0, sequence(STATE_ID, INT)));

    private static final Shape DIRECTORY = sequence(VERIFIER, list(sequence(HYPER, COMPONENT, ATTRIBUTES)), BOOL);

    static final List<Nfs4Operation> FILES = List.of(
            new Nfs4Operation(3, "ACCESS", INT, result(sequence(INT, INT))),
            new Nfs4Operation(4, "CLOSE", sequence(INT, STATE_ID), result(STATE_ID)),
            new Nfs4Operation(5, "COMMIT", sequence(OFFSET, INT), result(VERIFIER)),
            new Nfs4Operation(
                    6, "CREATE", sequence(CREATED_TYPE, COMPONENT, ATTRIBUTES), result(sequence(CHANGE, BITMAP))),
            new Nfs4Operation(7, "DELEGPURGE", CLIENT_ID, STATUS),
            new Nfs4Operation(8, "DELEGRETURN", STATE_ID, STATUS),
            new Nfs4Operation(9, "GETATTR", new Nfs4WantedAttributes(), result(ATTRIBUTES)),
            new Nfs4Operation(10, "GETFH", VOID, result(HANDLE)),
            new Nfs4Operation(11, "LINK", COMPONENT, result(CHANGE)),
            new Nfs4Operation(15, "LOOKUP", COMPONENT, STATUS),
            new Nfs4Operation(16, "LOOKUPP", VOID, STATUS),
            new Nfs4Operation(17, "NVERIFY", ATTRIBUTES, STATUS),
            new Nfs4Operation(19, "OPENATTR", BOOL, STATUS),
            new Nfs4Operation(22, "PUTFH", HANDLE, STATUS),
            new Nfs4Operation(23, "PUTPUBFH", VOID, STATUS),
            new Nfs4Operation(24, "PUTROOTFH", VOID, STATUS),
            new Nfs4Operation(25, "READ", sequence(STATE_ID, OFFSET, ITEM_BYTES), result(sequence(BOOL, item()))),
            new Nfs4Operation(
                    26, "READDIR", sequence(HYPER, VERIFIER, INT, resultBytes(0, true), BITMAP), result(DIRECTORY)),
            new Nfs4Operation(27, "READLINK", VOID, result(pathItem())),
            new Nfs4Operation(28, "REMOVE", COMPONENT, result(CHANGE)),
            new Nfs4Operation(29, "RENAME", sequence(COMPONENT, COMPONENT), result(sequence(CHANGE, CHANGE))),
            new Nfs4Operation(31, "RESTOREFH", VOID, STATUS),
            new Nfs4Operation(32, "SAVEFH", VOID, STATUS),
            new Nfs4Operation(33, "SECINFO", COMPONENT, result(SECURITY)),
            // Whatever the status, the attributes that were set follow.
            new Nfs4Operation(34, "SETATTR", sequence(STATE_ID, ATTRIBUTES), sequence(STATUS, BITMAP)),
            new Nfs4Operation(37, "VERIFY", ATTRIBUTES, STATUS),
            new Nfs4Operation(
                    38, "WRITE", sequence(STATE_ID, OFFSET, INT, item()), result(sequence(INT, INT, VERIFIER))));

    static final List<Nfs4Operation> STATE = List.of(
            new Nfs4Operation(
                    12,
                    "LOCK",
                    sequence(INT, BOOL, OFFSET, LENGTH, LOCKER),
                    unionOr(VOID, arm(0, STATE_ID), arm(DENIED, LOCK_DENIED))),
            new Nfs4Operation(
                    13, "LOCKT", sequence(INT, OFFSET, LENGTH, OWNER), unionOr(VOID, arm(DENIED, LOCK_DENIED))),
            new Nfs4Operation(14, "LOCKU", sequence(INT, INT, STATE_ID, OFFSET, LENGTH), result(STATE_ID)),
            new Nfs4Operation(
                    18,
                    "OPEN",
                    sequence(INT, INT, INT, OWNER, OPEN_HOW, CLAIM),
                    result(sequence(STATE_ID, CHANGE, INT, BITMAP, DELEGATION))),
            new Nfs4Operation(20, "OPEN_CONFIRM", sequence(STATE_ID, INT), result(STATE_ID)),
            new Nfs4Operation(21, "OPEN_DOWNGRADE", sequence(STATE_ID, INT, INT, INT), result(STATE_ID)),
            new Nfs4Operation(30, "RENEW", CLIENT_ID, STATUS),
            new Nfs4Operation(
                    35,
                    "SETCLIENTID",
                    sequence(VERIFIER, OPAQUE_1024, INT, ADDRESS, INT),
                    unionOr(VOID, arm(0, sequence(CLIENT_ID, VERIFIER)), arm(CLIENT_ID_IN_USE, ADDRESS))),
            new Nfs4Operation(36, "SETCLIENTID_CONFIRM", sequence(CLIENT_ID, VERIFIER), STATUS),
            new Nfs4Operation(39, "RELEASE_LOCKOWNER", OWNER, STATUS));

    private Nfs40Operations() {}
}
