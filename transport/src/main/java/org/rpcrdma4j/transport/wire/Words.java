// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** XDR's words in memory: big-endian, at any address. */
final class Words {
    static final int BYTES = 4;

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong DOUBLE_WORD =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Words() {}

    static int get(MemorySegment memory, long offset) {
        return memory.get(WORD, offset);
    }

    static long getLong(MemorySegment memory, long offset) {
        return memory.get(DOUBLE_WORD, offset);
    }

    static void put(MemorySegment memory, long offset, int word) {
        memory.set(WORD, offset, word);
    }

    static void putLong(MemorySegment memory, long offset, long value) {
        memory.set(DOUBLE_WORD, offset, value);
    }
}
