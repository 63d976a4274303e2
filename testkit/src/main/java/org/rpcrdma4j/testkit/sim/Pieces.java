// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.rpcrdma4j.verbs.Access;

/** Leased memory as one range: pieces of native memory, one behind the other. */
final class Pieces {

    static final Pieces NONE = new Pieces(List.of());

    private final List<MemorySegment> segments;
    private final long[] starts;
    private final long length;

    Pieces(List<MemorySegment> segments) {
        this.segments = List.copyOf(segments);
        starts = new long[segments.size()];
        long total = 0;
        for (int i = 0; i < starts.length; i++) {
            starts[i] = total;
            total += segments.get(i).byteSize();
        }
        length = total;
    }

    int count() {
        return segments.size();
    }

    long length() {
        return length;
    }

    boolean isAlive() {
        for (MemorySegment segment : segments) {
            if (!segment.scope().isAlive()) {
                return false;
            }
        }
        return true;
    }

    boolean isReadOnly() {
        return segments.stream().anyMatch(MemorySegment::isReadOnly);
    }

    /** Copies out of the range, which must lie inside. */
    void copyOut(long offset, byte[] into, int at, int count) {
        copy(offset, into, at, count, false);
    }

    /** Copies into the range, which must lie inside. */
    void copyIn(long offset, byte[] from, int at, int count) {
        copy(offset, from, at, count, true);
    }

    private void copy(long offset, byte[] array, int at, int count, boolean inward) {
        int done = 0;
        for (int i = 0; i < starts.length && done < count; i++) {
            MemorySegment segment = segments.get(i);
            long within = offset + done - starts[i];
            if (within < segment.byteSize()) {
                int part = (int) Math.min(count - done, segment.byteSize() - within);
                if (inward) {
                    MemorySegment.copy(array, at + done, segment, ValueLayout.JAVA_BYTE, within, part);
                } else {
                    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, within, array, at + done, part);
                }
                done += part;
            }
        }
        if (done < count) {
            throw new IndexOutOfBoundsException(
                    "range " + offset + " + " + count + " leaves pieces of " + length + " bytes");
        }
    }

    /** Refuses what the verbs say cannot be registered. */
    static void check(MemorySegment memory, Access access) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory is on the heap; it must be native: " + memory);
        }
        if (memory.byteSize() == 0) {
            throw new IllegalArgumentException("memory is empty");
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalArgumentException("memory is not alive: " + memory);
        }
        if (!isShared(memory)) {
            throw new IllegalArgumentException("memory is confined to a thread: " + memory);
        }
        if (memory.isReadOnly() && access.isWritable()) {
            throw new IllegalArgumentException("memory is read-only, but the rights include a write: " + access);
        }
    }

    private static boolean isShared(MemorySegment memory) {
        // Any thread that is not the owner of a confined arena will do.
        Thread stranger = Thread.ofVirtual().unstarted(() -> {});
        return memory.isAccessibleBy(stranger);
    }
}
