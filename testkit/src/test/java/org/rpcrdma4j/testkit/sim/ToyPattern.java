// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes of the toy protocol. */
final class ToyPattern {

    private static final byte[][] PATTERNS = new byte[ToyEnd.CALLS][];

    static {
        for (int seed = 0; seed < PATTERNS.length; seed++) {
            PATTERNS[seed] = new byte[ToyEnd.DATA];
            for (int i = 0; i < ToyEnd.DATA; i++) {
                PATTERNS[seed][i] = (byte) (seed * 31 + i * 7 + (i >> 8));
            }
        }
    }

    private ToyPattern() {}

    static void fill(MemorySegment target, int seed) {
        MemorySegment.copy(PATTERNS[seed], 0, target, ValueLayout.JAVA_BYTE, 0, (int) target.byteSize());
    }

    static boolean matches(MemorySegment found, int seed) {
        return found.mismatch(MemorySegment.ofArray(PATTERNS[seed]).asSlice(0, found.byteSize())) == -1;
    }

    static void writeHeader(MemorySegment to, int number, boolean writing, int key, long address, int length) {
        to.set(ValueLayout.JAVA_INT_UNALIGNED, 0, number);
        to.set(ValueLayout.JAVA_INT_UNALIGNED, 4, writing ? 1 : 0);
        to.set(ValueLayout.JAVA_INT_UNALIGNED, 8, key);
        to.set(ValueLayout.JAVA_INT_UNALIGNED, 12, length);
        to.set(ValueLayout.JAVA_LONG_UNALIGNED, 16, address);
    }
}
