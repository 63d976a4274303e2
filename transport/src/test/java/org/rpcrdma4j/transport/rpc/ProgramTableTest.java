// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.rpcrdma4j.transport.rpc.OddProgram.CARELESS;
import static org.rpcrdma4j.transport.rpc.OddProgram.CHOOSE;
import static org.rpcrdma4j.transport.rpc.OddProgram.ECHO;
import static org.rpcrdma4j.transport.rpc.OddProgram.FAIL;
import static org.rpcrdma4j.transport.rpc.OddProgram.HUGE;
import static org.rpcrdma4j.transport.rpc.OddProgram.PROGRAM;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.transport.rpc.ProgramTable.Outcome;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The answer to every call (RFC 5531, Section 9). */
class ProgramTableTest {

    private static final int XID = 0xcafe0001;

    private final OddProgram odd = new OddProgram();
    private final ProgramTable table = new ProgramTable(List.of(odd.program(Authenticator.NONE_AND_SYS)));

    private static XdrWriter call(int program, int version, int procedure, OpaqueAuth credential, OpaqueAuth verifier) {
        XdrWriter out = new XdrWriter();
        new CallHeader(XID, program, version, procedure, credential, verifier).encode(out);
        return out;
    }

    private static XdrWriter call(int program, int version, int procedure) {
        return call(program, version, procedure, OpaqueAuth.NONE, OpaqueAuth.NONE);
    }

    private static XdrWriter arguments(int procedure, int... words) {
        XdrWriter out = call(PROGRAM, 4, procedure);
        for (int word : words) {
            out.writeInt(word);
        }
        return out;
    }

    private XdrReader reply(XdrWriter call) {
        return reply(table, call);
    }

    private static XdrReader reply(ProgramTable table, XdrWriter call) {
        XdrWriter reply =
                new XdrWriter(MemorySegment.ofArray(new byte[64]), n -> MemorySegment.ofArray(new byte[(int) n]), 4096);
        byte[] message = call.toByteArray();
        Outcome outcome = table.dispatch(new XdrReader(MemorySegment.ofArray(message)), reply);
        assertThat(outcome).isEqualTo(Outcome.REPLIED);
        byte[] answer = reply.toByteArray();
        // The same message gives the same answer wherever it is cut.
        for (int cut = 0; cut <= message.length; cut += 7) {
            reply.reset();
            table.dispatch(new XdrReader(Pieces.at(message, cut)), reply);
            assertThat(reply.toByteArray()).isEqualTo(answer);
        }
        return new XdrReader(MemorySegment.ofArray(answer));
    }

    private void answered(ReplyHeader expected, XdrWriter call) throws XdrException {
        answered(table, expected, call);
    }

    private static void answered(ProgramTable table, ReplyHeader expected, XdrWriter call) throws XdrException {
        XdrReader reply = reply(table, call);
        assertThat(ReplyHeader.decode(reply)).isEqualTo(expected);
        assertThat(reply.remaining()).isZero();
    }

    private static ReplyHeader accepted(AcceptStatus status) {
        return ReplyHeader.of(XID, status);
    }

    private static ReplyHeader denied(AuthStatus status) {
        return new ReplyHeader.AuthError(XID, status);
    }

