// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * What one version of one program tells the transport (RFC 8166, Section 6): which data items of its messages may be moved by chunks, and
 * how large its replies can be. Implementations have no state and may be used by any number of threads.
 *
 * <p>The readers stand behind the RPC header; positions are theirs, so they count from the start of the RPC message if the reader began
 * there. The streams may be reduced: the sink says so item by item.
 */
public interface UpperLayerBinding {

    /**
     * Tells the sink the eligible items of the call. An item is told when its count word was read, before its bytes are passed over.
     *
     * @throws XdrException if the arguments can't be decoded as far as that needs; items told before stand
     */
    void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException;

    /**
     * Tells the sink the eligible items of a successful reply, as {@link #argumentItems} does.
     *
     * @throws XdrException if the results can't be decoded as far as that needs; items told before stand
     */
    void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException;

    /**
     * The largest reply that the call can have.
     *
     * @param arguments of the call, unreduced
     * @throws XdrException if the arguments can't be decoded
     */
    ReplyBound replyBound(CallHeader call, XdrReader arguments) throws XdrException;

    /**
     * The smallest results that a call can have if it succeeds, in bytes, without those of eligible items. A server does not execute a call
     * whose client has no room for them. 0, the default, is always right.
     *
     * @param procedure its number, unsigned
     */
    default long smallestResults(int procedure) {
        return 0;
    }
}
