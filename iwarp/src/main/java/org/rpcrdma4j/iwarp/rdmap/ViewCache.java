// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Buffers over registered memory, one for each place of a gather list. A place that shows the same memory again, at whatever position,
 * uses its buffer again; so long-lived regions need no new ones. Not safe for several threads.
 */
final class ViewCache {
    private final @Nullable MemorySegment[] shown;
    private final @Nullable ByteBuffer[] buffers;

    ViewCache(int places) {
        shown = new MemorySegment[places];
        buffers = new ByteBuffer[places];
    }

    /** A buffer whose position and limit enclose the bytes. */
    ByteBuffer view(int place, MemorySegment memory, long offset, int length) {
        if (memory.byteSize() > Integer.MAX_VALUE) {
            return memory.asSlice(offset, length).asByteBuffer();
        }
        ByteBuffer buffer = buffers[place];
        if (buffer == null || !isShown(place, memory)) {
            buffer = memory.asByteBuffer();
            buffers[place] = buffer;
            shown[place] = memory;
        }
        return buffer.limit((int) offset + length).position((int) offset);
    }

    /** Two segments are equal if they begin at the same address; memory freed and handed out again differs in scope. */
    private boolean isShown(int place, MemorySegment memory) {
        MemorySegment before = shown[place];
        return before != null
                && before.equals(memory)
                && before.byteSize() == memory.byteSize()
                && before.scope().equals(memory.scope());
    }

    /** Lets go of all memory. */
    void clear() {
        Arrays.fill(shown, null);
        Arrays.fill(buffers, null);
    }
}
