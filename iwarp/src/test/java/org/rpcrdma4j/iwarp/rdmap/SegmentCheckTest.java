// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.ProtocolViolation;
import org.rpcrdma4j.iwarp.error.TerminateError;

class SegmentCheckTest {
    private static final int AT = 2;

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void acceptsEachOperationInItsPlace(Opcode opcode) throws ProtocolViolation {
        ByteBuffer segment = good(opcode);

        assertThat(SegmentCheck.check(segment, AT, length(opcode))).isEqualTo(opcode);
    }

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void ignoresReservedBitsAndUnusedInvalidateStags(Opcode opcode) throws ProtocolViolation {
        ByteBuffer segment = good(opcode);
        segment.put(AT, (byte) (segment.get(AT) | 0x3C)).put(AT + 1, (byte) (segment.get(AT + 1) | 0x30));
        if (!opcode.isTagged()) {
            segment.putInt(AT + 2, -1);
        }

        assertThat(SegmentCheck.check(segment, AT, length(opcode))).isEqualTo(opcode);
    }

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void refusesAUlpduShorterThanItsHeader(Opcode opcode) {
        ByteBuffer segment = good(opcode);
        int header = opcode.isTagged() ? 14 : 18;

        for (int length = 0; length < header; length++) {
            assertThat(answer(segment, length)).as("length %d", length).isEqualTo(TerminateError.MPA_LENGTH);
        }
    }

