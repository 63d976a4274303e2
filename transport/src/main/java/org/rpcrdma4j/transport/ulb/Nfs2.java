// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.rpcrdma4j.transport.ulb.Shapes.INT;
import static org.rpcrdma4j.transport.ulb.Shapes.ITEM_BYTES;
import static org.rpcrdma4j.transport.ulb.Shapes.VOID;
import static org.rpcrdma4j.transport.ulb.Shapes.bytes;
import static org.rpcrdma4j.transport.ulb.Shapes.item;
import static org.rpcrdma4j.transport.ulb.Shapes.list;
import static org.rpcrdma4j.transport.ulb.Shapes.opaque;
import static org.rpcrdma4j.transport.ulb.Shapes.result;
import static org.rpcrdma4j.transport.ulb.Shapes.resultBytes;
import static org.rpcrdma4j.transport.ulb.Shapes.sequence;

import java.util.List;
import org.rpcrdma4j.transport.ulb.ProcedureBinding.Procedure;

/** NFS version 2 (RFC 1094). RFC 8267, Section 4: eligible are WRITE's data, SYMLINK's path; READ's data, READLINK's path. */
final class Nfs2 {

    private static final int MAX_DATA = 8192;
    private static final int MAX_PATH = 1024;

    private static final Shape HANDLE = bytes(32);
    private static final Shape FILE_NAME = opaque(255);
    /** Eleven words and three times. */
    private static final Shape ATTRIBUTES = bytes(68);
    /** Four words and two times. */
    private static final Shape SET_ATTRIBUTES = bytes(32);

    private static final Shape ENTRY = sequence(HANDLE, FILE_NAME);
    private static final Shape STATUS = INT;
    private static final Shape ATTRIBUTE_STATUS = result(ATTRIBUTES);
    private static final Shape ENTRY_RESULT = result(sequence(HANDLE, ATTRIBUTES));
    private static final Shape CREATE_ARGUMENTS = sequence(ENTRY, SET_ATTRIBUTES);

    static final List<Procedure> PROCEDURES = List.of(
            new Procedure("NULL", VOID, VOID),
            new Procedure("GETATTR", HANDLE, ATTRIBUTE_STATUS),
            new Procedure("SETATTR", sequence(HANDLE, SET_ATTRIBUTES), ATTRIBUTE_STATUS),
            new Procedure("ROOT", VOID, VOID),
            new Procedure("LOOKUP", ENTRY, ENTRY_RESULT),
            new Procedure("READLINK", HANDLE, result(item(MAX_PATH))),
            new Procedure("READ", sequence(HANDLE, INT, ITEM_BYTES, INT), result(sequence(ATTRIBUTES, item(MAX_DATA)))),
            new Procedure("WRITECACHE", VOID, VOID),
            new Procedure("WRITE", sequence(HANDLE, bytes(12), item(MAX_DATA)), ATTRIBUTE_STATUS),
            new Procedure("CREATE", CREATE_ARGUMENTS, ENTRY_RESULT),
            new Procedure("REMOVE", ENTRY, STATUS),
            new Procedure("RENAME", sequence(ENTRY, ENTRY), STATUS),
            new Procedure("LINK", sequence(HANDLE, ENTRY), STATUS),
            new Procedure("SYMLINK", sequence(ENTRY, item(MAX_PATH), SET_ATTRIBUTES), STATUS),
            new Procedure("MKDIR", CREATE_ARGUMENTS, ENTRY_RESULT),
            new Procedure("RMDIR", ENTRY, STATUS),
            // The count is of the entries; their end and the end of the directory may come on top.
            new Procedure(
                    "READDIR",
                    sequence(HANDLE, bytes(4), resultBytes(8, true)),
                    result(sequence(list(sequence(INT, FILE_NAME, bytes(4))), Shapes.BOOL))),
            new Procedure("STATFS", HANDLE, result(bytes(20))));

    private Nfs2() {}
}
