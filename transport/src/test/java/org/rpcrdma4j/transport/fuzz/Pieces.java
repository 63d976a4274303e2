// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.fuzz;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** One message in pieces, as receive buffers and pulled chunks hold it. */
public final class Pieces {
    private Pieces() {}

    /**
     * Cuts a message into pieces whose lengths are told by the bits of {@code pattern}, over and over: four bits each, 0 an empty
     * piece.
     */
    public static List<MemorySegment> cut(byte[] message, int pattern) {
        int lengths = pattern == 0 ? 0x0301 : pattern;
        List<MemorySegment> pieces = new ArrayList<>();
        MemorySegment whole = MemorySegment.ofArray(message);
        long at = 0;
        for (int turn = 0; at < message.length; turn = (turn + 4) % Integer.SIZE) {
            long length = Math.min(lengths >>> turn & 0x0F, message.length - at);
            pieces.add(whole.asSlice(at, length));
            at += length;
        }
        return pieces;
    }
}