    @Test
    void readsNothingBehindAUlpduOfOneByte() {
        ByteBuffer oneByte = ByteBuffer.allocate(1).put(0, (byte) 0x41);

        assertThat(catchThrowableOfType(ProtocolViolation.class, () -> SegmentCheck.check(oneByte, 0, 1))
                        .terminateError())
                .isEqualTo(TerminateError.MPA_LENGTH);
        ByteBuffer empty = ByteBuffer.allocate(0);
        assertThat(catchThrowableOfType(ProtocolViolation.class, () -> SegmentCheck.check(empty, 0, 0))
                        .terminateError())
                .isEqualTo(TerminateError.MPA_LENGTH);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3})
    void refusesOtherDdpVersions(int version) {
        for (Opcode opcode : Opcode.values()) {
            ByteBuffer segment = good(opcode);
            segment.put(AT, (byte) ((segment.get(AT) & 0xFC) | version));

            assertThat(answer(segment, length(opcode)))
                    .isEqualTo(
                            opcode.isTagged()
                                    ? TerminateError.DDP_TAGGED_INVALID_VERSION
                                    : TerminateError.DDP_UNTAGGED_INVALID_VERSION);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3})
    void refusesOtherRdmapVersions(int version) {
        for (Opcode opcode : Opcode.values()) {
            ByteBuffer segment = good(opcode);
            segment.put(AT + 1, (byte) (version << 6 | opcode.code()));

            assertThat(answer(segment, length(opcode))).isEqualTo(TerminateError.RDMAP_INVALID_VERSION);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 9, 10, 11, 12, 13, 14, 15})
    void refusesOperationsItDoesNotSpeak(int code) {
        for (Opcode host : new Opcode[] {Opcode.SEND, Opcode.WRITE}) {
            ByteBuffer segment = good(host).put(AT + 1, (byte) (0x40 | code));

            assertThat(answer(segment, length(host))).isEqualTo(TerminateError.RDMAP_UNEXPECTED_OPCODE);
        }
    }

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void refusesAnOperationInTheOtherBufferModel(Opcode opcode) {
        ByteBuffer segment = good(opcode.isTagged() ? Opcode.SEND : Opcode.WRITE);
        segment.put(AT + 1, (byte) opcode.control());

        assertThat(answer(segment, 20)).isEqualTo(TerminateError.RDMAP_UNEXPECTED_OPCODE);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 7, Integer.MAX_VALUE, Integer.MIN_VALUE, -1})
    void refusesQueuesThatDoNotExist(int queue) {
        assertThat(answer(good(Opcode.SEND).putInt(AT + 6, queue), 20))
                .isEqualTo(TerminateError.DDP_UNTAGGED_INVALID_QN);
    }

    @ParameterizedTest
    @CsvSource({"SEND, 1", "SEND, 2", "SEND_INVALIDATE, 1", "READ_REQUEST, 0", "READ_REQUEST, 2", "TERMINATE, 0"})
    void refusesAnOperationOnAnotherQueue(Opcode opcode, int queue) {
        assertThat(answer(good(opcode).putInt(AT + 6, queue), length(opcode)))
                .isEqualTo(TerminateError.DDP_UNTAGGED_INVALID_QN);
    }

    @ParameterizedTest
    @ValueSource(ints = {18, 45, 47, 64})
    void refusesAReadRequestOfAnotherSize(int length) {
        assertThat(answer(good(Opcode.READ_REQUEST), length)).isEqualTo(TerminateError.RDMAP_OPERATION_UNSPECIFIED);
    }

    @Test
    void refusesAReadRequestInSeveralSegments() {
        assertThat(answer(good(Opcode.READ_REQUEST).put(AT, (byte) 0x01), 46))
                .isEqualTo(TerminateError.RDMAP_OPERATION_UNSPECIFIED);
    }

    @Test
    void looksAtNoStagAndNoOffset() throws ProtocolViolation {
        ByteBuffer segment = good(Opcode.WRITE).putInt(AT + 2, 0).putLong(AT + 6, -1);

        assertThat(SegmentCheck.check(segment, AT, 14)).isEqualTo(Opcode.WRITE);
    }

    @Test
    void knowsWhatEachOperationIs() {
        assertThat(Opcode.values()).filteredOn(Opcode::isTagged).containsExactly(Opcode.WRITE, Opcode.READ_RESPONSE);
        assertThat(Opcode.values()).filteredOn(Opcode::isSend).hasSize(4).doesNotContain(Opcode.TERMINATE);
        assertThat(Opcode.values())
                .filteredOn(Opcode::invalidates)
                .containsExactly(Opcode.SEND_INVALIDATE, Opcode.SEND_SOLICITED_INVALIDATE);
        assertThat(Opcode.values())
                .filteredOn(Opcode::solicits)
                .containsExactly(Opcode.SEND_SOLICITED, Opcode.SEND_SOLICITED_INVALIDATE);
        for (int control = 0; control < 256; control++) {
            Opcode opcode = Opcode.fromControl(control);
            assertThat(opcode == null).isEqualTo((control & 0x08) != 0);
            assertThat(opcode == null || opcode.code() == (control & 0x0F)).isTrue();
            assertThat(RdmapControl.version(control)).isEqualTo(control / 64);
            assertThat(RdmapControl.version((byte) control)).isEqualTo(control / 64);
        }
    }

    @Test
    void readsASizeOf4GiBMinus1() {
        ByteBuffer header = ByteBuffer.allocate(ReadRequestHeader.BYTES);
        ReadRequestHeader.put(header, 0, -1, -1L, 0xFFFFFFFFL, 1, Long.MIN_VALUE);

        assertThat(ReadRequestHeader.size(header, 0)).isEqualTo(0xFFFFFFFFL);
        assertThat(ReadRequestHeader.sinkStag(header, 0)).isEqualTo(-1);
        assertThat(ReadRequestHeader.sourceOffset(header, 0)).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void movesAReadServedInPartToWhereItStands() {
        ByteBuffer header = ByteBuffer.allocate(ReadRequestHeader.BYTES);
        ReadRequestHeader.put(header, 0, 5, 100, 8192, 6, -2048);

        ReadRequestHeader.advance(header, 0, 2048);

        assertThat(ReadRequestHeader.sinkStag(header, 0)).isEqualTo(5);
        assertThat(ReadRequestHeader.sinkOffset(header, 0)).isEqualTo(2148);
        assertThat(ReadRequestHeader.size(header, 0)).isEqualTo(6144);
        assertThat(ReadRequestHeader.sourceStag(header, 0)).isEqualTo(6);
        assertThat(ReadRequestHeader.sourceOffset(header, 0)).isZero();
    }

    private static ByteBuffer good(Opcode opcode) {
        ByteBuffer segment = ByteBuffer.allocate(80);
        if (opcode.isTagged()) {
            DdpHeader.putTagged(segment, AT, true, opcode.control(), 0x100, 0);
        } else {
            DdpHeader.putUntagged(segment, AT, true, opcode.control(), 0, opcode.queueNumber(), 1, 0);
        }
        return segment;
    }

    private static int length(Opcode opcode) {
        return opcode == Opcode.READ_REQUEST ? ReadRequestHeader.ULPDU_BYTES : 22;
    }

    private static TerminateError answer(ByteBuffer segment, int length) {
        return catchThrowableOfType(ProtocolViolation.class, () -> SegmentCheck.check(segment, AT, length))
                .terminateError();
    }
}
