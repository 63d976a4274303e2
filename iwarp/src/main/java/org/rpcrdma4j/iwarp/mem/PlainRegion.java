// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.verbs.Access;

/** Memory that is registered from its creation until it is closed, for all queue pairs of its domain. */
public final class PlainRegion extends Region {

    private PlainRegion(Domain domain, StagTable table, Leases leases, int stag) {
        super(domain, table, leases, stag);
    }

    /**
     * Registers memory under a fresh STag. The tagged offset of its first byte is its address.
     *
     * @throws IllegalArgumentException if the memory cannot be registered with these rights
     * @throws IllegalStateException if the table is full
     */
    public static PlainRegion register(
            Domain domain, StagTable table, Leases leases, MemorySegment memory, Access access) {
        requireRegistrable(memory);
        if (memory.isReadOnly() && access.isWritable()) {
            throw new IllegalArgumentException("read-only memory cannot be registered for " + access);
        }
        int stag = table.allocate();
        PlainRegion region = new PlainRegion(domain, table, leases, stag);
        leases.regionMade();
        region.addPiece(memory);
        region.describe(memory.address(), access, DOMAIN_WIDE);
        table.put(stag, region);
        region.open(stag);
        return region;
    }

    @Override
    public void close() {
        int stag = stag();
        if (shut(stag)) {
            giveBack(stag);
        } else {
            awaitGivenBack();
        }
    }
}
