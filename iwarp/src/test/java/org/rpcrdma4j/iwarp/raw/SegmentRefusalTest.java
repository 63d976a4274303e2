// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** Segments that break a rule by their header alone: RFC 5041, Sections 4, 7.1 and 7.2; RFC 5040, Sections 4.1 and 4.2. */
class SegmentRefusalTest {
    private final Rig rig = new Rig();
    private final Patch patch = rig.patch(64);
    private Stream stream;
    private long receive;

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private void open(Role role) {
        stream = rig.openNudged(role);
        receive = rig.receive(stream, patch);
    }

    private void assertAnswered(Ulpdu offender, Ulpdu terminate) throws IOException {
        stream.peer().send(offender);
        rig.assertEndedBy(stream, terminate);
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @CsvSource({
        // The vector's FPDU and the control word that answers it; 00 in place of headers that are not quoted.
        "INITIATOR,001741430000000000000000000000010000000068656c6c6f000000b890b10c,20020000",
        "RESPONDER,001741430000000000000000000000010000000068656c6c6f000000b890b10c,20020000",
        "INITIATOR,001340430000000000000000000000010000000078000000ad1424d0,1206C000",
        "RESPONDER,001340430000000000000000000000010000000078000000ad1424d0,1206C000",
        "RESPONDER,0013410300000000000000000000000100000000780000004a1a9ac0,0205C000",
        "RESPONDER,0013414f0000000000000000000000010000000078000000c5e24bd0,0206C000",
        "RESPONDER,000c4143000000000000000000000000449086af,20030000",
        "RESPONDER,00134143000000000000000700000001000000007800000022530f1e,1201C000",
        "RESPONDER,0013414000000000000000000000000100000000780000002e7c2f9b,0206C000",
        "RESPONDER,001341430000000000000000000000010000000478000000a944746c,1204C000"
    })
    void theNegativeVectorsAreAnsweredToTheByte(Role role, String fpdu, String word) throws IOException {
        open(role);
        stream.peer().send(HexFormat.of().parseHex(fpdu));
        int control = HexFormat.fromHexDigits(word);
        int length = HexFormat.fromHexDigits(fpdu.substring(0, 4));
        Ulpdu offender = new Ulpdu(HexFormat.of().parseHex(fpdu.substring(4, 4 + 2 * length)));
        rig.assertEndedBy(
                stream,
                (control & 0x4000) == 0
                        ? Ulpdu.terminate(control)
                        : Ulpdu.terminateFor(control >>> 28, control >>> 24 & 15, control >>> 16 & 255, offender));
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
        patch.assertUntouched();
        assertThat(rig.device.counters()).containsEntry("stream.crc_errors", control == 0x2002_0000 ? 1L : 0L);
    }

    static List<Arguments> refusals() {
        List<Arguments> all = new ArrayList<>();
        Ulpdu send = Ulpdu.send(1, (byte) 'x');
        Ulpdu write = Ulpdu.write(0x1234, 0, (byte) 'x');
        Ulpdu read = Ulpdu.readRequest(1, 1, 2, 3, 4, 5);
        for (int version : new int[] {0, 2, 3}) {
            add(all, "DDP version " + version + " of a Send", send.withOctet(0, 0x40 | version), 1, 2, 6);
            add(all, "DDP version " + version + " of a Write", write.withOctet(0, 0xC0 | version), 1, 1, 4);
            add(all, "DDP version " + version + " of a Read", read.withOctet(0, 0x40 | version), 1, 2, 6);
            add(all, "RDMAP version " + version + " of a Send", send.withOctet(1, version << 6 | 3), 0, 2, 5);
            add(all, "RDMAP version " + version + " of a Write", write.withOctet(1, version << 6), 0, 2, 5);
        }
        for (int opcode = 8; opcode < 16; opcode++) {
            add(all, "opcode " + opcode + " untagged", send.withOctet(1, 0x40 | opcode), 0, 2, 6);
            add(all, "opcode " + opcode + " tagged", write.withOctet(1, 0x40 | opcode), 0, 2, 6);
        }
        for (int opcode : new int[] {1, 3, 4, 5, 6, 7}) {
            add(all, "untagged opcode " + opcode + " with T", write.withOctet(1, 0x40 | opcode), 0, 2, 6);
        }
        add(all, "Response without T", send.withOctet(1, 0x42), 0, 2, 6);
        for (int queue : new int[] {1, 2, 3, 7, -1}) {
            add(all, "Send on queue " + queue, send.withInt(Ulpdu.AT_QN, queue), 1, 2, 1);
        }
        for (int queue : new int[] {0, 2, 3}) {
            add(all, "Read Request on queue " + queue, read.withInt(Ulpdu.AT_QN, queue), 1, 2, 1);
        }
        Ulpdu terminate = Ulpdu.terminate(0, 0, 0);
        for (int queue : new int[] {0, 1, 3}) {
            add(all, "Terminate on queue " + queue, terminate.withInt(Ulpdu.AT_QN, queue), 1, 2, 1);
        }
        add(all, "Terminate of DDP version 0", terminate.withOctet(0, 0x40), 1, 2, 6);
        for (int msn : new int[] {0, 2, 3, -1}) {
            add(all, "first Send with MSN " + msn, send.withInt(Ulpdu.AT_MSN, msn), 1, 2, 3);
            add(all, "first Read with MSN " + msn, read.withInt(Ulpdu.AT_MSN, msn), 1, 2, 3);
        }
        for (int offset : new int[] {1, 4, 64, -1}) {
            add(all, "first Send with MO " + offset, send.withInt(Ulpdu.AT_MO, offset), 1, 2, 4);
            add(all, "Read with MO " + offset, read.withInt(Ulpdu.AT_MO, offset), 1, 2, 4);
        }
        add(all, "Read Request with payload", read.withLength(47), 0, 2, 255);
        add(all, "Read Request cut short", read.withLength(45), 0, 2, 255);
        add(all, "Read Request without header", read.withLength(18), 0, 2, 255);
        add(all, "Read Request without L", read.notLast(), 0, 2, 255);
        return all;
    }

    private static void add(List<Arguments> all, String what, Ulpdu offender, int layer, int type, int code) {
        all.add(Arguments.of(what, offender, layer, type, code));
    }

    @ParameterizedTest(name = "{0}: {2}/{3}/{4}")
    @MethodSource("refusals")
    void aSegmentThatBreaksARuleEndsTheStream(String what, Ulpdu offender, int layer, int type, int code)
            throws IOException {
        open(what.length() % 2 == 0 ? Role.RESPONDER : Role.INITIATOR);
        assertAnswered(offender, Ulpdu.terminateFor(layer, type, code, offender));
    }

    @ParameterizedTest
    @CsvSource({"41,0", "41,1", "41,2", "41,17", "c1,1", "c1,2", "c1,13"})
    void aUlpduShorterThanItsHeaderEndsTheStreamWithoutBeingQuoted(String control, int length) throws IOException {
        open(Role.RESPONDER);
        Ulpdu whole = HexFormat.fromHexDigits(control) == 0x41 ? Ulpdu.send(1) : Ulpdu.write(0, 0);
        assertAnswered(whole.withLength(length), Ulpdu.terminate(2, 0, 3));
    }

    @ParameterizedTest
    @ValueSource(ints = {65, 1000})
    void aSendLongerThanTheReceiveIsRefusedAndNothingOfItPlaced(int length) throws IOException {
        open(Role.RESPONDER);
        Ulpdu offender = Ulpdu.send(1, Patch.pattern(length));
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 2, 5, offender));
        assertThat(stream.status(receive)).isEqualTo(Status.LOCAL_LENGTH_ERROR);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 64})
    void aSendThatOutgrowsTheReceiveInALaterSegmentLeavesTheByteBehindUntouched(int excess) throws IOException {
        open(Role.INITIATOR);
        byte[] content = Patch.pattern(60);
        Ulpdu first = Ulpdu.send(1, content).notLast();
        Ulpdu offender = Ulpdu.untagged(Ulpdu.SEND, 0, 0, 1, 60, new byte[4 + excess]);
        stream.peer().send(first, offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 2, 5, offender));
        assertThat(stream.status(receive)).isEqualTo(Status.LOCAL_LENGTH_ERROR);
        patch.assertHolds(0, content);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 64})
    void aSendWithoutAReceiveIsRefused(int length) throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        Ulpdu offender = Ulpdu.send(1, new byte[length]);
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 2, 2, offender));
        assertThat(rig.device.counters()).containsEntry("stream.no_receive", 1L);
    }

    @ParameterizedTest
    @CsvSource({"1", "3", "-1", "0"})
    void theSecondMessageNeedsTheNextMsn(int msn) throws IOException {
        open(Role.RESPONDER);
        Patch other = rig.patch(16);
        long second = rig.receive(stream, other);
        Ulpdu offender = Ulpdu.send(msn, (byte) 2);
        stream.peer().send(Ulpdu.send(1, (byte) 1), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 2, 3, offender));
        assertThat(stream.status(receive)).isEqualTo(Status.SUCCESS);
        assertThat(stream.status(second)).isEqualTo(Status.FLUSHED);
        patch.assertHolds(0, (byte) 1);
        other.assertUntouched();
    }

    @ParameterizedTest
    @CsvSource({"2,5,3", "0,5,3", "1,4,4", "1,6,4", "1,0,4", "1,-1,4"})
    void allSegmentsOfAMessageHaveItsMsnAndTheNextOffset(int msn, int offset, int code) throws IOException {
        open(Role.RESPONDER);
        byte[] content = {1, 2, 3, 4, 5};
        Ulpdu offender = Ulpdu.untagged(Ulpdu.SEND, 0, 0, msn, offset, (byte) 6);
        stream.peer().send(Ulpdu.send(1, content).notLast(), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 2, code, offender));
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
        patch.assertHolds(0, content);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDamagedLengthIsCaughtByTheCrcAndNothingBehindItIsParsed(boolean shorter) throws IOException {
        open(Role.RESPONDER);
        byte[] frame = stream.peer().fpdus(Ulpdu.send(1, Patch.pattern(40)));
        frame[1] += (byte) (shorter ? -8 : 8);
        stream.peer().send(RawPeer.join(frame, stream.peer().fpdus(Ulpdu.send(1, (byte) 1), Ulpdu.send(2))));
        rig.assertEndedBy(stream, Ulpdu.terminate(2, 0, 2));
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @MethodSource("garbage")
    void garbageEndsOneStreamOnly(String what, byte[] octets) throws IOException {
        open(Role.RESPONDER);
        stream.peer().send(octets);
        stream.peer().finish();
        Ulpdu answer = stream.peer().receive();
        assertThat(answer.opcode()).as(what).isEqualTo(Ulpdu.TERMINATE);
        stream.peer().expectFin();
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        rig.assertCounts(1, 1, 0);
        patch.assertUntouched();
    }

    static List<Arguments> garbage() {
        byte[] random = new byte[70_000];
        new Random(1).nextBytes(random);
        return List.of(
                Arguments.of("zeros", new byte[64]),
                Arguments.of("random", random),
                Arguments.of(
                        "a second Request",
                        RawPeer.join("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII), new byte[30_000])),
                Arguments.of("text", "GET / HTTP/1.1\r\n".repeat(2000).getBytes(StandardCharsets.US_ASCII)));
    }
}
