// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** Reads the reply to a call on the client's side. */
public final class ReplyReader {

    private ReplyReader() {}

    /**
     * Reads the header; afterwards the reader stands before the results.
     *
     * <p>RFC 5531, Section 9: a reply belongs to the call with the same XID; each status is an error of its own.
     *
     * @throws RpcException if the call has no results: one kind for each status, and {@link RpcException.BadReply} for what isn't a reply to
     *     this call
     */
    public static ReplyHeader.Accepted readHeader(XdrReader reply, int xid) throws RpcException {
        ReplyHeader header;
        try {
            header = ReplyHeader.decode(reply);
        } catch (XdrException e) {
            throw new RpcException.BadReply(e.getMessage() == null ? "undecodable" : e.getMessage());
        }
        if (header.xid() != xid) {
            throw new RpcException.BadReply(
                    "XID " + Integer.toHexString(header.xid()) + " where " + Integer.toHexString(xid) + " was called");
        }
        return switch (header) {
            case ReplyHeader.Accepted accepted -> requireSuccess(accepted);
            case ReplyHeader.RpcMismatch mismatch ->
                throw new RpcException.RpcMismatch(mismatch.low(), mismatch.high());
            case ReplyHeader.AuthError error -> throw new RpcException.AuthenticationError(error.status());
        };
    }

    private static ReplyHeader.Accepted requireSuccess(ReplyHeader.Accepted accepted) throws RpcException {
        return switch (accepted.status()) {
            case SUCCESS -> accepted;
            case PROG_UNAVAIL -> throw new RpcException.ProgramUnavailable();
            case PROG_MISMATCH -> throw new RpcException.ProgramMismatch(accepted.low(), accepted.high());
            case PROC_UNAVAIL -> throw new RpcException.ProcedureUnavailable();
            case GARBAGE_ARGS -> throw new RpcException.GarbageArguments();
            case SYSTEM_ERR -> throw new RpcException.SystemError();
        };
    }
}
