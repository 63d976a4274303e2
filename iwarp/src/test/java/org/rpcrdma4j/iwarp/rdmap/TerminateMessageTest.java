// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.ProtocolViolation;
import org.rpcrdma4j.iwarp.error.TerminateError;

class TerminateMessageTest {
    private static final String DDP_HEADER = "414700000000" + "00000002" + "00000001" + "00000000";
    private static final String TAGGED = "c140" + "abcdef10" + "00007f0012350000";
    private static final String UNTAGGED = "4143" + "00000000" + "00000000" + "00000001" + "00000000";
    private static final String READ_DDP = "4141" + "00000000" + "00000001" + "00000001" + "00000000";
    private static final String READ_REQUEST =
            "00000601" + "0000000000000000" + "00001000" + "0000bb00" + "0000000000000010";

    @ParameterizedTest
    @EnumSource(TerminateError.class)
    void survivesTheWire(TerminateError error) throws ProtocolViolation {
        ByteBuffer offender = buffer(READ_DDP + READ_REQUEST);
        TerminateMessage sent = TerminateMessage.of(error, offender, 0, 46);

        TerminateMessage received = decode(encode(sent));

        assertThat(received.error()).isEqualTo(error);
        assertThat(received.layer()).isEqualTo(error.layer());
        assertThat(received.errorType()).isEqualTo(error.type());
        assertThat(received.errorCode()).isEqualTo(error.code());
        assertThat(received.swapped()).isFalse();
        assertThat(received).isEqualTo(sent).hasSameHashCodeAs(sent);
        assertThat(encode(received)).isEqualTo(encode(sent));
    }

    @Test
    void quotesTheReadRequestOnlyWithRemoteProtectionErrors() {
        assertThat(encode(TerminateMessage.of(
                        TerminateError.RDMAP_ACCESS_RIGHTS, buffer(READ_DDP + READ_REQUEST), 0, 46)))
                .isEqualTo(DDP_HEADER + "0102e000" + "002e" + READ_DDP + READ_REQUEST);
        assertThat(encode(TerminateMessage.of(
                        TerminateError.RDMAP_CATASTROPHIC_STREAM, buffer(READ_DDP + READ_REQUEST), 0, 46)))
                .isEqualTo(DDP_HEADER + "0207c000" + "002e" + READ_DDP);
    }

    @Test
    void quotesNoReadRequestForASend() {
        assertThat(encode(TerminateMessage.of(
                        TerminateError.RDMAP_CANNOT_INVALIDATE_OTHERS_STAG, buffer(UNTAGGED + "00".repeat(40)), 0, 58)))
                .isEqualTo(DDP_HEADER + "0109c000" + "003a" + UNTAGGED);
    }

    @Test
    void quotesTheHeaderOfTheOffenderByItsModel() {
        assertThat(encode(TerminateMessage.of(
                        TerminateError.DDP_TAGGED_BASE_OR_BOUNDS, buffer(TAGGED + "00".repeat(8)), 0, 22)))
                .isEqualTo(DDP_HEADER + "1101c000" + "0016" + TAGGED);
        assertThat(encode(TerminateMessage.of(
                        TerminateError.DDP_UNTAGGED_NO_BUFFER, buffer(UNTAGGED + "0000000000"), 0, 23)))
                .isEqualTo(DDP_HEADER + "1202c000" + "0017" + UNTAGGED);
    }

