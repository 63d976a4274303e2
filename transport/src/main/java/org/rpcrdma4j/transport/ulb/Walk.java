// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import org.rpcrdma4j.transport.xdr.XdrReader;

/** One way through arguments or results: where to read, whom to tell, and the arguments met that bound the results. */
final class Walk {

    /** No argument with a bound was met. */
    static final long NONE = -1;

    final XdrReader in;
    final ItemSink sink;
    final ResultLimits limits;

    /** Largest eligible result, as an argument says it. */
    long itemBytes = NONE;
    /** Largest results without status word, as an argument says it. */
    long resultBytes = NONE;
    /** Whether the last one really binds the server. */
    boolean exact = true;

    Walk(XdrReader in, ItemSink sink, ResultLimits limits) {
        this.in = in;
        this.sink = sink;
        this.limits = limits;
    }

    /** Begins with the next operation. */
    void next() {
        itemBytes = NONE;
        resultBytes = NONE;
        exact = true;
    }
}
