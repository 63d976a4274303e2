// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.util.concurrent.atomic.AtomicLong;
import org.rpcrdma4j.verbs.MappingLedger;

/** The device's account of memory under lease and of regions. Safe for all threads. */
public final class Leases {
    private final AtomicLong maps = new AtomicLong();
    private final AtomicLong unmaps = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong regions = new AtomicLong();

    void mapped(long pieces, long length) {
        maps.addAndGet(pieces);
        bytes.addAndGet(length);
    }

    void unmapped(long pieces, long length) {
        unmaps.addAndGet(pieces);
        bytes.addAndGet(-length);
    }

    void regionMade() {
        regions.incrementAndGet();
    }

    void regionGone() {
        regions.decrementAndGet();
    }

    /** The account at this moment. */
    public MappingLedger ledger() {
        return new MappingLedger(maps.get(), unmaps.get(), bytes.get(), regions.get());
    }
}
