// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Whether each Read chunk of a call holds exactly one item that may be reduced.
 *
 * <p>RFC 8166, Section 6.1: a call with a reduced item that is not eligible is not processed. Section 3.4.5.2: the chunk's length is that of
 * the item, or that with its pad; anything else means that the arguments cannot be decoded (Section 4.5.2).
 *
 * <p>One for each request slot; used by one thread at a time.
 */
final class EligibilityCheck implements ItemSink {

    private final Bindings bindings;
    private final CallAssembler call;
    private final XdrReader reader = new XdrReader();
    private int next;
    private boolean fits;

    EligibilityCheck(Bindings bindings, CallAssembler call) {
        this.bindings = bindings;
        this.call = call;
    }

    /** A reader of the slot's message, for decoding its header. */
    XdrReader reader(List<MemorySegment> message) {
        reader.reset(message);
        return reader;
    }

    /**
     * Looks at a call that has Read chunks above position 0.
     *
     * @param arguments over the unreduced stream, behind the header
     */
    boolean passes(CallHeader header, XdrReader arguments) {
        next = 0;
        fits = true;
        try {
            bindings.find(header).argumentItems(header, arguments, this);
        } catch (XdrException e) {
            return false;
        }
        return fits && next == call.items();
    }

    @Override
    public boolean item(long position, long length) {
        if (next < call.items() && call.itemPosition(next) <= position) {
            long chunk = call.itemLength(next);
            fits &= call.itemPosition(next) == position && (chunk == length || chunk == XdrReader.padded(length));
            next++;
        }
        return false;
    }
}
