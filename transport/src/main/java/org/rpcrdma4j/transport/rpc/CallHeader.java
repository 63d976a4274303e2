// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * The header of a call (RFC 5531, Section 9). The RPC version is always {@link #RPC_VERSION}: a call with another one becomes {@link
 * DecodedCall.Refused}.
 *
 * <p>XID, program, version and procedure are unsigned. The bodies of credential and verifier are slices of the message that was decoded.
 */
public record CallHeader(int xid, int program, int version, int procedure, OpaqueAuth credential, OpaqueAuth verifier)
        implements DecodedCall {

    /** RFC 5531, Section 9: the only version. */
    public static final int RPC_VERSION = 2;

    /** Bytes of the longest header. */
    public static final int MAX_LENGTH = 24 + 2 * OpaqueAuth.MAX_LENGTH;

    /** A header without a verifier, as AUTH_NONE and AUTH_SYS have it. */
    public CallHeader(int xid, int program, int version, int procedure, Credential credential) {
        this(xid, program, version, procedure, credential.encode(), OpaqueAuth.NONE);
    }

    /** The same call under another XID. */
    public CallHeader withXid(int newXid) {
        return new CallHeader(newXid, program, version, procedure, credential, verifier);
    }

    /** Bytes on the wire. */
    public int length() {
        return 24 + credential.length() + verifier.length();
    }

    /** Writes the header; the arguments follow. */
    public void encode(XdrWriter out) {
        out.writeInt(xid);
        out.writeInt(MessageType.CALL.value());
        out.writeInt(RPC_VERSION);
        out.writeInt(program);
        out.writeInt(version);
        out.writeInt(procedure);
        credential.write(out);
        verifier.write(out);
    }

    /**
     * Reads a header from the start of a message; never throws. If it is a {@code CallHeader}, the reader stands before the arguments.
     *
     * <p>What is wrong with a message whose XID and direction can be read is answered (RFC 5531, Section 9): RPC_MISMATCH for the version,
     * AUTH_BADCRED and AUTH_BADVERF for a credential or verifier that is longer than 400 bytes (Section 8.2) or runs past the end. The RFC
     * leaves open what a header cut elsewhere gets: GARBAGE_ARGS, as for arguments that are cut.
     */
    public static DecodedCall decode(XdrReader in) {
        int xid;
        int direction;
        try {
            xid = in.readInt();
            direction = in.readInt();
        } catch (XdrException e) {
            return new TooShort();
        }
        if (direction != MessageType.CALL.value()) {
            return new NotACall(xid, direction);
        }
        AuthStatus ifCut = AuthStatus.AUTH_OK;
        try {
            if (in.readInt() != RPC_VERSION) {
                return new Refused(new ReplyHeader.RpcMismatch(xid, RPC_VERSION, RPC_VERSION));
            }
            int program = in.readInt();
            int version = in.readInt();
            int procedure = in.readInt();
            ifCut = AuthStatus.AUTH_BADCRED;
            OpaqueAuth credential = OpaqueAuth.read(in);
            ifCut = AuthStatus.AUTH_BADVERF;
            OpaqueAuth verifier = OpaqueAuth.read(in);
            return new CallHeader(xid, program, version, procedure, credential, verifier);
        } catch (XdrException e) {
            return new Refused(
                    ifCut == AuthStatus.AUTH_OK
                            ? ReplyHeader.of(xid, AcceptStatus.GARBAGE_ARGS)
                            : new ReplyHeader.AuthError(xid, ifCut));
        }
    }

    @Override
    public String toString() {
        return "call " + Integer.toHexString(xid) + " of program " + Integer.toUnsignedString(program) + " version "
                + Integer.toUnsignedString(version) + " procedure " + Integer.toUnsignedString(procedure) + " flavour "
                + Integer.toUnsignedString(credential.flavor());
    }
}
