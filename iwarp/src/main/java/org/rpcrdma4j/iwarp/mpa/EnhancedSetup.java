// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;

/**
 * The two control words that open the private data of an enhanced start-up frame (RFC 6581, Section 9).
 *
 * <pre>
 *   bit  15  14  13                      0
 *       +---+---+-------------------------+
 *       | A | B |          IRD            |   Reads the sender of the frame can serve
 *       +---+---+-------------------------+
 *       | C | D |          ORD            |   Reads it wants to have outstanding
 *       +---+---+-------------------------+
 * </pre>
 *
 * @param peerToPeer flag A
 * @param rtrSend flag B: zero-length Send as ready-to-receive indication (RTR)
 * @param rtrWrite flag C: zero-length RDMA Write as RTR
 * @param rtrRead flag D: zero-length RDMA Read as RTR
 */
public record EnhancedSetup(boolean peerToPeer, boolean rtrSend, boolean rtrWrite, boolean rtrRead, int ird, int ord) {
    /** Bytes these words take at the start of the private data. */
    public static final int BYTES = 4;

    /** In place of IRD or ORD: the value is not negotiated here, each side keeps its own. */
    public static final int NO_NEGOTIATION = 0x3FFF;

    /** The largest IRD or ORD that can be asked for. */
    public static final int MAX_DEPTH = 0x3FFE;

    private static final int HIGH_FLAG = 0x8000;
    private static final int LOW_FLAG = 0x4000;

    public EnhancedSetup {
        requireDepth("IRD", ird);
        requireDepth("ORD", ord);
        // RFC 6581, Section 9.2: without A the flags B, C and D are sent as zero, and ignored when received.
        rtrSend &= peerToPeer;
        rtrWrite &= peerToPeer;
        rtrRead &= peerToPeer;
    }

    /** The client-server form: no RTR. */
    public static EnhancedSetup clientServer(int ird, int ord) {
        return new EnhancedSetup(false, false, false, false, ird, ord);
    }

    /**
     * A wish cut to what the 14 bits can carry.
     *
     * @throws IllegalArgumentException if the wish is negative
     */
    static int cappedWish(String what, int wish) {
        if (wish < 0) {
            throw new IllegalArgumentException("%s must not be negative: %d".formatted(what, wish));
        }
        // RFC 6581, Section 9: the field has 14 bits and all ones is taken; cutting bits off would turn a large wish
        // into a small one.
        return Math.min(wish, MAX_DEPTH);
    }

    static EnhancedSetup decode(ByteBuffer words, int at) {
        int first = Short.toUnsignedInt(words.getShort(at));
        int second = Short.toUnsignedInt(words.getShort(at + 2));
        return new EnhancedSetup(
                (first & HIGH_FLAG) != 0,
                (first & LOW_FLAG) != 0,
                (second & HIGH_FLAG) != 0,
                (second & LOW_FLAG) != 0,
                first & NO_NEGOTIATION,
                second & NO_NEGOTIATION);
    }

    void encode(ByteBuffer target, int at) {
        target.putShort(at, (short) ((peerToPeer ? HIGH_FLAG : 0) | (rtrSend ? LOW_FLAG : 0) | ird));
        target.putShort(at + 2, (short) ((rtrWrite ? HIGH_FLAG : 0) | (rtrRead ? LOW_FLAG : 0) | ord));
    }

    private static void requireDepth(String what, int depth) {
        if (depth < 0 || depth > NO_NEGOTIATION) {
            throw new IllegalArgumentException("%s must be 0..%d: %d".formatted(what, NO_NEGOTIATION, depth));
        }
    }
}
