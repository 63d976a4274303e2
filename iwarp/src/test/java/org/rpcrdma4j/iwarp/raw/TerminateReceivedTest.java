// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;
import org.rpcrdma4j.verbs.cm.ErrorReport;

/** A Terminate of the peer: RFC 5040, Sections 4.8, 5.4 and 6.2.1. */
class TerminateReceivedTest {
    private final Rig rig = new Rig();
    private final Patch patch = rig.patch(64);
    private Stream stream;

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private ErrorReport assertTakenAndNotAnswered(Ulpdu terminate) throws IOException {
        stream.peer().send(terminate);
        stream.peer().expectFin();
        Disconnect end = rig.assertEnded(stream, Cause.REMOTE_ERROR);
        rig.assertCounts(0, 0, 1);
        assertThat(rig.log.lines()).hasSize(1);
        assertThat(end.report()).isNotNull();
        return end.report();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void itsContentReachesTheProgramAndAllWorkIsFlushed(Role role) throws IOException {
        stream = rig.openNudged(role);
        long receive = rig.receive(stream, patch);
        ErrorReport report = assertTakenAndNotAnswered(Ulpdu.terminateFor(1, 2, 4, Ulpdu.send(1, (byte) 1)));
        assertThat(report.layer()).isEqualTo(1);
        assertThat(report.type()).isEqualTo(2);
        assertThat(report.code()).isEqualTo(4);
        assertThat(report.segmentLength()).isEqualTo(19);
        assertThat(report.segmentHeader()).hasToString("414300000000000000000000000100000000");
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
    }

    @ParameterizedTest
    @CsvSource({
        // control word and what follows, as it is to be understood
        "20020000,'',2,0,2,0,''",
        "2102030000054143000000000000000000000001,00000000,1,2,2,5,414300000000000000000000000100000000",
        "1202c00000174143000000000000000000000001,00000000,1,2,2,23,414300000000000000000000000100000000",
        "0209c000001e414400123477,000000000000000200000000,0,2,9,30,414400123477000000000000000200000000",
        "1101c0000016c140abcdef10,00007f0012350000,1,1,1,22,c140abcdef1000007f0012350000",
        // reserved bits
        "2002001f,'',2,0,2,0,''",
        // siw: layer and type swapped, nothing attached
        "02020000,'',0,2,2,0,''",
        "20050000,'',2,0,5,0,''"
    })
    void bothFormsAreUnderstood(
            String head, String tail, int layer, int type, int code, int segmentLength, String segmentHeader)
            throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        byte[] content = HexFormat.of().parseHex(head + tail);
        Ulpdu terminate = Ulpdu.untagged(Ulpdu.TERMINATE, 0, 2, 1, 0, content);
        ErrorReport report = assertTakenAndNotAnswered(terminate);
        assertThat(report.code()).isEqualTo(code);
        if (!head.equals("02020000")) {
            assertThat(report.layer()).isEqualTo(layer);
            assertThat(report.type()).isEqualTo(type);
        }
        assertThat(report.segmentLength()).isEqualTo(segmentLength);
        assertThat(report.segmentHeader()).hasToString(segmentHeader);
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "2"})
    void theReadThatItNamesFailedWithoutAccessAndAllOthersAreFlushed(int named) throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        MemoryRegion sink = rig.region(patch, Access.LOCAL_WRITE);
        long[] reads = new long[3];
        Ulpdu[] requests = new Ulpdu[3];
        for (int i = 0; i < 3; i++) {
            reads[i] = rig.read(stream, sink);
            requests[i] = stream.peer().receive();
        }
        assertTakenAndNotAnswered(Ulpdu.terminateForRead(0, 1, 2, requests[named]));
        for (int i = 0; i < 3; i++) {
            assertThat(stream.status(reads[i]))
                    .as("Read %d", i)
                    .isEqualTo(i == named ? Status.REMOTE_ACCESS_ERROR : Status.FLUSHED);
        }
    }

    @Test
    void aReadServedInPartIsRecognisedByItsStag() throws IOException {
        stream = rig.openNudged(Role.INITIATOR);
        MemoryRegion sink = rig.region(patch, Access.LOCAL_WRITE);
        long read = rig.read(stream, sink);
        Ulpdu request = stream.peer().receive();
        long to = request.longAt(22);
        stream.peer()
                .send(Ulpdu.response(request.intAt(18), to, Patch.pattern(16)).notLast());
        Ulpdu rest = Ulpdu.readRequest(1, request.intAt(18), to + 16, 48, 0x1100, 0x2210);
        ErrorReport report = assertTakenAndNotAnswered(Ulpdu.terminateForRead(0, 1, 0, rest));
        assertThat(stream.status(read)).isEqualTo(Status.REMOTE_ACCESS_ERROR);
        assertThat(report.readRequestHeader().length()).isEqualTo(28);
        patch.assertHolds(0, Patch.pattern(16));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void itIsSeenThoughNoReceiveIsPostedAndNothingIsSentAfterIt(Role role) throws IOException {
        stream = rig.openNudged(role);
        Patch large = rig.patch(4 << 20);
        MemoryRegion source = rig.region(large, Access.REMOTE_READ);
        stream.peer()
                .send(
                        Ulpdu.terminate(2, 0, 2),
                        Ulpdu.readRequest(1, 1, 2, 4 << 20, source.remoteKey(), source.remoteAddress()),
                        Ulpdu.send(77));
        stream.peer().expectFin();
        rig.assertEnded(stream, Cause.REMOTE_ERROR);
        rig.assertCounts(0, 0, 1);
    }

    @Test
    void anFpduThatHasBegunToLeaveIsFinishedAndNothingFollowsIt() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        int size = 16 << 20;
        MemoryRegion source = rig.region(rig.patch(size), Access.REMOTE_READ);
        stream.peer()
                .send(Ulpdu.readRequest(1, 1, 0, size, source.remoteKey(), source.remoteAddress()), Ulpdu.nothing());
        stream.peer().receive();
        rig.receive(stream, patch);
        stream.peer().send(Ulpdu.terminate(2, 0, 2));
        stream.awaitDisconnect();
        int got = stream.peer().receiveUntilFin();
        assertThat(got).isLessThan(size);
        rig.assertEnded(stream, Cause.REMOTE_ERROR);
    }

    @ParameterizedTest
    @CsvSource({
        "20020000,18",
        "20020000,19",
        "20020000,20",
        "20020000,21", // cut
        "1101c000,22",
        "1101c000,24",
        "1101c000,37",
        "0102e000,42",
        "0102e000,69",
        "21020300,41",
    })
    void oneThatIsCutShortEndsTheStreamWithoutAnAnswer(String word, int length) throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        long receive = rig.receive(stream, patch);
        byte[] rest = new byte[48];
        ByteBuffer.wrap(rest).putShort((short) 46).put((byte) (word.startsWith("11") ? 0xC1 : 0x41));
        assertMalformed(Ulpdu.terminate(HexFormat.fromHexDigits(word), rest).withLength(length));
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
    }

    @ParameterizedTest
    @CsvSource({"10,2", "10,0", "14,4"})
    void oneOfAnotherMsnOrOffsetEndsTheStreamWithoutAnAnswer(int at, int value) throws IOException {
        stream = rig.openNudged(Role.INITIATOR);
        assertMalformed(Ulpdu.terminate(2, 0, 2).withInt(at, value));
    }

    private void assertMalformed(Ulpdu terminate) throws IOException {
        stream.peer().send(terminate);
        stream.peer().expectFin();
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        rig.assertCounts(1, 0, 0);
        assertThat(rig.log.lines()).hasSize(1);
    }

    @Test
    void oneWithADamagedCrcIsACrcError() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        byte[] frame = Ulpdu.terminate(2, 0, 2).fpdu(true);
        frame[20] ^= 1;
        stream.peer().send(frame);
        rig.assertEndedBy(stream, Ulpdu.terminate(2, 0, 2));
    }
}
