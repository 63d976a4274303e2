// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordInputTest {

    /** Gives its bytes in pieces of a size, so that every cut occurs. */
    private static final class Pieces implements ReadableByteChannel {
        private final byte[] bytes;
        private final int step;
        private int at;

        Pieces(byte[] bytes, int step) {
            this.bytes = bytes;
            this.step = step;
        }

        @Override
        public int read(ByteBuffer into) {
            int length = Math.min(Math.min(step, bytes.length - at), into.remaining());
            into.put(bytes, at, length);
            at += length;
            return length == 0 ? -1 : length;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }

    private static List<String> readAll(RecordInput input) throws IOException {
        List<String> records = new ArrayList<>();
        while (input.next()) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            while (input.left() > 0) {
                MemorySegment piece = MemorySegment.ofArray(new byte[(int) Math.min(5, input.left())]);
                input.read(piece);
                bytes.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE));
            }
            records.add(HexFormat.of().formatHex(bytes.toByteArray()));
        }
        return records;
    }

    @Test
    void recordsAreReadWhateverTheirFragmentsAndWhereverTheStreamIsCut() throws IOException {
        byte[] stream = hex(
                "80000004 01020304" // one fragment
                        + "00000003 0a0b0c  00000000  80000002 0d0e" // three fragments, one of them empty
                        + "80000000" // a record without a byte
                        + "00000001 ff 80000000"); // the last fragment is empty
        for (int step = 1; step <= stream.length; step++) {
            assertThat(readAll(new RecordInput(new Pieces(stream, step), 16)))
                    .as("pieces of %d", step)
                    .containsExactly("01020304", "0a0b0c0d0e", "", "ff");
        }
    }

    @Test
    void aStreamThatEndsWithinARecordIsAnErrorAtEveryByte() {
        byte[] stream = hex("00000003 0a0b0c 80000002 0d0e");
        for (int length = 1; length < stream.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(stream, length);
            assertThatThrownBy(() -> readAll(new RecordInput(new Pieces(cut, 3), 16)))
                    .as("cut at %d", length)
                    .isInstanceOf(EOFException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ffffffff",
                "7fffffff",
                "80000011",
                "00000011",
                "00000010 00000000000000000000000000000000 80000001",
                "00000010 00000000000000000000000000000000 7fffffff"
            })
    void aRecordBeyondTheLimitIsRefusedBeforeItsBytesAreWaitedFor(String stream) {
        assertThatThrownBy(() -> readAll(new RecordInput(new Pieces(hex(stream), 100), 16)))
                .isInstanceOf(RecordException.class)
                .hasMessageContaining("exceeds 16");
    }

    @Test
    void emptyFragmentsWithoutEndAreRefused() {
        assertThatThrownBy(() -> readAll(new RecordInput(new Pieces(new byte[4000], 100), 16)))
                .isInstanceOf(RecordException.class)
                .hasMessageContaining("empty fragments");
    }

    @Test
    void largePiecesGoToNativeMemoryAsTheyAre() throws IOException {
        byte[] stream = new byte[4 + 100_003 + 8];
        ByteBuffer.wrap(stream).putInt(0x8000_0000 | 100_003).putInt(4, 0x01020304);
        ByteBuffer.wrap(stream).putInt(4 + 100_003, 0x8000_0004);
        stream[4 + 100_002] = 77;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(100_003);
            RecordInput input = new RecordInput(new Pieces(stream, 40_000), 100_003);
            assertThat(input.next()).isTrue();
            assertThat(input.read(memory)).isEqualTo(100_003);
            assertThat(input.left()).isZero();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 4);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 100_002)).isEqualTo((byte) 77);
            assertThat(input.next()).isTrue();
            input.skipRest();
            assertThat(input.next()).isFalse();
            assertThat(input.receivedBytes()).isEqualTo(stream.length);
        }
    }
}
