// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A region whose memory is exchanged with each registration, by work requests of a queue pair.
 *
 * <pre>
 *   allocate -> INVALID --map--> INVALID, mapped --RegisterRequest--> VALID
 *                  ^                    ^                               |
 *                  |                    +--LocalInvalidateRequest, -----+
 *                  +-------unmap--------+  or the peer's Send with Invalidate
 * </pre>
 *
 * <p>{@link #map} and {@link #unmap} change no right of the peer; they are done by the region's owner, one thread at a time. The
 * two transitions between INVALID and VALID happen in the order of the send queue (see {@link QueuePair}), or when the peer
 * invalidates. A device refuses to register a region that is VALID.
 *
 * <p>Each registration has a key: the index part stays the region's own, the low 8 bits are the owner's to choose, and {@link
 * #advanceKey} takes the next one. A key of an earlier registration opens nothing.
 *
 * <p>How the calls map:
 * <table>
 * <caption>Kernel verbs and libibverbs</caption>
 * <tr><th>here</th><th>kernel</th><th>libibverbs</th></tr>
 * <tr><td>map</td><td>ib_dma_map_sg, ib_map_mr_sg</td><td>choose a long-lived memory region that covers the pieces (one
 *     registered before, or registered now); its lkey and the first byte's address go into the bind</td></tr>
 * <tr><td>advanceKey</td><td>ib_update_fast_reg_key</td><td>ibv_inc_rkey</td></tr>
 * <tr><td>RegisterRequest</td><td>IB_WR_REG_MR</td><td>IBV_WR_BIND_MW of a type-2 window with bind_info (mr, addr, length,
 *     access) on the queue pair; type 2 ties the window to that queue pair</td></tr>
 * <tr><td>LocalInvalidateRequest</td><td>IB_WR_LOCAL_INV</td><td>IBV_WR_LOCAL_INV with the window's rkey</td></tr>
 * <tr><td>SendRequest.invalidate</td><td>IB_WR_SEND_WITH_INV</td><td>IBV_WR_SEND_WITH_INV</td></tr>
 * <tr><td>unmap</td><td>ib_dma_unmap_sg</td><td>release the hold on the covering region</td></tr>
 * </table>
 * There a window covers one contiguous range, so such a device reports {@code gapsAllowed = false}, and the remote address is the
 * virtual address (or 0-based), so {@code remoteAddressIsFree = false}.
 */
public interface FastRegion extends MemoryRegion {

    /** The registration state as the device sees it. */
    enum State {
        /** No operation may use it. */
        INVALID,
        /** Open to what its rights allow, to the peer too. */
        VALID
    }

    /** The state; {@link State#INVALID} implies that no access of the peer is running or can begin. */
    State state();

    /** Longest page list. */
    int maxPages();

    /**
     * Gives the region its memory for the next registration: the longest run of pieces, from the first, that one registration
     * can cover. The device leases these pieces until {@link #unmap}. Nothing is opened to the peer by this.
     *
     * <p>The run ends where the page list would exceed {@link #maxPages}. On a device without gaps it also ends by the hole
     * rule: between two pieces, the former must end and the latter begin on a page boundary, or the latter begin where the
     * former ends.
     *
     * @param pieces native memory, none empty; the list is not kept
     * @param remoteAddress wish for {@link #remoteAddress}, honoured where {@link DeviceAttributes#remoteAddressIsFree}
     * @return how many pieces were taken, at least 1; 0 if the device had no resources: nothing is mapped then
     * @throws IllegalArgumentException if the first piece alone needs more than {@link #maxPages}, or a piece cannot be
     *     registered (see {@link ProtectionDomain#register})
     * @throws IllegalStateException if the region is VALID, mapped already, or closed
     */
    int map(List<MemorySegment> pieces, long remoteAddress);

    /**
     * Ends the lease on the mapped pieces. Nothing happens if none are mapped.
     *
     * @throws IllegalStateException if the region is VALID, or a registration of it is outstanding
     */
    void unmap();

    /** Takes the next key: the low 8 bits plus one, modulo 256. Returns the key for the next {@link RegisterRequest}. */
    int advanceKey();
}
