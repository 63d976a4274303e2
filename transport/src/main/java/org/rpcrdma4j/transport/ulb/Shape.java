// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import org.rpcrdma4j.transport.xdr.XdrException;

/**
 * How a piece of XDR is laid out, as far as one must know to pass over it, to find eligible items in it, and to tell its largest size.
 *
 * <p>Shapes are nested as the protocol's types are, never deeper; what repeats in the data (arrays, lists) is a loop. Immutable.
 */
interface Shape {

    /** More than any bounded size; sums of it stay above it and don't overflow. */
    long UNBOUNDED = 1L << 40;

    /** Passes over one, telling the sink of eligible items. */
    void walk(Walk walk) throws XdrException;

    /** Bytes of the smallest one. */
    long smallest();

    /** The same of what NFS gives back: with status 0, if it has one. */
    default long smallestIfOk() {
        return smallest();
    }

    /** Bytes of the largest one without the bytes of eligible items; {@link #UNBOUNDED} or more if nothing bounds it. */
    long largest(ResultLimits limits);

    /** Bytes of the largest eligible item in it; {@link Walk#NONE} if none can be there. */
    default long largestItem(ResultLimits limits) {
        return Walk.NONE;
    }

    /** Whether the protocol alone sets the largest sizes. */
    default boolean isExact() {
        return true;
    }
}