    @Test
    void callIsExecutedAndItsResultsFollowTheHeader() throws Exception {
        XdrWriter call = call(PROGRAM, 2, ECHO);
        call.writeString("abcde");
        XdrReader reply = reply(call);
        ReplyReader.readHeader(reply, XID);
        assertThat(reply.readString(16)).isEqualTo("abcde");
        reply.requireEnd();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 0, 100003, 0x7fffffff, 0xffffffff})
    void programThatIsNotExportedIsUnavailableWithoutFurtherData(int number) throws XdrException {
        answered(accepted(AcceptStatus.PROG_UNAVAIL), call(number, 4, 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 5, 0x80000000, 0xffffffff})
    void versionThatIsNotExportedGetsTheTrueRangeAlsoInAHole(int version) throws XdrException {
        answered(ReplyHeader.programMismatch(XID, 2, 4), call(PROGRAM, version, 0));
    }

    @Test
    void rangeOfVersionsIsUnsigned() {
        RpcProgram program =
                RpcProgram.program(1, "wild").version(0xffffffff).version(3).build();
        assertThat(program.lowestVersion()).isEqualTo(3);
        assertThat(program.highestVersion()).isEqualTo(0xffffffff);
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 1000, 0x7fffffff, 0x80000000, 0xffffffff})
    void procedureThatIsNotThereIsUnavailable(int procedure) throws XdrException {
        answered(accepted(AcceptStatus.PROC_UNAVAIL), call(PROGRAM, 4, procedure));
    }

    @Test
    void nullProcedureIsThereWithAuthNoneWhateverItsBody() throws XdrException {
        ProgramTable strict = new ProgramTable(List.of(odd.program(Authenticator.SYS_ONLY)));
        for (int length : new int[] {0, 4, 400}) {
            OpaqueAuth none = new OpaqueAuth(0, MemorySegment.ofArray(new byte[length]));
            answered(accepted(AcceptStatus.SUCCESS), call(PROGRAM, 2, 0, none, OpaqueAuth.NONE));
            answered(strict, accepted(AcceptStatus.SUCCESS), call(PROGRAM, 2, 0, none, none));
        }
    }

    @Test
    void xidIsGivenBackAsItCameAndNeverCompared() throws Exception {
        for (int xid : new int[] {0xffffffff, 0, 0, 5, 4, 0x80000000, 4}) {
            XdrWriter call = new XdrWriter();
            new CallHeader(xid, PROGRAM, 4, ECHO, Credential.None.INSTANCE).encode(call);
            call.writeString("x");
            ReplyReader.readHeader(reply(call), xid);
        }
    }

    @Test
    void argumentsThatAreCutAreGarbageAndTheProcedureDoesNotAct() throws XdrException {
        byte[] whole = arguments(ECHO, 16, 1, 2, 3, 4).toByteArray();
        for (int length = whole.length - 20; length < whole.length; length++) {
            XdrWriter cut = new XdrWriter();
            cut.writeBytes(MemorySegment.ofArray(whole).asSlice(0, length));
            answered(accepted(AcceptStatus.GARBAGE_ARGS), cut);
        }
        assertThat(odd.calls).hasValue(0);
    }

    @Test
    void bytesBehindTheArgumentsAreGarbageAndTheProcedureDoesNotAct() throws XdrException {
        for (int more : new int[] {1, 4, 400, 4096}) {
            XdrWriter call = arguments(ECHO, 4, 1);
            call.writeBytes(MemorySegment.ofArray(new byte[more]));
            answered(accepted(AcceptStatus.GARBAGE_ARGS), call);
        }
        assertThat(odd.calls).hasValue(0);
        answered(accepted(AcceptStatus.GARBAGE_ARGS), arguments(0, 1));
    }

    @Test
    void bytesLeftByAProcedureThatDoesNotLookAreGarbage() throws XdrException {
        answered(accepted(AcceptStatus.GARBAGE_ARGS), arguments(CARELESS, 1));
    }

    @Test
    void declaredBoundIsKeptThoughTheBytesAreThere() throws XdrException {
        XdrReader taken = reply(arguments(ECHO, 16, 1, 2, 3, 4));
        assertThat(ReplyHeader.decode(taken)).isEqualTo(accepted(AcceptStatus.SUCCESS));
        answered(accepted(AcceptStatus.GARBAGE_ARGS), arguments(ECHO, 17, 1, 2, 3, 4, 5));
        answered(accepted(AcceptStatus.GARBAGE_ARGS), arguments(ECHO, 0xffffffff, 1));
    }

    @Test
    void badBoolEnumUnionAndCountAreGarbage() throws XdrException {
        assertThat(ReplyHeader.decode(reply(arguments(CHOOSE, 1, 2, 3, 9, 2, 7, 8))))
                .isEqualTo(accepted(AcceptStatus.SUCCESS));
        int executed = odd.calls.get();
        int[][] bad = {
            {2, 2, 5, 0},
            {0xffffffff, 2, 5, 0},
            {1, 0, 5, 0},
            {1, 3, 5, 0},
            {1, 2, 4, 0},
            {1, 2, 0xffffffff, 0},
            {1, 2, 5, 3, 1, 2, 3},
            {1, 2, 5, 0x40000001}
        };
        for (int[] words : bad) {
            answered(accepted(AcceptStatus.GARBAGE_ARGS), arguments(CHOOSE, words));
        }
        assertThat(odd.calls).hasValue(executed);
    }

    @Test
    void failureOfAProcedureIsASystemErrorWithOneLogLineAndTheNextCallIsServed() throws XdrException {
        List<LogRecord> lines = new ArrayList<>();
        Logger logger = Logger.getLogger(ProgramTable.class.getName());
        Handler collector = new Handler() {
            @Override
            public void publish(LogRecord line) {
                lines.add(line);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(collector);
        logger.setUseParentHandlers(false);
        try {
            XdrWriter reply = new XdrWriter();
            byte[] call = arguments(FAIL).toByteArray();
            table.dispatch(new XdrReader(MemorySegment.ofArray(call)), reply);
            assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(reply.toByteArray()))))
                    .isEqualTo(accepted(AcceptStatus.SYSTEM_ERR));
            assertThat(lines).hasSize(1);
            assertThat(lines.getFirst().getMessage()).contains("the disk is gone", "cafe0001");
            for (int i = 1; i < 5000; i++) {
                reply.reset();
                table.dispatch(new XdrReader(MemorySegment.ofArray(call)), reply);
            }
            assertThat(table.failures()).isEqualTo(5000);
            assertThat(lines).hasSizeBetween(100, 110);
        } finally {
            logger.removeHandler(collector);
            logger.setUseParentHandlers(true);
        }
        answered(accepted(AcceptStatus.SUCCESS), arguments(0));
    }

    @Test
    void resultsBeyondTheReplysBoundAreASystemError() throws XdrException {
        answered(accepted(AcceptStatus.SYSTEM_ERR), arguments(HUGE));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 6, 0x7fffffff})
    void unknownFlavourIsRejectedAndTheProcedureDoesNotAct(int flavor) throws XdrException {
        for (int length : new int[] {0, 400}) {
            XdrWriter call = call(
                    PROGRAM, 4, ECHO, new OpaqueAuth(flavor, MemorySegment.ofArray(new byte[length])), OpaqueAuth.NONE);
            call.writeString("x");
            answered(denied(AuthStatus.AUTH_REJECTEDCRED), call);
        }
        assertThat(odd.calls).hasValue(0);
    }

    @Test
    void callerOfARefusedKindIsDenied() throws XdrException {
        ProgramTable strict = new ProgramTable(List.of(odd.program(Authenticator.SYS_ONLY)));
        answered(strict, denied(AuthStatus.AUTH_TOOWEAK), arguments(ECHO, 0));
        XdrWriter call = call(PROGRAM, 4, ECHO, CredentialTest.sys(4, 16, 16), OpaqueAuth.NONE);
        call.writeInt(0);
        assertThat(ReplyHeader.decode(reply(strict, call))).isEqualTo(accepted(AcceptStatus.SUCCESS));
    }

    @Test
    void brokenSysCredentialIsDeniedWithTheRightXid() throws XdrException {
        for (OpaqueAuth bad : List.of(
                CredentialTest.sys(4, 17, 17),
                CredentialTest.sys(4, 1000, 0),
                CredentialTest.sys(4, 0x40000000, 1),
                CredentialTest.sys(4, 0xffffffff, 1),
                CredentialTest.sys(256, 1, 1),
                CredentialTest.sys(4, 1, 2))) {
            answered(denied(AuthStatus.AUTH_BADCRED), call(PROGRAM, 4, 0, bad, OpaqueAuth.NONE));
        }
    }

    @Test
    void sysComesWithTheVerifierNone() throws XdrException {
        OpaqueAuth other = new OpaqueAuth(2, MemorySegment.ofArray(new byte[4]));
        answered(denied(AuthStatus.AUTH_BADVERF), call(PROGRAM, 4, 0, CredentialTest.sys(4, 1, 1), other));
    }

    @Test
    void malformedHeaderIsAnsweredAndNothingElseIsNot() throws XdrException {
        XdrWriter otherRpc = new XdrWriter();
        for (int word : new int[] {XID, 0, 3, 0, 0, 0}) {
            otherRpc.writeInt(word);
        }
        answered(new ReplyHeader.RpcMismatch(XID, 2, 2), otherRpc);

        XdrWriter reply = new XdrWriter();
        for (int direction : new int[] {1, 2, 0xffffffff}) {
            XdrWriter stray = new XdrWriter();
            stray.writeInt(XID);
            stray.writeInt(direction);
            stray.writeHyper(0);
            assertThat(table.dispatch(new XdrReader(MemorySegment.ofArray(stray.toByteArray())), reply))
                    .isEqualTo(Outcome.NOT_A_CALL);
        }
        assertThat(table.dispatch(new XdrReader(MemorySegment.ofArray(new byte[7])), reply))
                .isEqualTo(Outcome.TOO_SHORT);
        assertThat(reply.position()).isZero();
    }

    @Test
    void programsAreDistinctAndHaveAVersion() {
        RpcProgram program = odd.program(Authenticator.NONE_AND_SYS);
        assertThatIllegalArgumentException().isThrownBy(() -> new ProgramTable(List.of(program, program)));
        assertThatIllegalStateException()
                .isThrownBy(() -> RpcProgram.program(1, "empty").build());
    }

    @Test
    void everyMessageWithADirectionOfACallGetsOneWellFormedReply() {
        Seeds.runRandom(5000, random -> {
            byte[] message = arguments(1 + random.nextInt(2), 1, 2, 3, 4, 5, 6).toByteArray();
            for (int i = random.nextInt(6); i >= 0; i--) {
                int at = 8 + random.nextInt(message.length - 8);
                if (at / 4 == 5) {
                    // The procedure stays: one of them fails whatever it is given.
                    continue;
                }
                message[at] = (byte) (random.nextBoolean() ? random.nextInt(8) : random.nextInt());
            }
            int length = random.nextInt(4) == 0 ? random.nextInt(message.length) : message.length;
            byte[] cut = java.util.Arrays.copyOf(message, length);
            XdrWriter reply = new XdrWriter();
            Outcome outcome = table.dispatch(new XdrReader(Pieces.random(cut, random)), reply);
            if (length < 8) {
                assertThat(outcome).isEqualTo(Outcome.TOO_SHORT);
                return;
            }
            assertThat(outcome).isEqualTo(Outcome.REPLIED);
            ReplyHeader header = ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(reply.toByteArray())));
            assertThat(header.xid()).isEqualTo(XID);
            assertThat(reply.position() % 4).isZero();
        });
        assertThat(table.failures()).isZero();
    }

    @Test
    void replyReaderThrowsNothingButRpcExceptions() {
        Seeds.runRandom(5000, random -> {
            byte[] reply = new byte[random.nextInt(48)];
            for (int i = 0; i < reply.length; i++) {
                reply[i] = (byte) (i % 4 == 3 ? random.nextInt(8) : 0);
            }
            try {
                ReplyReader.readHeader(new XdrReader(Pieces.random(reply, random)), 1);
            } catch (RpcException e) {
                assertThat(e.getMessage()).isNotBlank();
            }
        });
    }
}
