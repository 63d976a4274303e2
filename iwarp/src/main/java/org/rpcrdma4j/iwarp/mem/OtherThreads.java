// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.lang.foreign.MemorySegment;

/** What has to be known here about threads other than the calling one; none is started. */
public final class OtherThreads {
    private static final int SPINS_BEFORE_YIELD = 1_000;

    /** A thread that never runs: what it may access, every thread may. */
    private static final Thread ANY = Thread.ofPlatform().unstarted(() -> {});

    private OtherThreads() {}

    /**
     * Waits a moment for another thread that is in the middle of something short: never for a peer, never for a holder of a lock that
     * may block. Longer after many tries, in which the other one has probably lost its processor.
     */
    @SuppressWarnings("ThreadPriorityCheck") // a hint is all that is meant: the caller looks again
    public static void pause(int tries) {
        if (tries < SPINS_BEFORE_YIELD) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    /** Whether memory is not confined to one thread. */
    static boolean mayAccess(MemorySegment memory) {
        return memory.isAccessibleBy(ANY);
    }
}
