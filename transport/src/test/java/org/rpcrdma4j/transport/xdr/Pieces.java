// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Cuts messages as transports do: in one piece, at one place, at any. */
public final class Pieces {

    private Pieces() {}

    /** The message in two pieces. */
    public static List<MemorySegment> at(byte[] message, int cut) {
        MemorySegment all = MemorySegment.ofArray(message);
        return List.of(all.asSlice(0, cut), all.asSlice(cut));
    }

    /** The message in several pieces, in the heap and outside, some of them empty. */
    public static List<MemorySegment> random(byte[] message, Random random) {
        List<MemorySegment> pieces = new ArrayList<>();
        MemorySegment all = MemorySegment.ofArray(message);
        int most = random.nextBoolean() ? 8 : message.length + 1;
        int at = 0;
        while (at < message.length) {
            int length = Math.min(message.length - at, random.nextInt(most + 1));
            MemorySegment piece = all.asSlice(at, length);
            if (random.nextBoolean()) {
                piece = Arena.ofAuto()
                        .allocate(Math.max(1, length))
                        .asSlice(0, length)
                        .copyFrom(piece);
            }
            pieces.add(piece);
            at += length;
        }
        return pieces;
    }

    /** One message from pieces. */
    public static byte[] join(List<MemorySegment> pieces) {
        int length = 0;
        for (MemorySegment piece : pieces) {
            length += (int) piece.byteSize();
        }
        byte[] all = new byte[length];
        int at = 0;
        for (MemorySegment piece : pieces) {
            int n = (int) piece.byteSize();
            MemorySegment.copy(piece, ValueLayout.JAVA_BYTE, 0, all, at, n);
            at += n;
        }
        return all;
    }
}
