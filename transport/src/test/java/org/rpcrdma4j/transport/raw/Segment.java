// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

/**
 * A segment as it stands on the wire.
 *
 * @param length unsigned
 */
public record Segment(int handle, int length, long offset) {

    /** The same with another length. */
    public Segment withLength(int value) {
        return new Segment(handle, value, offset);
    }

    @Override
    public String toString() {
        return Integer.toHexString(handle) + ":" + Integer.toUnsignedString(length) + "@" + Long.toHexString(offset);
    }
}
