// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is written, and what never is. */
class HeaderEncoderTest {
    private final TransportHeader header = new TransportHeader();
    private final MemorySegment memory = MemorySegment.ofArray(new byte[64]);

    /** RFC 8166, Section 4.6. */
    @ParameterizedTest
    @EnumSource(names = {"RDMA_MSGP", "RDMA_DONE", "UNKNOWN"})
    void droppedAndUnknownProceduresAreNeverSent(Procedure procedure) {
        header.procedure(procedure);

        assertThatThrownBy(() -> HeaderEncoder.encode(header, memory, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(procedure.name());
        assertThatThrownBy(() -> HeaderEncoder.length(header)).isInstanceOf(IllegalArgumentException.class);
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    /** RFC 8166, Section 4.2.2; an RDMA_ERROR has the version of the message that failed. */
    @Test
    void callsAndRepliesAlwaysHaveVersionOne() {
        header.version(9);
        HeaderEncoder.encode(header, memory, 0);
        assertThat(Words.get(memory, 4)).isOne();

        header.procedure(Procedure.RDMA_ERROR);
        HeaderEncoder.encode(header, memory, 0);
        assertThat(Words.get(memory, 4)).isEqualTo(9);
    }

    @Test
    void theProcedureWordOfAnErrorIsFour() {
        HeaderEncoder.encodeErrorVersion(1, -1, 32, 1, 1, memory, 8);
        assertThat(Words.get(memory, 20)).isEqualTo(4);
        assertThat(Words.get(memory, 12)).isEqualTo(-1);
        HeaderEncoder.encodeErrorChunk(1, 1, 32, memory, 8);
        assertThat(Words.get(memory, 20)).isEqualTo(4);
        assertThat(Words.get(memory, 16)).isEqualTo(32);
    }

    @Test
    void anErrorHasItsBytesAndNoMore() {
        memory.fill((byte) 0x55);
        assertThat(HeaderEncoder.encodeErrorChunk(1, 1, 32, memory, 0)).isEqualTo(20);
        assertThat(Words.get(memory, 20)).isEqualTo(0x55555555);
        assertThat(HeaderEncoder.encodeErrorVersion(1, 2, 32, 1, 1, memory, 0)).isEqualTo(28);
        assertThat(Words.get(memory, 28)).isEqualTo(0x55555555);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0, -1, 28",
        "1, 0, 0, -1, 52",
        "16, 0, 0, -1, 412",
        "0, 1, 1, -1, 52",
        "0, 1, 2, -1, 68",
        "0, 2, 0, -1, 44",
        "0, 0, 0, 1, 48",
        "0, 0, 0, 16, 288",
        "1, 1, 16, 16, 576"
    })
    void lengthsAreKnownBeforehand(int read, int chunks, int write, int reply, int length) {
        assertThat(HeaderEncoder.length(read, chunks, write, reply)).isEqualTo(length);
        for (int i = 0; i < read; i++) {
            header.readList().add(4 * i, i, i, i);
        }
        for (int i = 0; i < chunks; i++) {
            header.writeList().beginChunk();
        }
        for (int i = 0; i < write; i++) {
            header.writeList().addSegment(i, i, i);
        }
        header.replyChunkPresent(reply >= 0);
        for (int i = 0; i < reply; i++) {
            header.replyChunk().add(i, i, i);
        }
        assertThat(Decoding.encode(header)).hasSize(length);
    }

    @Test
    void lengthsThatNoMemoryHasAreRefused() {
        assertThatThrownBy(() -> HeaderEncoder.length(Integer.MAX_VALUE, 0, 0, 0))
                .isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> HeaderEncoder.length(80_000_000, 0, 20_000_000, 0))
                .isInstanceOf(ArithmeticException.class);
    }

    @Test
    void anAbsentReplyChunkIsNotWrittenThoughItHadSegments() {
        header.replyChunkPresent(true);
        header.replyChunk().add(1, 2, 3);
        header.replyChunkPresent(false);

        assertThat(Decoding.encode(header)).hasSize(28);
    }
}
