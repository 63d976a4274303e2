// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.proxy;

import org.jspecify.annotations.Nullable;

/**
 * What is done to the bytes of one direction, and how often: counted over all connections of that direction, so that one fault comes
 * after each {@code everyBytes} bytes whatever the number of connections. Guarded by its own lock; pumps of many connections use it.
 */
final class Fault {
    /** The kinds of harm. */
    enum Kind {
        /** The connection is reset on both sides. The bytes before the place have been passed on. */
        CUT,
        /** One bit of the byte at the place is inverted. */
        FLIP
    }

    private @Nullable Kind kind;
    private long everyBytes;
    private long left;

    /** Does {@code newKind} after each {@code bytes} bytes from now on; null for nothing. */
    synchronized void set(@Nullable Kind newKind, long bytes) {
        if (newKind != null && bytes < 1) {
            throw new IllegalArgumentException("a fault each " + bytes + " bytes: expected at least 1");
        }
        kind = newKind;
        everyBytes = bytes;
        left = bytes;
    }

    /** Does {@code newKind} at the next byte, and then nothing. */
    synchronized void setOnce(Kind newKind) {
        kind = newKind;
        everyBytes = 0;
        left = 1;
    }

    /** Where in the next {@code bytes} bytes something is done, and what; null for nowhere. A second place in them is passed over. */
    synchronized @Nullable Place next(int bytes) {
        Kind now = kind;
        if (now == null) {
            return null;
        }
        left -= bytes;
        if (left > 0) {
            return null;
        }
        int index = (int) Math.max(0, bytes - 1 + left);
        left = everyBytes;
        kind = everyBytes == 0 ? null : now;
        return new Place(now, index);
    }

    /**
     * One fault.
     *
     * @param kind what is done
     * @param index at which of the bytes
     */
    record Place(Kind kind, int index) {}
}
