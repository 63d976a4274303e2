// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.zip.CRC32C;

/**
 * By what a call is known when it comes again.
 *
 * <p>RFC 5531, Section 9: the XID serves for that, but clients draw XIDs for themselves, so those of two programs on one host may meet,
 * and after a restart a client may draw one again. So what the call asks for counts too: credential, and length and beginning of the
 * arguments, which are the same in every transmission, by whatever chunks it comes.
 *
 * @param host the client's address without its port: that changes with the connection
 * @param credential checksum of its flavour and body
 * @param argumentBytes length of the arguments, unreduced
 * @param arguments checksum of their first bytes
 */
record CallFingerprint(
        InetAddress host,
        int xid,
        int program,
        int version,
        int procedure,
        int credential,
        long argumentBytes,
        int arguments) {

    /** Of long arguments so many bytes count: more than what stands before the data of a write. */
    static final int CHECKED_BYTES = 512;

    /** Of the call whose arguments come next in the request's reader, which stays where it is. */
    static CallFingerprint of(CallHeader header, RpcRequest request) {
        CRC32C credential = new CRC32C();
        credential.update(header.credential().flavor());
        MemorySegment body = header.credential().body();
        if (body.byteSize() > 0) {
            credential.update(body.asByteBuffer());
        }
        byte[] beginning =
                new byte[(int) Math.min(CHECKED_BYTES, request.arguments().remaining())];
        request.arguments().peek(beginning);
        CRC32C arguments = new CRC32C();
        arguments.update(beginning);
        return new CallFingerprint(
                request.context().remoteAddress().getAddress(),
                header.xid(),
                header.program(),
                header.version(),
                header.procedure(),
                (int) credential.getValue(),
                request.arguments().remaining(),
                (int) arguments.getValue());
    }
}
