// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.rpcrdma4j.transport.ulb.Shapes.ANY;
import static org.rpcrdma4j.transport.ulb.Shapes.BOOL;
import static org.rpcrdma4j.transport.ulb.Shapes.HYPER;
import static org.rpcrdma4j.transport.ulb.Shapes.INT;
import static org.rpcrdma4j.transport.ulb.Shapes.ITEM_BYTES;
import static org.rpcrdma4j.transport.ulb.Shapes.VOID;
import static org.rpcrdma4j.transport.ulb.Shapes.arm;
import static org.rpcrdma4j.transport.ulb.Shapes.bytes;
import static org.rpcrdma4j.transport.ulb.Shapes.item;
import static org.rpcrdma4j.transport.ulb.Shapes.list;
import static org.rpcrdma4j.transport.ulb.Shapes.opaque;
import static org.rpcrdma4j.transport.ulb.Shapes.optional;
import static org.rpcrdma4j.transport.ulb.Shapes.pathItem;
import static org.rpcrdma4j.transport.ulb.Shapes.result;
import static org.rpcrdma4j.transport.ulb.Shapes.resultBytes;
import static org.rpcrdma4j.transport.ulb.Shapes.sequence;
import static org.rpcrdma4j.transport.ulb.Shapes.union;

import java.util.List;
import org.rpcrdma4j.transport.ulb.ProcedureBinding.Procedure;

/** NFS version 3 (RFC 1813). RFC 8267, Section 4: eligible are WRITE's data, SYMLINK's path; READ's data, READLINK's path. */
final class Nfs3 {

    private static final Shape HANDLE = opaque(64);
    private static final Shape VERIFIER = HYPER;
    private static final Shape ENTRY = sequence(HANDLE, ANY);
    private static final Shape TIME = bytes(8);

    /** Five words, and size, used, rdev, fsid, fileid and three times of eight bytes. */
    private static final Shape ATTRIBUTES = bytes(84);

    private static final Shape AFTER = optional(ATTRIBUTES);
    /** Size and two times. */
    private static final Shape BEFORE = optional(bytes(24));

    private static final Shape CHANGE = sequence(BEFORE, AFTER);

    private static final Shape SET_TIME = union(arm(0, VOID), arm(1, VOID), arm(2, TIME));
    private static final Shape SET_ATTRIBUTES =
            sequence(optional(INT), optional(INT), optional(INT), optional(HYPER), SET_TIME, SET_TIME);

    private static final Shape CREATE_HOW = union(arm(0, SET_ATTRIBUTES), arm(1, SET_ATTRIBUTES), arm(2, VERIFIER));
    private static final Shape DEVICE = sequence(SET_ATTRIBUTES, bytes(8));
    /** Block 3, character 4, socket 6, pipe 7; the other types of a file are declared too and have nothing. */
    private static final Shape NODE = union(
            arm(1, VOID),
            arm(2, VOID),
            arm(3, DEVICE),
            arm(4, DEVICE),
            arm(5, VOID),
            arm(6, SET_ATTRIBUTES),
            arm(7, SET_ATTRIBUTES));

    private static final Shape CHANGED = result(CHANGE, CHANGE);
    private static final Shape CREATED = result(sequence(optional(HANDLE), AFTER, CHANGE), CHANGE);

    /** The attributes in front and the end of the directory, if a server takes the count for the entries alone. */
    private static final int DIRECTORY_SLACK = 104;

    static final List<Procedure> PROCEDURES = List.of(
            new Procedure("NULL", VOID, VOID),
            new Procedure("GETATTR", HANDLE, result(ATTRIBUTES)),
            new Procedure("SETATTR", sequence(HANDLE, SET_ATTRIBUTES, optional(TIME)), CHANGED),
            new Procedure("LOOKUP", ENTRY, result(sequence(HANDLE, AFTER, AFTER), AFTER)),
            new Procedure("ACCESS", sequence(HANDLE, INT), result(sequence(AFTER, INT), AFTER)),
            new Procedure("READLINK", HANDLE, result(sequence(AFTER, pathItem()), AFTER)),
            new Procedure(
                    "READ", sequence(HANDLE, HYPER, ITEM_BYTES), result(sequence(AFTER, INT, BOOL, item()), AFTER)),
            new Procedure(
                    "WRITE",
                    sequence(HANDLE, HYPER, INT, INT, item()),
                    result(sequence(CHANGE, INT, INT, VERIFIER), CHANGE)),
            new Procedure("CREATE", sequence(ENTRY, CREATE_HOW), CREATED),
            new Procedure("MKDIR", sequence(ENTRY, SET_ATTRIBUTES), CREATED),
            new Procedure("SYMLINK", sequence(ENTRY, SET_ATTRIBUTES, pathItem()), CREATED),
            new Procedure("MKNOD", sequence(ENTRY, NODE), CREATED),
            new Procedure("REMOVE", ENTRY, CHANGED),
            new Procedure("RMDIR", ENTRY, CHANGED),
            new Procedure("RENAME", sequence(ENTRY, ENTRY), result(sequence(CHANGE, CHANGE), sequence(CHANGE, CHANGE))),
            new Procedure("LINK", sequence(HANDLE, ENTRY), result(sequence(AFTER, CHANGE), sequence(AFTER, CHANGE))),
            new Procedure(
                    "READDIR",
                    sequence(HANDLE, HYPER, VERIFIER, resultBytes(DIRECTORY_SLACK, true)),
                    result(sequence(AFTER, VERIFIER, list(sequence(HYPER, ANY, HYPER)), BOOL), AFTER)),
            new Procedure(
                    "READDIRPLUS",
                    sequence(HANDLE, HYPER, VERIFIER, INT, resultBytes(DIRECTORY_SLACK, true)),
                    result(
                            sequence(AFTER, VERIFIER, list(sequence(HYPER, ANY, HYPER, AFTER, optional(HANDLE))), BOOL),
                            AFTER)),
            new Procedure("FSSTAT", HANDLE, result(sequence(AFTER, bytes(52)), AFTER)),
            new Procedure("FSINFO", HANDLE, result(sequence(AFTER, bytes(48)), AFTER)),
            new Procedure("PATHCONF", HANDLE, result(sequence(AFTER, INT, INT, BOOL, BOOL, BOOL, BOOL), AFTER)),
            new Procedure("COMMIT", sequence(HANDLE, HYPER, INT), result(sequence(CHANGE, VERIFIER), CHANGE)));

    private Nfs3() {}
}
