// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

/**
 * Told when memory that was registered for a call is shut to the peer: exactly one of the two methods is called, once, inside the
 * monitor. Only then may the call end (RFC 8166, Section 4.4.1). It may be called before {@link Registrar#invalidate} returns.
 *
 * <p>In both cases the list is empty and may be used again, or thrown away.
 */
public interface Fence {

    /** Every region was invalidated, by us or by the peer, or was deregistered; all memory is unmapped. */
    void fenced();

    /**
     * The invalidations did not all succeed, and the memory was shut by the end of the connection. Without a reply, what was placed is
     * not to be trusted, and the call is sent again. With one, all that the peer wrote before it is in place.
     */
    void connectionLost();
}
