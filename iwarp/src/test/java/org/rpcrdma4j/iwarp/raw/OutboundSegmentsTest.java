// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** What the device sends, read by a parser that shares nothing with it: RFC 5041, Sections 4, 5.2 and 5.3; RFC 5044, Section 3. */
class OutboundSegmentsTest {
    private static final int LARGEST = 64_768;

    private Rig rig = new Rig();

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private List<Ulpdu> message(Stream stream) throws IOException {
        List<Ulpdu> segments = new ArrayList<>();
        do {
            segments.add(stream.peer().receive());
        } while (!segments.getLast().isLast());
        return segments;
    }

    private static byte[] payloadOf(List<Ulpdu> segments) {
        return RawPeer.join(segments.stream().map(Ulpdu::payload).toArray(byte[][]::new));
    }

    @ParameterizedTest
    @CsvSource({"software,1048576", "software,64754", "software,64755", "hardware,1048576", "hardware,5"})
    void aWriteIsCutIntoEqualSegmentsWithinTheLimitAndTheLastHasL(String sizing, int size) throws IOException {
        rig.close();
        rig = new Rig(Map.of("fpdu", sizing));
        Stream stream = rig.openNudged(Role.INITIATOR);
        Patch patch = rig.patch(size);
        byte[] content = patch.fillWithPattern();
        MemoryRegion source = rig.region(patch, Access.LOCAL_READ);
        long id = stream.nextId();
        stream.post(new RdmaWriteRequest().id(id).sge(source, 0, size).target(0x0BAD_CAFE, -7));
        List<Ulpdu> segments = message(stream);
        assertThat(payloadOf(segments)).isEqualTo(content);
        long to = -7;
        for (Ulpdu segment : segments) {
            assertThat(segment.length()).isLessThanOrEqualTo(LARGEST);
            assertThat(segment.octets()).startsWith(segment.isLast() ? 0xC1 : 0x81, 0x40, 0x0B, 0xAD, 0xCA, 0xFE);
            assertThat(segment.to()).isEqualTo(to);
            to += segment.payload().length;
        }
        assertThat(segments.stream()
                        .limit(segments.size() - 1)
                        .map(Ulpdu::length)
                        .distinct())
                .hasSizeLessThanOrEqualTo(1);
        assertThat(stream.status(id)).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "2", "3", "4", "5", "64750", "64751", "200000"})
    void aSendIsCutIntoSegmentsOfOneMsnWithTheOffsetOfEachAndZeroPads(int size) throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        byte[] content = new byte[size];
        Arrays.fill(content, (byte) 0xFF);
        rig.send(stream, content);
        rig.send(stream, content);
        for (int msn = 1; msn <= 2; msn++) {
            List<Ulpdu> segments = message(stream);
            assertThat(payloadOf(segments)).isEqualTo(content);
            int offset = 0;
            for (Ulpdu segment : segments) {
                byte[] payload = segment.payload();
                Ulpdu whole = Ulpdu.untagged(Ulpdu.SEND, 0, 0, msn, offset, payload);
                assertThat(segment).isEqualTo(segment.isLast() ? whole : whole.notLast());
                offset += payload.length;
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false,false,3", "true,false,5", "false,true,4", "true,true,6"})
    void eachKindOfSendHasItsOpcodeAndStagField(boolean solicited, boolean invalidates, int opcode) throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        SendRequest send = new SendRequest().id(stream.nextId()).solicited(solicited);
        stream.post(invalidates ? send.invalidate(0x1234_5678) : send);
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.untagged(opcode, invalidates ? 0x1234_5678 : 0, 0, 1, 0));
    }

    @Test
    void aSendThatInvalidatesNothingIsRefusedAtThePost() {
        Stream stream = rig.openNudged(Role.RESPONDER);
        PostResult result = stream.queuePair.postSend(new SendRequest().invalidate(0));
        assertThat(result.isPosted()).isFalse();
    }

    @Test
    void aWriteToNowhereIsRefusedAtThePost() {
        Stream stream = rig.openNudged(Role.RESPONDER);
        MemoryRegion source = rig.region(rig.patch(8), Access.LOCAL_READ);
        PostResult result = stream.queuePair.postSend(new RdmaWriteRequest().sge(source, 0, 8));
        assertThat(result.isPosted()).isFalse();
    }

    @Test
    void aMessageOfTwoToTheThirtyTwoBytesIsRefusedAtThePost() {
        Stream stream = rig.openNudged(Role.RESPONDER);
        MemoryRegion memory = rig.region(rig.patch(8), Access.LOCAL_READ);
        PostResult result = stream.queuePair.postSend(new RdmaWriteRequest()
                .sge(memory, 0, 0x8000_0000L)
                .sge(memory, 0, 0x8000_0000L)
                .target(0x100, 0));
        assertThat(result.isPosted()).isFalse();
    }

    @Test
    void anEmptyWriteIsOneSegment() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        long id = stream.nextId();
        stream.post(new RdmaWriteRequest().id(id).target(1, 2));
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.write(1, 2));
        assertThat(stream.status(id)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void severalPiecesAreGatheredInTheirOrder() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(3000);
        byte[] content = patch.fillWithPattern();
        MemoryRegion source = rig.region(patch, Access.LOCAL_READ);
        stream.post(new RdmaWriteRequest()
                .id(stream.nextId())
                .sge(source, 2000, 1000)
                .sge(source, 0, 0)
                .sge(source, 5, 1)
                .sge(source, 10, 1500)
                .target(0x100, 2));
        assertThat(stream.peer().receive())
                .isEqualTo(Ulpdu.write(
                        0x100,
                        2,
                        RawPeer.join(
                                Arrays.copyOfRange(content, 2000, 3000),
                                Arrays.copyOfRange(content, 5, 6),
                                Arrays.copyOfRange(content, 10, 1510))));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void messagesLeaveInTheOrderPostedAndQueuesCountAlone(Role role) throws IOException {
        Stream stream = rig.openNudged(role);
        MemoryRegion memory = rig.region(rig.patch(64), Access.LOCAL_WRITE);
        List<Integer> expected = new ArrayList<>();
        int reads = 0;
        for (int i = 0; i < 200; i++) {
            int kind = i % 3;
            if (kind == 0) {
                rig.send(stream, (byte) i);
                expected.add(Ulpdu.SEND);
            } else if (kind == 1 || reads == Rig.READS) {
                stream.post(new RdmaWriteRequest()
                        .id(stream.nextId())
                        .sge(memory, 0, 8)
                        .target(0x100, i));
                expected.add(Ulpdu.WRITE);
            } else {
                rig.read(stream, memory);
                expected.add(Ulpdu.READ_REQUEST);
                reads++;
            }
        }
        int sends = 0;
        int requests = 0;
        for (int opcode : expected) {
            Ulpdu segment = stream.peer().receive();
            assertThat(segment.opcode()).isEqualTo(opcode);
            if (opcode == Ulpdu.SEND) {
                assertThat(segment.intAt(Ulpdu.AT_MSN)).isEqualTo(++sends);
            } else if (opcode == Ulpdu.READ_REQUEST) {
                assertThat(segment.intAt(Ulpdu.AT_MSN)).isEqualTo(++requests);
            }
        }
        rig.assertCounts(0, 0, 0);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void whatWasPostedBeforeACloseLeavesBeforeFin(Role role) throws IOException {
        Stream stream = rig.openNudged(role);
        MemoryRegion source = rig.region(rig.patch(100_000), Access.LOCAL_READ);
        for (int i = 0; i < 100; i++) {
            stream.post(new RdmaWriteRequest()
                    .id(stream.nextId())
                    .sge(source, 0, 100_000)
                    .target(0x100, 0));
        }
        long send = rig.send(stream, (byte) 1);
        stream.queuePair.disconnect();
        assertThat(stream.queuePair.postSend(new SendRequest()).isPosted()).isFalse();
        for (int i = 0; i < 100; i++) {
            assertThat(payloadOf(message(stream))).hasSize(100_000);
        }
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
        stream.peer().expectFin();
        assertThat(stream.status(send)).isEqualTo(Status.SUCCESS);
        rig.assertEnded(stream, Cause.LOCAL_CLOSE);
        rig.assertCounts(0, 0, 0);
    }
}
