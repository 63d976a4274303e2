// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The header of a call, read and written (RFC 5531, Sections 8 and 9). */
class CallHeaderTest {

    private static final int XID = 0x11223344;

    private static XdrWriter call(int rpcVersion) {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {XID, 0, rpcVersion, 100003, 3, 7}) {
            out.writeInt(word);
        }
        return out;
    }

    private static void auth(XdrWriter out, int flavor, int length) {
        out.writeInt(flavor);
        out.writeOpaque(new byte[length]);
    }

    private static DecodedCall decode(XdrWriter message) {
        return CallHeader.decode(new XdrReader(MemorySegment.ofArray(message.toByteArray())));
    }

    private static ReplyHeader refusal(XdrWriter message) {
        DecodedCall decoded = decode(message);
        assertThat(decoded).isInstanceOf(DecodedCall.Refused.class);
        return ((DecodedCall.Refused) decoded).reply();
    }

    @Test
    void headerIsWrittenAsTheRfcSays() {
        XdrWriter out = new XdrWriter();
        new CallHeader(XID, 100003, 3, 7, Credential.None.INSTANCE).encode(out);
        assertThat(HexFormat.of().formatHex(out.toByteArray()))
                .isEqualTo("11223344" + "00000000" + "00000002" + "000186a3" + "00000003" + "00000007"
                        + "0000000000000000" + "0000000000000000");
    }

    @Test
    void headerIsReadFromEveryCutAndTheReaderStandsBeforeTheArguments() {
        XdrWriter out = new XdrWriter();
        CallHeader header =
                new CallHeader(XID, 100003, 3, 7, new Credential.Sys(1, "client", 1000, 100, List.of(4, 24, 27)));
        header.encode(out);
        assertThat(out.position()).isEqualTo(header.length());
        out.writeInt(0x5555aaaa);
        byte[] message = out.toByteArray();
        for (int cut = 0; cut <= message.length; cut++) {
            XdrReader in = new XdrReader(Pieces.at(message, cut));
            DecodedCall decoded = CallHeader.decode(in);
            assertThat(decoded).isInstanceOf(CallHeader.class);
            CallHeader read = (CallHeader) decoded;
            assertThat(read.xid()).isEqualTo(XID);
            assertThat(read.program()).isEqualTo(100003);
            assertThat(read.version()).isEqualTo(3);
            assertThat(read.procedure()).isEqualTo(7);
            assertThat(read.credential().flavor()).isEqualTo(1);
            assertThat(read.credential().body().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(header.credential().body().toArray(ValueLayout.JAVA_BYTE));
            assertThat(in.remaining()).isEqualTo(4);
            assertThat(in.position()).isEqualTo(header.length());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 0xffffffff})
    void otherRpcVersionIsDeniedWithLowestAndHighestTwo(int version) {
        assertThat(refusal(call(version))).isEqualTo(new ReplyHeader.RpcMismatch(XID, 2, 2));
    }

    @Test
    void credentialAndVerifierOf400BytesAreTaken() {
        XdrWriter message = call(2);
        auth(message, 2, 400);
        auth(message, 0x7fffffff, 400);
        assertThat(decode(message)).isInstanceOfSatisfying(CallHeader.class, header -> {
            assertThat(header.credential().body().byteSize()).isEqualTo(400);
            assertThat(header.verifier().flavor()).isEqualTo(0x7fffffff);
            assertThat(header.length()).isEqualTo(CallHeader.MAX_LENGTH);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 404, 65535})
    void credentialLongerThan400BytesIsABadCredentialThoughItIsThere(int length) {
        XdrWriter message = call(2);
        auth(message, 1, length);
        auth(message, 0, 0);
        assertThat(refusal(message)).isEqualTo(new ReplyHeader.AuthError(XID, AuthStatus.AUTH_BADCRED));
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 404, 65535})
    void verifierLongerThan400BytesIsABadVerifierThoughItIsThere(int length) {
        XdrWriter message = call(2);
        auth(message, 0, 0);
        auth(message, 0, length);
        assertThat(refusal(message)).isEqualTo(new ReplyHeader.AuthError(XID, AuthStatus.AUTH_BADVERF));
    }

    @Test
    void credentialPastTheEndOfTheMessageIsABadCredential() {
        XdrWriter message = call(2);
        message.writeInt(1);
        message.writeInt(40);
        message.writeInt(0);
        assertThat(refusal(message)).isEqualTo(new ReplyHeader.AuthError(XID, AuthStatus.AUTH_BADCRED));
    }

    @Test
    void headerCutAnywhereBehindItsDirectionIsAnswered() {
        XdrWriter whole = call(2);
        auth(whole, 1, 20);
        auth(whole, 0, 4);
        byte[] message = whole.toByteArray();
        for (int length = 0; length < message.length; length++) {
            DecodedCall decoded = CallHeader.decode(
                    new XdrReader(MemorySegment.ofArray(message).asSlice(0, length)));
            if (length < 8) {
                assertThat(decoded).isInstanceOf(DecodedCall.TooShort.class);
                continue;
            }
            assertThat(decoded).isInstanceOf(DecodedCall.Refused.class);
            ReplyHeader reply = ((DecodedCall.Refused) decoded).reply();
            assertThat(reply.xid()).isEqualTo(XID);
            if (length < 24) {
                assertThat(reply).isEqualTo(ReplyHeader.of(XID, AcceptStatus.GARBAGE_ARGS));
            } else {
                AuthStatus status = length < 52 ? AuthStatus.AUTH_BADCRED : AuthStatus.AUTH_BADVERF;
                assertThat(reply).isEqualTo(new ReplyHeader.AuthError(XID, status));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 0xffffffff})
    void messageOfAnotherDirectionIsNoCall(int direction) {
        XdrWriter out = new XdrWriter();
        out.writeInt(XID);
        out.writeInt(direction);
        out.writeInt(0);
        assertThat(decode(out)).isEqualTo(new DecodedCall.NotACall(XID, direction));
    }

    @Test
    void wildNumbersAreReadAsTheyAre() {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {0xffffffff, 0, 2, 0xffffffff, 0x80000000, 0xfffffffe}) {
            out.writeInt(word);
        }
        auth(out, 0, 0);
        auth(out, 0, 0);
        assertThat(decode(out))
                .isInstanceOfSatisfying(
                        CallHeader.class,
                        header -> assertThat(header.toString())
                                .contains("ffffffff", "4294967295", "2147483648", "4294967294"));
    }

    @Test
    void retransmissionKeepsAllButTheXid() {
        CallHeader header = new CallHeader(1, 2, 3, 4, Credential.None.INSTANCE);
        assertThat(header.withXid(9)).isEqualTo(new CallHeader(9, 2, 3, 4, OpaqueAuth.NONE, OpaqueAuth.NONE));
    }

    @Test
    void longerBodyIsTheCallersMistake() {
        assertThatIllegalArgumentException().isThrownBy(() -> new OpaqueAuth(1, MemorySegment.ofArray(new byte[401])));
    }
}
