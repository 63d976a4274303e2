// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.nio.ByteBuffer;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.Crc32c;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;

/** The only FPDU of a connection whose set-up fails behind the Reply. */
final class SetUpTerminate {
    private SetUpTerminate() {}

    /** A whole FPDU. Its CRC is right even where CRCs are not in use; nobody looks at the field then. */
    static ByteBuffer fpdu(TerminateError error) {
        TerminateMessage message = TerminateMessage.of(error);
        int length = message.ulpduBytes();
        ByteBuffer fpdu = ByteBuffer.allocate(Fpdu.fpduBytes(length));
        Fpdu.putLength(fpdu, 0, length);
        message.encodeUlpdu(fpdu, Fpdu.LENGTH_BYTES);
        Crc32c crc = new Crc32c();
        crc.update(fpdu, 0, Fpdu.LENGTH_BYTES + length);
        Fpdu.putTrailer(fpdu, Fpdu.LENGTH_BYTES + length, length, crc);
        return fpdu;
    }
}
