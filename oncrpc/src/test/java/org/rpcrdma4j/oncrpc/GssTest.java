// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import org.dcache.oncrpc4j.rpc.gss.RpcAuthGss;
import org.junit.jupiter.api.Test;

/** What oncrpc4j's RPCSEC_GSS asks of a received message. There is no Kerberos here, so sessions are not made. */
class GssTest {

    /** RFC 2203, Section 5.3.1: the checksum is over the header from the XID to the credential, which oncrpc4j counts back to. */
    @Test
    void theHeaderOfACallCanBeTakenFromItsBufferWhereverItsPiecesEnd() throws Exception {
        ByteBuffer call = ByteBuffer.allocate(72);
        // XID, CALL, 2, program, version, procedure, flavour, length, body (version, DATA, sequence, none, handle of
        // 4), verifier.
        for (int word : new int[] {0x77, 0, 2, 1, 1, 1, 6, 24, 1, 0, 5, 1, 4, 0x01020304, 6, 4, 9, 0}) {
            call.putInt(word);
        }
        for (int cut = 4; cut < 72; cut += 4) {
            MemorySegment whole = MemorySegment.ofArray(call.array());
            ReceivedXdr xdr = new ReceivedXdr(List.of(whole.asSlice(0, cut), whole.asSlice(cut)));
            xdr.beginDecoding();
            for (int i = 0; i < 7; i++) {
                xdr.xdrDecodeInt();
            }
            RpcAuthGss credential = new RpcAuthGss();
            credential.xdrDecode(xdr);
            assertThat(credential.getSequence()).isEqualTo(5);
            assertThat(credential.getHandle()).containsExactly(1, 2, 3, 4);
            var header = RpcAuthGss.class.getDeclaredMethod("getHeader");
            header.setAccessible(true);
            ByteBuffer covered = (ByteBuffer) header.invoke(credential);
            assertThat(covered).isNotNull();
            byte[] bytes = new byte[covered.remaining()];
            covered.get(bytes);
            assertThat(bytes)
                    .as("cut at %s", cut)
                    .isEqualTo(whole.asSlice(0, 56).toArray(ValueLayout.JAVA_BYTE));
        }
    }
}
