// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The header of a reply: every status its own error, what isn't declared a bad reply (RFC 5531, Section 9). */
class ReplyReaderTest {

    private static final int XID = 0x99887766;

    private static byte[] words(int... words) {
        XdrWriter out = new XdrWriter();
        for (int word : words) {
            out.writeInt(word);
        }
        return out.toByteArray();
    }

    private static byte[] encoded(ReplyHeader header) {
        XdrWriter out = new XdrWriter();
        header.encode(out);
        return out.toByteArray();
    }

    private static RpcException error(byte[] reply) {
        RpcException error = catchThrowableOfType(
                RpcException.class, () -> ReplyReader.readHeader(new XdrReader(MemorySegment.ofArray(reply)), XID));
        assertThat(error).isNotNull();
        return error;
    }

    private static void bad(int... reply) {
        assertThat(error(words(reply))).isInstanceOf(RpcException.BadReply.class);
    }

    @Test
    void headersAreWrittenAsTheRfcSays() {
        HexFormat hex = HexFormat.of();
        assertThat(hex.formatHex(encoded(ReplyHeader.of(XID, AcceptStatus.SUCCESS))))
                .isEqualTo("99887766" + "00000001" + "00000000" + "0000000000000000" + "00000000");
        assertThat(hex.formatHex(encoded(ReplyHeader.programMismatch(XID, 2, 4))))
                .isEqualTo("99887766" + "00000001" + "00000000" + "0000000000000000" + "00000002" + "0000000200000004");
        assertThat(hex.formatHex(encoded(new ReplyHeader.RpcMismatch(XID, 2, 2))))
                .isEqualTo("99887766" + "00000001" + "00000001" + "00000000" + "0000000200000002");
        assertThat(hex.formatHex(encoded(new ReplyHeader.AuthError(XID, AuthStatus.AUTH_TOOWEAK))))
                .isEqualTo("99887766" + "00000001" + "00000001" + "00000001" + "00000005");
    }

    @Test
    void successLeavesTheReaderBeforeTheResultsWithAnyVerifier() throws Exception {
        for (int length : new int[] {0, 1, 400}) {
            XdrWriter out = new XdrWriter();
            OpaqueAuth verifier = new OpaqueAuth(6, MemorySegment.ofArray(new byte[length]));
            new ReplyHeader.Accepted(XID, verifier, AcceptStatus.SUCCESS, 0, 0).encode(out);
            assertThat(out.position()).isLessThanOrEqualTo(ReplyHeader.MAX_SUCCESS_LENGTH);
            out.writeInt(42);
            byte[] reply = out.toByteArray();
            for (int cut = 0; cut <= reply.length; cut += 3) {
                XdrReader in = new XdrReader(Pieces.at(reply, cut));
                assertThat(ReplyReader.readHeader(in, XID).body().byteSize()).isEqualTo(length);
                assertThat(in.readInt()).isEqualTo(42);
            }
        }
    }

    @Test
    void everyAcceptStatusIsItsOwnError() {
        Map<AcceptStatus, Class<? extends RpcException>> errors = Map.of(
                AcceptStatus.PROG_UNAVAIL, RpcException.ProgramUnavailable.class,
                AcceptStatus.PROG_MISMATCH, RpcException.ProgramMismatch.class,
                AcceptStatus.PROC_UNAVAIL, RpcException.ProcedureUnavailable.class,
                AcceptStatus.GARBAGE_ARGS, RpcException.GarbageArguments.class,
                AcceptStatus.SYSTEM_ERR, RpcException.SystemError.class);
        assertThat(errors).hasSize(AcceptStatus.values().length - 1);
        errors.forEach((status, kind) ->
                assertThat(error(encoded(ReplyHeader.of(XID, status)))).isInstanceOf(kind));
    }

    @Test
    void programMismatchTellsTheRange() {
        assertThat(error(encoded(ReplyHeader.programMismatch(XID, 2, 0xffffffff))))
                .isInstanceOfSatisfying(RpcException.ProgramMismatch.class, e -> {
                    assertThat(e.low()).isEqualTo(2);
                    assertThat(e.high()).isEqualTo(0xffffffff);
                })
                .hasMessageContaining("2 to 4294967295");
    }

    @Test
    void rpcMismatchTellsTheRange() {
        assertThat(error(encoded(new ReplyHeader.RpcMismatch(XID, 3, 4))))
                .isInstanceOfSatisfying(RpcException.RpcMismatch.class, e -> {
                    assertThat(e.low()).isEqualTo(3);
                    assertThat(e.high()).isEqualTo(4);
                });
    }

    @ParameterizedTest
    @EnumSource(AuthStatus.class)
    void everyAuthStatusIsTold(AuthStatus status) {
        assertThat(error(encoded(new ReplyHeader.AuthError(XID, status))))
                .isInstanceOfSatisfying(
                        RpcException.AuthenticationError.class,
                        e -> assertThat(e.status()).isEqualTo(status));
    }

    @Test
    void statusOutsideTheListsIsABadReply() {
        bad(XID, 1, 0, 0, 0, 6);
        bad(XID, 1, 0, 0, 0, 0xffffffff);
        bad(XID, 1, 2, 0, 0, 0);
        bad(XID, 1, 1, 2, 0, 0);
        bad(XID, 1, 1, 1, 15);
        bad(XID, 1, 1, 1, 99);
        bad(XID, 2, 0, 0, 0, 0);
    }

    @Test
    void callIsNoReply() {
        bad(XID, 0, 2, 100003, 3, 0, 0, 0, 0, 0);
    }

    @Test
    void replyToAnotherCallIsABadReply() {
        bad(XID + 1, 1, 0, 0, 0, 0);
    }

    @Test
    void verifierOf401BytesIsABadReply() {
        XdrWriter out = new XdrWriter();
        out.writeInt(XID);
        out.writeInt(1);
        out.writeInt(0);
        out.writeInt(6);
        out.writeOpaque(new byte[401]);
        out.writeInt(0);
        assertThat(error(out.toByteArray())).isInstanceOf(RpcException.BadReply.class);
    }

    @Test
    void replyCutAnywhereIsABadReply() {
        for (ReplyHeader header : new ReplyHeader[] {
            ReplyHeader.of(XID, AcceptStatus.SUCCESS),
            ReplyHeader.programMismatch(XID, 2, 4),
            new ReplyHeader.RpcMismatch(XID, 2, 2),
            new ReplyHeader.AuthError(XID, AuthStatus.AUTH_BADCRED)
        }) {
            byte[] whole = encoded(header);
            for (int length = 0; length < whole.length; length++) {
                XdrReader in = new XdrReader(MemorySegment.ofArray(whole).asSlice(0, length));
                assertThatExceptionOfType(RpcException.BadReply.class)
                        .isThrownBy(() -> ReplyReader.readHeader(in, XID));
            }
        }
    }

    @Test
    void headersAreReadAsTheyWereWritten() throws XdrException {
        for (ReplyHeader header : new ReplyHeader[] {
            ReplyHeader.of(XID, AcceptStatus.SYSTEM_ERR),
            ReplyHeader.programMismatch(XID, 2, 4),
            new ReplyHeader.RpcMismatch(XID, 2, 2),
            new ReplyHeader.AuthError(XID, AuthStatus.RPCSEC_GSS_CTXPROBLEM)
        }) {
            assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(encoded(header)))))
                    .isEqualTo(header);
        }
    }
}
