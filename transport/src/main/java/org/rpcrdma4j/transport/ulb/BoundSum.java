// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import org.rpcrdma4j.transport.xdr.XdrReader;

/** Adds up the largest results of the procedures or operations of one call. */
final class BoundSum {

    private final ResultLimits limits;
    private long streamBytes;
    private int items;
    private long firstItemBytes;
    private long largestItemBytes;
    private long allItemBytes;
    private boolean exact = true;

    BoundSum(ResultLimits limits, long streamBytes) {
        this.limits = limits;
        this.streamBytes = streamBytes;
    }

    /** Results of this shape, whose arguments the walk has gone through. */
    void add(Shape results, Walk arguments) {
        long largest = results.largest(limits);
        if (largest < Shape.UNBOUNDED) {
            streamBytes += largest;
            exact &= results.isExact();
        } else if (arguments.resultBytes != Walk.NONE) {
            streamBytes += 4 + XdrReader.padded(arguments.resultBytes);
            exact &= arguments.exact;
        } else {
            streamBytes += limits.unknownBytes();
            exact = false;
        }
        long item = results.largestItem(limits);
        if (item != Walk.NONE) {
            addItem(arguments.itemBytes == Walk.NONE ? item : Math.min(item, arguments.itemBytes));
        }
    }

    private void addItem(long bytes) {
        if (items == 0) {
            firstItemBytes = bytes;
        }
        items++;
        largestItemBytes = Math.max(largestItemBytes, bytes);
        allItemBytes += XdrReader.padded(bytes);
    }

    /** Bytes that are no results. */
    void add(long bytes) {
        streamBytes += bytes;
    }

    /** Results about which nothing is known. */
    void addUnknown() {
        streamBytes += limits.unknownBytes();
        exact = false;
    }

    ReplyBound bound() {
        return new ReplyBound(streamBytes, items, firstItemBytes, largestItemBytes, allItemBytes, exact);
    }
}
