// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The header of a reply (RFC 5531, Section 9). */
public sealed interface ReplyHeader {

    /** Bytes of the shortest header of a reply whose results follow: without a verifier. */
    int MIN_SUCCESS_LENGTH = 24;

    /** Bytes of the longest header of a reply whose results follow: with the longest verifier. */
    int MAX_SUCCESS_LENGTH = 16 + OpaqueAuth.MAX_LENGTH;

    /** Bytes of the longest header: PROG_MISMATCH with the longest verifier. */
    int MAX_LENGTH = MAX_SUCCESS_LENGTH + 8;

    /** The XID of the call. */
    int xid();

    /**
     * The call was taken.
     *
     * @param low lowest version exported, for PROG_MISMATCH; 0 otherwise
     * @param high highest version exported, for PROG_MISMATCH; 0 otherwise
     */
    record Accepted(int xid, OpaqueAuth verifier, AcceptStatus status, int low, int high) implements ReplyHeader {}

    /** The call was refused for its RPC version. */
    record RpcMismatch(int xid, int low, int high) implements ReplyHeader {}

    /** The call was refused for its caller. */
    record AuthError(int xid, AuthStatus status) implements ReplyHeader {}

    /** A call that was taken, without verifier; for anything but PROG_MISMATCH. */
    static ReplyHeader of(int xid, AcceptStatus status) {
        return new Accepted(xid, OpaqueAuth.NONE, status, 0, 0);
    }

    /** The version isn't exported; lowest and highest that are. */
    static ReplyHeader programMismatch(int xid, int low, int high) {
        return new Accepted(xid, OpaqueAuth.NONE, AcceptStatus.PROG_MISMATCH, low, high);
    }

    /** Writes the header of a call that was taken, without verifier; the results follow. */
    static void encodeSuccess(int xid, XdrWriter out) {
        out.writeInt(xid);
        out.writeInt(MessageType.REPLY.value());
        out.writeInt(ReplyStatus.MSG_ACCEPTED.value());
        OpaqueAuth.NONE.write(out);
        out.writeInt(AcceptStatus.SUCCESS.value());
    }

    /** Writes the header; for SUCCESS the results follow, for others nothing. */
    default void encode(XdrWriter out) {
        out.writeInt(xid());
        out.writeInt(MessageType.REPLY.value());
        switch (this) {
            case Accepted accepted -> {
                out.writeInt(ReplyStatus.MSG_ACCEPTED.value());
                accepted.verifier.write(out);
                out.writeInt(accepted.status.value());
                if (accepted.status == AcceptStatus.PROG_MISMATCH) {
                    out.writeInt(accepted.low);
                    out.writeInt(accepted.high);
                }
            }
            case RpcMismatch mismatch -> {
                out.writeInt(ReplyStatus.MSG_DENIED.value());
                out.writeInt(RejectStatus.RPC_MISMATCH.value());
                out.writeInt(mismatch.low);
                out.writeInt(mismatch.high);
            }
            case AuthError error -> {
                out.writeInt(ReplyStatus.MSG_DENIED.value());
                out.writeInt(RejectStatus.AUTH_ERROR.value());
                out.writeInt(error.status.value());
            }
        }
    }

    /**
     * Reads a header from the start of a message. For SUCCESS the reader then stands before the results.
     *
     * @throws XdrException if the message is cut, is no reply, or has an enum value that isn't declared: a bad reply
     */
    static ReplyHeader decode(XdrReader in) throws XdrException {
        return ReplyReader.decode(in);
    }
}
