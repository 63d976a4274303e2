// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.time.Instant;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * A time of a file (nfstime3; RFC 1813, Section 2.6).
 *
 * @param seconds since 1970-01-01 00:00 UTC, unsigned: up to the year 2106
 * @param nanoseconds unsigned; a server refuses 10^9 and more
 */
public record Time(int seconds, int nanoseconds) implements XdrValue {

    private static final long MAX_SECONDS = 0xffff_ffffL;

    /** The nearest time that can be carried: earlier than 1970 becomes 1970, later than 2106 the last nanosecond. */
    public static Time of(Instant instant) {
        long seconds = instant.getEpochSecond();
        if (seconds < 0) {
            return new Time(0, 0);
        }
        return seconds > MAX_SECONDS ? new Time(-1, 999_999_999) : new Time((int) seconds, instant.getNano());
    }

    /** As an instant; nanoseconds beyond a second are carried over. */
    public Instant toInstant() {
        return Instant.ofEpochSecond(Integer.toUnsignedLong(seconds), Integer.toUnsignedLong(nanoseconds));
    }

    /** Whether the nanoseconds are less than a second. */
    public boolean isValid() {
        return nanoseconds >= 0 && nanoseconds < 1_000_000_000;
    }

    /** Reads one. */
    public static Time read(XdrReader in) throws XdrException {
        return new Time(in.readInt(), in.readInt());
    }

    @Override
    public void write(XdrWriter out) {
        out.writeInt(seconds);
        out.writeInt(nanoseconds);
    }
}
