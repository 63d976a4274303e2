// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

/** What {@link CallHeader#decode} makes of the first bytes of a message. */
public sealed interface DecodedCall
        permits CallHeader, DecodedCall.Refused, DecodedCall.NotACall, DecodedCall.TooShort {

    /**
     * A call that is answered without looking further.
     *
     * @param reply the answer
     */
    record Refused(ReplyHeader reply) implements DecodedCall {}

    /**
     * A message that is no call. It isn't answered: a REPLY belongs to a reverse call or to nobody.
     *
     * @param direction the direction word
     */
    record NotACall(int xid, int direction) implements DecodedCall {}

    /** A message that ends before its XID and direction could be read. It can't be answered. */
    record TooShort() implements DecodedCall {}
}