    @ParameterizedTest
    @CsvSource({"RDMAP_LOCAL_CATASTROPHIC, 00000000", "DDP_LOCAL_CATASTROPHIC, 10000000", "MPA_CRC, 20020000"})
    void quotesNothingForLocalErrorsAndMpa(TerminateError error, String control) {
        TerminateMessage message = TerminateMessage.of(error, buffer(UNTAGGED), 0, 18);

        assertThat(encode(message)).isEqualTo(DDP_HEADER + control);
        assertThat(message.ulpduBytes()).isEqualTo(TerminateMessage.MIN_ULPDU_BYTES);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 13, 17})
    void quotesNothingOfASegmentWithoutAWholeHeader(int length) {
        TerminateMessage message =
                TerminateMessage.of(TerminateError.RDMAP_OPERATION_UNSPECIFIED, buffer(UNTAGGED), 0, length);

        assertThat(encode(message)).isEqualTo(DDP_HEADER + "02ff0000");
    }

    @Test
    void writesOnlyItsOwnBytes() {
        ByteBuffer target = ByteBuffer.allocateDirect(100);
        for (int i = 0; i < 100; i++) {
            target.put(i, (byte) 0xFF);
        }
        TerminateMessage message =
                TerminateMessage.of(TerminateError.RDMAP_INVALID_STAG, buffer(READ_DDP + READ_REQUEST), 0, 46);

        assertThat(message.encodeUlpdu(target, 5)).isEqualTo(TerminateMessage.MAX_ULPDU_BYTES);

        assertThat(target.get(4)).isEqualTo((byte) 0xFF);
        assertThat(target.get(75)).isEqualTo((byte) 0xFF);
    }

    @Test
    void readsTheSwappedFormOfSiwWithHeaders() throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + "21020300" + "0005" + UNTAGGED);

        assertThat(message.swapped()).isTrue();
        assertThat(message.error()).isEqualTo(TerminateError.DDP_UNTAGGED_NO_BUFFER);
        assertThat(message.ddpSegmentLength()).isEqualTo(5);
        assertThat(message.ddpHeader()).isEqualTo(HexFormat.of().parseHex(UNTAGGED));
        assertThat(message.otherReading()).isNull();
        assertThat(message.controlWord()).isEqualTo(0x21020300);
        assertThat(encode(message)).isEqualTo(DDP_HEADER + "1202c000" + "0005" + UNTAGGED);
    }

    @Test
    void readsTheSwappedFormOfSiwWithAReadRequest() throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + "10020700" + "002e" + READ_DDP + READ_REQUEST);

        assertThat(message.error()).isEqualTo(TerminateError.RDMAP_ACCESS_RIGHTS);
        assertThat(message.readRequestHeader()).isEqualTo(HexFormat.of().parseHex(READ_REQUEST));
    }

    @ParameterizedTest
    @CsvSource({
        "20020000, false, MPA_CRC, ",
        "02020000, true, MPA_CRC, ",
        "20060000, false, MPA_INSUFFICIENT_IRD, RDMAP_UNEXPECTED_OPCODE",
        "02060000, false, RDMAP_UNEXPECTED_OPCODE, MPA_INSUFFICIENT_IRD",
        "02070000, false, RDMAP_CATASTROPHIC_STREAM, MPA_NO_MATCHING_RTR",
        "00000000, false, RDMAP_LOCAL_CATASTROPHIC, ",
    })
    void keepsBothReadingsOfABareWord(String control, boolean swapped, TerminateError error, TerminateError other)
            throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + control);

        assertThat(message.swapped()).isEqualTo(swapped);
        assertThat(message.error()).isEqualTo(error);
        assertThat(message.otherReading()).isEqualTo(other);
        assertThat(message.toString()).contains(control);
    }

    @Test
    void keepsNumbersNobodyDefined() throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + "fe770000");

        assertThat(message.error()).isNull();
        assertThat(message.layer()).isEqualTo(15);
        assertThat(message.errorType()).isEqualTo(14);
        assertThat(message.errorCode()).isEqualTo(0x77);
        assertThat(message).hasToString("Terminate 15/14/77 (fe770000)");
    }

    @Test
    void ignoresReservedBits() throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + "1202dfff" + "0017" + UNTAGGED);

        assertThat(message.error()).isEqualTo(TerminateError.DDP_UNTAGGED_NO_BUFFER);
        assertThat(message.readRequestHeader()).isNull();
    }

    @Test
    void toleratesZerosWhereNothingIsAnnounced() throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + "20020000" + "00".repeat(48));

        assertThat(message.error()).isEqualTo(TerminateError.MPA_CRC);
        assertThat(message.ddpHeader()).isNull();
    }

    @Test
    void doesNotTrustALengthThatIsNotMarkedValid() throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + "12024000" + "0017" + UNTAGGED);

        assertThat(message.ddpSegmentLength()).isEqualTo(TerminateMessage.NO_LENGTH);
        assertThat(message.ddpHeader()).isEqualTo(HexFormat.of().parseHex(UNTAGGED));
    }

    @Test
    void refusesEveryCutTerminate() {
        String whole = DDP_HEADER + "0102e000" + "002e" + READ_DDP + READ_REQUEST;
        for (int length = 0; length < 70; length++) {
            ByteBuffer cut = buffer(whole.substring(0, length * 2));
            int there = length;

            ProtocolViolation violation =
                    catchThrowableOfType(ProtocolViolation.class, () -> TerminateMessage.decode(cut, 0, there));

            assertThat(violation.terminateError()).isEqualTo(TerminateError.RDMAP_OPERATION_UNSPECIFIED);
            assertThat(violation).hasMessageContaining("found " + length);
        }
    }

    @Test
    void doesNotShareItsHeaders() throws ProtocolViolation {
        TerminateMessage message = decode(DDP_HEADER + "1101c000" + "0016" + TAGGED);
        byte[] header = message.ddpHeader();
        assertThat(header).isNotNull().hasSize(DdpHeader.TAGGED_BYTES);
        if (header != null) {
            header[0] = 0;
        }

        assertThat(message.ddpHeader()).isEqualTo(HexFormat.of().parseHex(TAGGED));
    }

    private static String encode(TerminateMessage message) {
        ByteBuffer target = ByteBuffer.allocate(message.ulpduBytes());
        assertThat(message.encodeUlpdu(target, 0)).isEqualTo(target.capacity());
        return HexFormat.of().formatHex(target.array());
    }

    private static TerminateMessage decode(String hex) throws ProtocolViolation {
        return TerminateMessage.decode(buffer(hex), 0, hex.length() / 2);
    }

    private static ByteBuffer buffer(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }
}
