// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

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
}
