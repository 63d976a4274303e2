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
     * @return the server's verifier
     * @throws RpcException if the call has no results: one kind for each status, and {@link RpcException.BadReply} for what isn't a reply to
     *     this call
     */
    public static OpaqueAuth readHeader(XdrReader reply, int xid) throws RpcException {
        ReplyHeader error;
        try {
            int found = reply.readInt();
            ReplyStatus status = readStatus(reply);
            if (status == ReplyStatus.MSG_ACCEPTED) {
                OpaqueAuth verifier = OpaqueAuth.read(reply);
                AcceptStatus accepted = AcceptStatus.read(reply);
                if (accepted == AcceptStatus.SUCCESS && found == xid) {
                    return verifier;
                }
                error = readAccepted(reply, found, verifier, accepted);
            } else {
                error = readDenied(reply, found);
            }
        } catch (XdrException e) {
            throw new RpcException.BadReply(e.getMessage() == null ? "undecodable" : e.getMessage());
        }
        throw asException(error, xid);
    }

    /** See {@link ReplyHeader#decode}. */
    static ReplyHeader decode(XdrReader in) throws XdrException {
        int xid = in.readInt();
        return readStatus(in) == ReplyStatus.MSG_ACCEPTED
                ? readAccepted(in, xid, OpaqueAuth.read(in), AcceptStatus.read(in))
                : readDenied(in, xid);
    }

    private static ReplyStatus readStatus(XdrReader in) throws XdrException {
        if (MessageType.read(in) != MessageType.REPLY) {
            throw in.bad("direction of a reply", MessageType.CALL.value());
        }
        return ReplyStatus.read(in);
    }

    private static ReplyHeader readAccepted(XdrReader in, int xid, OpaqueAuth verifier, AcceptStatus status)
            throws XdrException {
        boolean mismatch = status == AcceptStatus.PROG_MISMATCH;
        int low = mismatch ? in.readInt() : 0;
        int high = mismatch ? in.readInt() : 0;
        return new ReplyHeader.Accepted(xid, verifier, status, low, high);
    }

    private static ReplyHeader readDenied(XdrReader in, int xid) throws XdrException {
        return switch (RejectStatus.read(in)) {
            case RPC_MISMATCH -> new ReplyHeader.RpcMismatch(xid, in.readInt(), in.readInt());
            case AUTH_ERROR -> new ReplyHeader.AuthError(xid, AuthStatus.read(in));
        };
    }

    private static RpcException asException(ReplyHeader header, int xid) {
        if (header.xid() != xid) {
            return new RpcException.BadReply(
                    "XID " + Integer.toHexString(header.xid()) + " where " + Integer.toHexString(xid) + " was called");
        }
        return switch (header) {
            case ReplyHeader.RpcMismatch mismatch -> new RpcException.RpcMismatch(mismatch.low(), mismatch.high());
            case ReplyHeader.AuthError error -> new RpcException.AuthenticationError(error.status());
            case ReplyHeader.Accepted accepted ->
                switch (accepted.status()) {
                    case SUCCESS -> throw new AssertionError(accepted + " is no error");
                    case PROG_UNAVAIL -> new RpcException.ProgramUnavailable();
                    case PROG_MISMATCH -> new RpcException.ProgramMismatch(accepted.low(), accepted.high());
                    case PROC_UNAVAIL -> new RpcException.ProcedureUnavailable();
                    case GARBAGE_ARGS -> new RpcException.GarbageArguments();
                    case SYSTEM_ERR -> new RpcException.SystemError();
                };
        };
    }
}
