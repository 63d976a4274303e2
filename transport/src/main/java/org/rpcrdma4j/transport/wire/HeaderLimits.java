// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

/**
 * The largest header that a receiver takes. RFC 8166 sets no limit, so these are the receiver's own; the decoder holds them before
 * it stores anything. An NFS server must take a Position-Zero chunk beside one Read chunk, one Write chunk, and 16 segments in any
 * of them (RFC 8267, Section 6.4.2).
 *
 * @param maxReadSegments segments of the whole Read list
 * @param maxWriteChunks chunks of the Write list
 * @param maxSegmentsPerChunk segments of one Write chunk, and of the Reply chunk
 * @param allowEmptyWriteChunk whether a Write chunk may have no segment, which asks for that result inline (RFC 8166,
 *     Section 4.3.2.3); Linux refuses it
 */
public record HeaderLimits(
        int maxReadSegments, int maxWriteChunks, int maxSegmentsPerChunk, boolean allowEmptyWriteChunk) {

    /** Checks that no number is negative. */
    public HeaderLimits {
        if (maxReadSegments < 0 || maxWriteChunks < 0 || maxSegmentsPerChunk < 0) {
            throw new IllegalArgumentException("limits of a header must not be negative: %d, %d, %d"
                    .formatted(maxReadSegments, maxWriteChunks, maxSegmentsPerChunk));
        }
    }
}
