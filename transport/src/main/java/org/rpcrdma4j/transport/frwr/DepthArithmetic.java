// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

/**
 * The sums behind {@link SendQueuePlan}. Pages: D is what one region takes at most, M what the largest payload takes at most.
 *
 * <p>One request needs, at the most: a region each for what stands before the payload, the payload, and what stands behind it. Each
 * is registered and invalidated: six work requests, and the Send is the seventh. A payload that one region cannot take needs further
 * regions, with a pair of work requests each.
 */
final class DepthArithmetic {

    /** Register and invalidate for head, payload and tail, and the Send. */
    private static final int WORK_REQUESTS_OF_THREE_REGIONS = 7;

    /** Segments of head and tail, besides those of the payload. */
    private static final int HEAD_AND_TAIL = 2;

    /** Most segments in one header, however small the device's regions are. */
    static final int SEGMENT_LIMIT = 16;

    /** Pages that head and tail may add to a payload's: two in front, one behind. */
    static final int EXTRA_PAGES = 3;

    /** Fixed words, and the three lists when they are empty. */
    private static final int EMPTY_HEADER_BYTES = 28;

    private static final int WORD = 4;
    private static final int SEGMENT_BYTES = 4 * WORD;

    /** A segment, its position, and the word that says that there is one more. */
    private static final int READ_SEGMENT_BYTES = 6 * WORD;

    private DepthArithmetic() {}

    /** Pages that a payload of so many bytes takes at most, wherever it begins. */
    static long pagesOf(long bytes, int pageBytes) {
        return (bytes + pageBytes - 2) / pageBytes + 1;
    }

    /** How many regions a run of {@code maxPages} pages takes; rounded up (the seed rounded down). */
    static int regionsFor(long maxPages, int pagesPerRegion) {
        return Math.toIntExact((maxPages + pagesPerRegion - 1) / pagesPerRegion);
    }

    /** Most work requests of one request: 7, and 2 for each region that the payload needs beyond the first. */
    static int workRequestsPerRequest(long maxPages, int pagesPerRegion) {
        int factor = WORK_REQUESTS_OF_THREE_REGIONS;
        for (long left = maxPages - pagesPerRegion; left > 0; left -= pagesPerRegion) {
            factor += 2;
        }
        return factor;
    }

    /** Most segments of one request. */
    static int segmentsPerRequest(long maxPages, int pagesPerRegion) {
        return Math.min(SEGMENT_LIMIT, regionsFor(maxPages, pagesPerRegion) + HEAD_AND_TAIL);
    }

    /**
     * How many requests fit, at most as many as wanted; 0 if not one.
     *
     * @param apart places of the queue that are no request's: they are set aside first, so a clamp never takes them
     */
    static int requestsThatFit(int wanted, int perRequest, int apart, int limit) {
        return Math.min(wanted, Math.max(0, limit - apart) / perRequest);
    }

    /** The largest call header: a full Read list, and a Write chunk or Reply chunk of one segment. */
    static int maxCallHeaderBytes(int segments) {
        return EMPTY_HEADER_BYTES + segments * READ_SEGMENT_BYTES + SEGMENT_BYTES + 2 * WORD;
    }

    /** The largest reply header with one Write chunk or the Reply chunk. */
    static int maxReplyHeaderBytes(int segments) {
        return EMPTY_HEADER_BYTES + segments * SEGMENT_BYTES + 2 * WORD;
    }

    /** The length of a header: segments of the Read list, of the one Write chunk, and of the Reply chunk. */
    static int headerBytes(int readSegments, int writeSegments, int replySegments) {
        int bytes = EMPTY_HEADER_BYTES + readSegments * READ_SEGMENT_BYTES;
        if (writeSegments > 0) {
            bytes += 2 * WORD + writeSegments * SEGMENT_BYTES;
        }
        if (replySegments > 0) {
            bytes += WORD + replySegments * SEGMENT_BYTES;
        }
        return bytes;
    }
}
