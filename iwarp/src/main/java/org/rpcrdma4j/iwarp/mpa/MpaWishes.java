// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

/**
 * What one side wants from the set-up. Immutable; the {@code with} methods return changed copies.
 *
 * <p>As RTR, Write (flag C) and Read (flag D) are always supported, Send (flag B) never.
 *
 * @param enhanced initiator: ask with revision 2 and control words; a responder follows the Request
 * @param crc set C in the own frame. RFC 5044, Section 4.4: on by default; off only by an administrator who has
 *     another check of the same strength from end to end
 * @param ird Reads this side would like to serve at a time
 * @param ord Reads this side would like to have outstanding
 * @param irdLimit the most Reads this side can be made to serve, 1 to 0x3FFE
 * @param peerToPeer initiator: ask for the peer-to-peer model, in which the first FPDU is an RTR
 */
public record MpaWishes(boolean enhanced, boolean crc, int ird, int ord, int irdLimit, boolean peerToPeer) {
    /** The limit of Linux siw, and ours unless set. */
    public static final int DEFAULT_IRD_LIMIT = 128;

    public MpaWishes {
        if (irdLimit < 1 || irdLimit > EnhancedSetup.MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "IRD limit must be 1..%d: %d".formatted(EnhancedSetup.MAX_DEPTH, irdLimit));
        }
        if (peerToPeer && !enhanced) {
            throw new IllegalArgumentException("the peer-to-peer model needs the enhanced set-up");
        }
        ird = Math.min(EnhancedSetup.cappedWish("IRD", ird), irdLimit);
        ord = EnhancedSetup.cappedWish("ORD", ord);
    }

    /** Enhanced set-up, CRC on, client-server model. */
    public static MpaWishes of(int ird, int ord) {
        return new MpaWishes(true, true, ird, ord, DEFAULT_IRD_LIMIT, false);
    }

    /** Revision 1, which negotiates neither IRD and ORD nor an RTR. */
    public MpaWishes plain() {
        return new MpaWishes(false, crc, ird, ord, irdLimit, false);
    }

    public MpaWishes withCrc(boolean wanted) {
        return new MpaWishes(enhanced, wanted, ird, ord, irdLimit, peerToPeer);
    }

    public MpaWishes withDepths(int newIrd, int newOrd) {
        return new MpaWishes(enhanced, crc, newIrd, newOrd, irdLimit, peerToPeer);
    }

    public MpaWishes withIrdLimit(int limit) {
        return new MpaWishes(enhanced, crc, ird, ord, limit, peerToPeer);
    }

    public MpaWishes withPeerToPeer(boolean wanted) {
        return new MpaWishes(enhanced, crc, ird, ord, irdLimit, wanted);
    }
}
