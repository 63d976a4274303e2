// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** Takes the eligible items of a message as they are found, in the order of the stream. */
@FunctionalInterface
public interface ItemSink {

    /** Takes no notice; the stream is unreduced. */
    ItemSink UNREDUCED = (position, length) -> false;

    /**
     * One eligible item.
     *
     * @param position of its first byte (the one behind the count word) in the unreduced stream, as {@link
     *     org.rpcrdma4j.transport.xdr.XdrReader#position} counts
     * @param length its bytes, without pad, as the count word says; 0 is possible
     * @return whether the stream that is being read is <em>without</em> the item's bytes and pad, because a chunk carries them; for an
     *     unreduced stream always {@code false}
     */
    boolean item(long position, long length);

    /**
     * Tells the sink of the opaque or string that the reader stands before, and passes over it, or over its absence. RFC 8166, Section
     * 3.4.4: who puts an item into a chunk takes its pad out of the stream too.
     *
     * @param most the bound that the protocol declares
     * @throws XdrException if it is longer, or the stream ends in it
     */
    static void tell(XdrReader in, long most, ItemSink sink) throws XdrException {
        long length = in.readDeclaredLength(most);
        if (sink.item(in.position(), length)) {
            in.skipAbsent(XdrReader.padded(length));
        } else {
            in.skip(XdrReader.padded(length));
        }
    }
}
