// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;

/**
 * Any bytes as a message: no exception, nothing read behind them, the same result as by the grammar, the same bytes when encoded
 * again, with wide and with narrow limits.
 */
public final class HeaderDecoderFuzz {
    private static final HeaderLimits WIDE = new HeaderLimits(16, 4, 16, true);
    private static final HeaderLimits NARROW = new HeaderLimits(2, 1, 2, false);

    private HeaderDecoderFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        check(input, WIDE);
        check(input, NARROW);
    }

    private static void check(byte[] input, HeaderLimits limits) {
        MemorySegment message = MemorySegment.ofArray(input);
        TransportHeader header = new TransportHeader();
        Outcome outcome = HeaderDecoder.decode(message, 0, input.length, limits, header);

        ReferenceHeader found = ReferenceHeader.of(outcome, header);
        ReferenceHeader expected = ReferenceHeader.decode(input, limits);
        require(found.equals(expected), expected, found);
        RpcDirection direction = HeaderDecoder.direction(header, message, 0, input.length);
        RpcDirection cheap = HeaderDecoder.peekDirection(message, 0, input.length);
        require(cheap == RpcDirection.UNKNOWN || cheap == direction, direction, cheap);
        if (outcome == Outcome.OK) {
            int length = header.length();
            byte[] again = new byte[length];
            require(HeaderEncoder.length(header) == length, length, HeaderEncoder.length(header));
            HeaderEncoder.encode(header, MemorySegment.ofArray(again), 0);
            require(Arrays.equals(again, 0, length, input, 0, length), header, "other bytes");
            header.readList().sortByPosition();
            require(header.readList().size() == expected.readList().size(), expected, header);
        }
        require(!header.toString().isEmpty(), "a text", "none");
    }

    private static void require(boolean condition, Object expected, Object found) {
        if (!condition) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
