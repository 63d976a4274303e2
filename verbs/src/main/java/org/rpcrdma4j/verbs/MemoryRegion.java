// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * Memory that a device may use on behalf of its owner and, as far as the rights go, of the peer.
 *
 * <p>Work requests name local memory by region and offset ({@link SendQueueRequest}); the peer names it by {@link #remoteKey}
 * and {@link #remoteAddress}.
 *
 * <p>libibverbs: {@code struct ibv_mr} (lkey, rkey, addr, length).
 */
public interface MemoryRegion extends AutoCloseable {

    /** The domain it belongs to. */
    ProtectionDomain protectionDomain();

    /** The key that the peer uses: on iWARP the whole STag, index and key. Not meaningful while the region is invalid. */
    int remoteKey();

    /** The address of the region's first byte as the peer names it; a 64-bit unsigned number. */
    long remoteAddress();

    /** Bytes registered; 0 for a fast region that is not mapped. */
    long length();

    /** The rights in force, or of the last registration. */
    Access access();

    /** Whether local and remote operations may use it now. */
    boolean isValid();

    /**
     * Deregisters. Effect: fences the peer; when this returns, no access under its key can succeed and none is running, and
     * the lease on its memory has ended. Work requests still outstanding that name it fail. Closing again does nothing.
     *
     * <p>libibverbs: {@code ibv_dereg_mr}, {@code ibv_dealloc_mw}.
     */
    @Override
    void close();
}
