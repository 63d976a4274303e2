// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

/** Who has a region: exactly one at any time. */
public enum Custody {
    /** The pool, or the cache of a {@link RegionList}. INVALID, without memory, no work request outstanding. */
    FREE,
    /** A {@link RegionList}: memory is mapped, nothing has been posted. INVALID. */
    MAPPING,
    /** A {@link RegionList}: a registration was handed to the send queue. */
    REGISTERED,
    /** The recovery worker, which deregisters it; the list that had it waits. */
    RECOVERY,
    /** Nobody: given back to the device, or an orphan that could not be given back. */
    GONE
}
