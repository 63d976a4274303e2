// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * How large the reply to a call can be.
 *
 * @param streamBytes the largest reply from its XID on, with the longest verifier, without the bytes and pads of eligible items
 * @param items number of results that can be eligible items
 * @param firstItemBytes largest size of the first of them; 0 if there is none
 * @param largestItemBytes largest size of any: what each Write chunk has to hold (RFC 8166, Section 4.3.2.2)
 * @param allItemBytes all of them at their largest, with pads
 * @param exact whether that follows from the protocol; {@code false} if a configured size stands in for what it leaves open
 */
public record ReplyBound(
        long streamBytes, int items, long firstItemBytes, long largestItemBytes, long allItemBytes, boolean exact) {

    /** A reply without eligible items. */
    public static ReplyBound plain(long streamBytes) {
        return new ReplyBound(streamBytes, 0, 0, 0, 0, true);
    }

    /** A reply that isn't bounded by the protocol, without eligible items. */
    public static ReplyBound configured(long streamBytes) {
        return new ReplyBound(streamBytes, 0, 0, 0, 0, false);
    }

    /** A reply with one eligible item. */
    public static ReplyBound withItem(long streamBytes, long itemBytes) {
        return new ReplyBound(streamBytes, 1, itemBytes, itemBytes, XdrReader.padded(itemBytes), true);
    }

    /** The same, where something else bounds the stream: RFC 8267, Section 6.2.2: a session's largest response bounds any reply in it. */
    public ReplyBound atMost(long bytes) {
        return streamBytes <= bytes
                ? this
                : new ReplyBound(bytes, items, firstItemBytes, largestItemBytes, allItemBytes, exact);
    }

    /** Bytes of the largest reply if no Write chunk is offered. */
    public long unreducedBytes() {
        return streamBytes + allItemBytes;
    }

    /**
     * Bytes of the largest reduced reply if one Write chunk is offered that holds the largest item.
     *
     * <p>RFC 8166, Section 4.3.2.1: the chunk takes the first eligible result, further ones stay in the stream.
     */
    public long bytesBesideOneChunk() {
        return streamBytes + allItemBytes - XdrReader.padded(firstItemBytes);
    }
}
