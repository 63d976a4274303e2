// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoFilesTest {
    @ParameterizedTest
    @ValueSource(longs = {1, 7, 8, 9, 1_000_001, 256L << 20, Long.MAX_VALUE / 4})
    void theFilesAreTogetherAsLargeAsIsAsked(long bytes) {
        try (DemoFiles files = new DemoFiles(bytes)) {
            assertThat(files.bytes(0, DemoFiles.COUNT)).isEqualTo(bytes);
            for (int file = 0; file < DemoFiles.COUNT; file++) {
                assertThat(files.length(file)).isNotNegative();
            }
        }
    }

    @Test
    void someLengthIsOddAlsoIfTheSumIsEven() {
        try (DemoFiles files = new DemoFiles(256 << 20)) {
            assertThat(files.length(0) % 2).isOne();
            assertThat(files.length(DemoFiles.COUNT - 1) % 2).isOne();
        }
    }

    @Test
    void everyByteIsComparedWhereverThePiecesBegin() throws Exception {
        try (DemoFiles files = new DemoFiles(64 << 20)) {
            byte[] data = new byte[3 << 20];
            for (int at = 0; at < data.length; at += DemoFiles.BLOCK_BYTES) {
                files.fill(1, 2, at, MemorySegment.ofArray(data).asSlice(at, DemoFiles.BLOCK_BYTES));
            }
            MemorySegment found = MemorySegment.ofArray(data).asSlice(1000);
            files.verify(1, 2, 1000, found, "here");

            byte right = data[2_500_000];
            data[2_500_000] ^= 0x10;
            assertThatThrownBy(() -> files.verify(1, 2, 1000, found, "here"))
                    .isInstanceOf(DataMismatchException.class)
                    .hasMessage("the data differ: file-2 at offset 2500000: expected 0x%02x, found 0x%02x, here"
                            .formatted(right, (byte) (right ^ 0x10)));
        }
    }

    @Test
    void anEarlierRoundIsNotTakenForThisOne() {
        try (DemoFiles files = new DemoFiles(64 << 20)) {
            byte[] data = new byte[DemoFiles.BLOCK_BYTES];
            files.fill(1, 0, 0, MemorySegment.ofArray(data));
            assertThatThrownBy(() -> files.verify(2, 0, 0, MemorySegment.ofArray(data), "here"))
                    .isInstanceOf(DataMismatchException.class);
        }
    }

    @Test
    void aFileOfAnotherLengthIsTold(@TempDir Path directory) throws Exception {
        try (DemoFiles files = new DemoFiles(80)) {
            MemorySegment content = MemorySegment.ofArray(new byte[(int) files.length(7)]);
            files.fill(1, 7, 0, content);
            Path path = directory.resolve("file-7");
            Files.write(path, content.toArray(ValueLayout.JAVA_BYTE));
            files.verifyOnDisk(1, 7, path);

            Files.write(path, new byte[3]);
            assertThatThrownBy(() -> files.verifyOnDisk(1, 7, path))
                    .hasMessage("the data differ: file-7: expected 20 bytes, found 3, in " + path);
        }
    }
}
