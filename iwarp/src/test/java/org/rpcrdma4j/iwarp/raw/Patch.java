// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/** Memory with a margin on both sides, so that a byte written beside a region shows. */
final class Patch {
    static final byte FILL = 0x5A;

    private static final int MARGIN = 64;

    private final MemorySegment whole;
    private final int size;

    Patch(MemorySegment whole) {
        this.whole = whole;
        this.size = (int) whole.byteSize() - 2 * MARGIN;
        whole.fill(FILL);
    }

    static int bytesFor(int size) {
        return size + 2 * MARGIN;
    }

    MemorySegment memory() {
        return whole.asSlice(MARGIN, size);
    }

    MemoryRegion register(ProtectionDomain domain, Access access) {
        return domain.register(memory(), access);
    }

    /** Fills the middle with a pattern and returns it. */
    byte[] fillWithPattern() {
        byte[] pattern = pattern(size);
        MemorySegment.copy(MemorySegment.ofArray(pattern), 0, whole, MARGIN, size);
        return pattern;
    }

    static byte[] pattern(int size) {
        byte[] pattern = new byte[size];
        for (int i = 0; i < size; i++) {
            pattern[i] = (byte) (i * 31 + (i >> 8));
        }
        return pattern;
    }

    /** Of all bytes. */
    int hash() {
        return Arrays.hashCode(whole.toArray(ValueLayout.JAVA_BYTE));
    }

    void awaitOctet(int offset, int value) {
        MemorySegment middle = memory();
        Waits.until(
                () -> middle.get(ValueLayout.JAVA_BYTE, offset) == (byte) value,
                () -> "octet " + offset + " is " + middle.get(ValueLayout.JAVA_BYTE, offset) + ", not " + value);
    }

    void assertUntouched() {
        assertHolds(0);
    }

    /** These bytes at this offset, and all others as they were. */
    void assertHolds(int offset, byte... content) {
        byte[] expected = new byte[(int) whole.byteSize()];
        Arrays.fill(expected, FILL);
        System.arraycopy(content, 0, expected, MARGIN + offset, content.length);
        assertThat(whole.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
    }
}
