// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.error.TerminateError.Attachment;

class TerminateErrorTest {
    @Test
    void hasExactlyTheNumbersOfTheStandards() {
        Map<String, Integer> counts = new TreeMap<>();
        for (TerminateError error : TerminateError.values()) {
            counts.merge(error.layer() + "/" + error.type(), 1, Integer::sum);
            assertThat(TerminateError.from(error.layer(), error.type(), error.code()))
                    .isSameAs(error);
        }

        assertThat(counts).isEqualTo(Map.of("0/0", 1, "0/1", 7, "0/2", 6, "1/0", 1, "1/1", 5, "1/2", 6, "2/0", 7));
    }

    @Test
    void numbersTheErrorsOfDdpAsTheStandardDoes() {
        assertThat(TerminateError.from(1, 0, 0)).isEqualTo(TerminateError.DDP_LOCAL_CATASTROPHIC);
        assertThat(TerminateError.from(1, 1, 0)).isEqualTo(TerminateError.DDP_TAGGED_INVALID_STAG);
        assertThat(TerminateError.from(1, 1, 1)).isEqualTo(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS);
        assertThat(TerminateError.from(1, 1, 2)).isEqualTo(TerminateError.DDP_TAGGED_STAG_OF_OTHER_STREAM);
        assertThat(TerminateError.from(1, 1, 3)).isEqualTo(TerminateError.DDP_TAGGED_TO_WRAP);
        assertThat(TerminateError.from(1, 1, 4)).isEqualTo(TerminateError.DDP_TAGGED_INVALID_VERSION);
        assertThat(TerminateError.from(1, 2, 1)).isEqualTo(TerminateError.DDP_UNTAGGED_INVALID_QN);
        assertThat(TerminateError.from(1, 2, 2)).isEqualTo(TerminateError.DDP_UNTAGGED_NO_BUFFER);
        assertThat(TerminateError.from(1, 2, 3)).isEqualTo(TerminateError.DDP_UNTAGGED_MSN_RANGE);
        assertThat(TerminateError.from(1, 2, 4)).isEqualTo(TerminateError.DDP_UNTAGGED_INVALID_MO);
        assertThat(TerminateError.from(1, 2, 5)).isEqualTo(TerminateError.DDP_UNTAGGED_TOO_LONG);
        assertThat(TerminateError.from(1, 2, 6)).isEqualTo(TerminateError.DDP_UNTAGGED_INVALID_VERSION);
    }

    @Test
    void numbersTheErrorsOfRdmapAsTheStandardDoes() {
        assertThat(TerminateError.from(0, 1, 0)).isEqualTo(TerminateError.RDMAP_INVALID_STAG);
        assertThat(TerminateError.from(0, 1, 1)).isEqualTo(TerminateError.RDMAP_BASE_OR_BOUNDS);
        assertThat(TerminateError.from(0, 1, 2)).isEqualTo(TerminateError.RDMAP_ACCESS_RIGHTS);
        assertThat(TerminateError.from(0, 1, 3)).isEqualTo(TerminateError.RDMAP_STAG_OF_OTHER_STREAM);
        assertThat(TerminateError.from(0, 1, 4)).isEqualTo(TerminateError.RDMAP_TO_WRAP);
        assertThat(TerminateError.from(0, 1, 9)).isEqualTo(TerminateError.RDMAP_CANNOT_INVALIDATE_OTHERS_STAG);
        assertThat(TerminateError.from(0, 2, 5)).isEqualTo(TerminateError.RDMAP_INVALID_VERSION);
        assertThat(TerminateError.from(0, 2, 6)).isEqualTo(TerminateError.RDMAP_UNEXPECTED_OPCODE);
        assertThat(TerminateError.from(0, 2, 7)).isEqualTo(TerminateError.RDMAP_CATASTROPHIC_STREAM);
        assertThat(TerminateError.from(0, 2, 8)).isEqualTo(TerminateError.RDMAP_CATASTROPHIC_GLOBAL);
        assertThat(TerminateError.from(0, 2, 9)).isEqualTo(TerminateError.RDMAP_CANNOT_INVALIDATE);
        assertThat(TerminateError.from(0, 2, 0xFF)).isEqualTo(TerminateError.RDMAP_OPERATION_UNSPECIFIED);
    }

    @Test
    void takesAnyCodeOfALocalCatastrophicError() {
        assertThat(TerminateError.from(0, 0, 0x7E)).isEqualTo(TerminateError.RDMAP_LOCAL_CATASTROPHIC);
    }

    @Test
    void knowsNoOtherNumbers() {
        assertThat(TerminateError.from(0, 2, 2)).isNull();
        assertThat(TerminateError.from(1, 1, 5)).isNull();
        assertThat(TerminateError.from(2, 0, 0)).isNull();
        assertThat(TerminateError.from(3, 0, 0)).isNull();
        assertThat(TerminateError.from(15, 15, 255)).isNull();
    }

    @Test
    void quotesHeadersAsTheMappingOfErrorTypesSays() {
        for (TerminateError error : TerminateError.values()) {
            Attachment expected = switch (error.layer() + "/" + error.type()) {
                case "0/1" -> Attachment.DDP_AND_READ_REQUEST_HEADER;
                case "0/2", "1/1", "1/2" -> Attachment.DDP_HEADER;
                default -> Attachment.NOTHING;
            };
            assertThat(error.attachment()).as(error.toString()).isEqualTo(expected);
        }
    }

    @Test
    void givesMpaErrorsTheirNumbers() {
        assertThat(MpaError.values()).extracting(MpaError::code).containsExactly(1, 2, 3, 4, 5, 6, 7);
        for (MpaError error : MpaError.values()) {
            assertThat(error.terminateError().layer()).isEqualTo(2);
            assertThat(error.terminateError().type()).isZero();
        }
    }

    @Test
    void sendsNoTerminateForALostConnectionOrABadStartupFrame() {
        assertThat(TerminateError.values())
                .filteredOn(error -> !error.isReported())
                .containsExactly(TerminateError.MPA_CONNECTION_LOST, TerminateError.MPA_INVALID_STARTUP_FRAME);
    }

    @Test
    void recordsNoStack() {
        IwarpException violation = new ProtocolViolation(TerminateError.DDP_UNTAGGED_INVALID_MO, "expected 0, found 4");
        violation.addSuppressed(new IllegalStateException());

        assertThat(violation.getStackTrace()).isEmpty();
        assertThat(violation.getSuppressed()).isEmpty();
        assertThat(violation.terminateError()).hasToString("1/2/04 DDP_UNTAGGED_INVALID_MO");
        assertThat(new MpaException(MpaError.CRC_MISMATCH, "").terminateError()).isEqualTo(TerminateError.MPA_CRC);
    }
}
