// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.util.Arrays;

/**
 * The Write list: chunks that the Responder writes one result each into, in their order. A chunk without segments asks for that
 * result inline (RFC 8166, Section 4.3.2.3). Confined to its owner.
 */
public final class WriteList {
    /** Bytes that a chunk adds to a header beside its segments: discriminator, number of segments. */
    public static final int CHUNK_BYTES = 2 * Words.BYTES;

    private static final int INITIAL_CAPACITY = 2;

    private final Segments segments = new Segments();
    private int[] firsts = new int[INITIAL_CAPACITY];
    private int chunks;

    /** Makes a list without chunks. */
    public WriteList() {}

    /** Number of chunks. */
    public int chunks() {
        return chunks;
    }

    /** Whether there is no chunk. */
    public boolean isEmpty() {
        return chunks == 0;
    }

    /** Begins another chunk, as yet without segments. */
    public void beginChunk() {
        if (chunks == firsts.length) {
            firsts = Arrays.copyOf(firsts, chunks * 2);
        }
        firsts[chunks++] = segments.size();
    }

    /** Appends a segment to the last chunk. */
    public void addSegment(int handle, long length, long offset) {
        if (chunks == 0) {
            throw new IllegalStateException("no chunk was begun");
        }
        segments.add(handle, length, offset);
    }

    /** Index in {@link #segments()} of the chunk's first segment. */
    public int firstSegment(int chunk) {
        if (chunk < 0 || chunk >= chunks) {
            throw new IndexOutOfBoundsException("chunk %d of %d".formatted(chunk, chunks));
        }
        return firsts[chunk];
    }

    /** Number of the chunk's segments. */
    public int segmentCount(int chunk) {
        int first = firstSegment(chunk);
        return (chunk + 1 == chunks ? segments.size() : firsts[chunk + 1]) - first;
    }

    /** The segments of all chunks one after the other. To append, use {@link #addSegment}. */
    public Segments segments() {
        return segments;
    }

    /** Bytes of the chunk: room in a call, bytes written in a reply. */
    public long chunkLength(int chunk) {
        return segments.totalLength(firstSegment(chunk), segmentCount(chunk));
    }

    /** Sets the chunk's lengths to what {@code bytes} bytes fill; returns those that had no room ({@link Segments#fill}). */
    public long fillChunk(int chunk, long bytes) {
        return segments.fill(firstSegment(chunk), segmentCount(chunk), bytes);
    }

    /**
     * Whether this is {@code offered} as a Responder may give it back: the same chunks, each filled as {@link Segments#isReturnOf}
     * says, or without segments. RFC 8166, Section 4.3.2.2 has an unused chunk come back with lengths of 0, RFC 8267, Section 6.4.1
     * with no segments: both are taken.
     */
    public boolean isReturnOf(WriteList offered) {
        if (chunks != offered.chunks) {
            return false;
        }
        for (int chunk = 0; chunk < chunks; chunk++) {
            int count = segmentCount(chunk);
            if (count != 0
                    && (count != offered.segmentCount(chunk)
                            || !segments.isReturnOf(firsts[chunk], offered.segments, offered.firsts[chunk], count))) {
                return false;
            }
        }
        return true;
    }

    /** Becomes a copy of the other. */
    public void copyFrom(WriteList other) {
        segments.copyFrom(other.segments);
        if (firsts.length < other.chunks) {
            firsts = Arrays.copyOf(firsts, other.firsts.length);
        }
        System.arraycopy(other.firsts, 0, firsts, 0, other.chunks);
        chunks = other.chunks;
    }

    /** Forgets all chunks. */
    public void clear() {
        segments.clear();
        chunks = 0;
    }

    /** Each chunk in brackets. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("[");
        for (int chunk = 0; chunk < chunks; chunk++) {
            text.append(chunk > 0 ? " " : "");
            segments.append(text, firsts[chunk], segmentCount(chunk));
        }
        return text.append(']').toString();
    }
}
