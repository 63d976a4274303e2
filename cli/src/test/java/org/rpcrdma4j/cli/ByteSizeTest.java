// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "4096, 4096",
        "512B, 512",
        "64KiB, 65536",
        "64 kib, 65536",
        "64k, 65536",
        "256MiB, 268435456",
        "2G, 2147483648",
        "9GiB, 9663676416"
    })
    void aNumberWithItsUnitIsThatManyBytes(String text, long bytes) {
        assertThat(ByteSize.parse(text).bytes()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "MiB", "-1", "1.5MiB", "4MB", "12 34", "0", "0GiB", "9999999999GiB", "99999999999999999999"})
    void whatIsNoSizeIsRefusedByName(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ByteSize.parse(text))
                .withMessageContaining("'" + text + "'");
    }

    @ParameterizedTest
    @CsvSource({"1023, 1023 B", "4096, 4 KiB", "268435456, 256 MiB", "3221225472, 3 GiB", "1536, 1536 B"})
    void aSizeIsWrittenWithTheLargestUnitThatLeavesNoRest(long bytes, String text) {
        assertThat(new ByteSize(bytes)).hasToString(text);
    }
}
