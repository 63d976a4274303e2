// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Keeps accesses and invalidation of one region apart: an access that has entered finishes before {@link #shut} returns, and none
 * enters afterwards.
 *
 * <pre>
 *   63            32   31    30          0
 *   +---------------+------+-------------+
 *   |     STag      | open | accesses in |
 *   +---------------+------+-------------+
 * </pre>
 *
 * <p>Accesses are copies and calls of a non-blocking socket: bounded, and never waiting for the peer. So {@link #shut} may spin. What
 * describes the region is written while the guard is shut with nobody in, published by {@link #open}, and read only between {@link
 * #enter} and {@link #leave}.
 *
 * <p>Safe for all threads; {@link #open} and {@link #shut} exclude each other by their caller.
 *
 * <p>It is part of its region, not an object beside it: with very many regions each object looked at is a cache miss.
 */
public abstract sealed class Guard permits Region {
    private static final long OPEN = 1L << 31;
    private static final long COUNT = OPEN - 1;
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Guard.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile long word;

    Guard(int stag) {
        word = (long) stag << 32;
    }

    /** The STag of the current or the last registration. */
    final int stag() {
        return (int) (word >>> 32);
    }

    /** Whether an access may enter. */
    final boolean isOpen() {
        return (word & OPEN) != 0;
    }

    /** Whether it is open, or shut while somebody is still in. */
    final boolean isInUse() {
        return (word & (OPEN | COUNT)) != 0;
    }

    /** Enters if the guard is open under exactly this STag. */
    final boolean enter(int stag) {
        while (true) {
            long now = word;
            if ((int) (now >>> 32) != stag || (now & OPEN) == 0) {
                return false;
            }
            if (WORD.compareAndSet(this, now, now + 1)) {
                return true;
            }
        }
    }

    /**
     * Enters once more, for who is in already: also while somebody waits in {@link #shut}. This cannot fail, and another {@link #leave}
     * must follow.
     */
    public final void enterAgain() {
        WORD.getAndAdd(this, 1L);
    }

    /** Ends an access. */
    public final void leave() {
        WORD.getAndAdd(this, -1L);
    }

    /** Opens under a new STag. The guard must be shut. */
    final void open(int stag) {
        word = (long) stag << 32 | OPEN;
    }

    /**
     * Shuts and waits until nobody is in.
     *
     * @return whether it was open under this STag; otherwise nothing was done
     */
    final boolean shut(int stag) {
        while (true) {
            long now = word;
            if ((int) (now >>> 32) != stag || (now & OPEN) == 0) {
                return false;
            }
            if (WORD.compareAndSet(this, now, now & ~OPEN)) {
                awaitEmpty();
                return true;
            }
        }
    }

    /** Waits until nobody is in; only useful while shut. */
    final void awaitEmpty() {
        for (int tries = 0; (word & COUNT) != 0; tries++) {
            OtherThreads.pause(tries);
        }
    }
}
