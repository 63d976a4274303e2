// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.mpa.MpaFrame.Kind;

/**
 * The responder's side of the start-up: one Request in, one Reply out (RFC 5044, Section 7.1.2; RFC 6581, Section 9).
 *
 * <pre>
 *   reading the Request ──► asking the ULP ──► accept() ──► answered   be ready for FPDUs before the Reply is sent
 *      │                          │      └──► reject() ──► answered   close when the peer has read it
 *      └► MpaException: close     └► automaticReject(): the Request asks for markers
 * </pre>
 *
 * <p>RFC 5044, Section 7.1.2, rule 4: behind the Reply the responder sends no FPDU before it has received a valid one;
 * that is the caller's to keep, as are the deadlines. Not thread-safe: owned by whoever handles the pending connection.
 */
public final class MpaResponder {
    private static final byte[] NOTHING = {};

    private final MpaWishes wishes;
    private final MpaFrameReader reader = new MpaFrameReader(Kind.REQUEST);
    private boolean answered;

    /**
     * What an accepted Request leads to.
     *
     * @param reply the bytes of the Reply
     * @param established the connection as this side has to run it, from the moment the Reply is sent
     */
    @SuppressWarnings("ArrayRecordComponent") // handed over: the array belongs to the caller from then on
    public record Acceptance(byte[] reply, MpaOutcome.Established established) {}

    /**
     * @param wishes C, the IRD limit, and the depths a Reject states; whether enhanced or peer-to-peer is the
     *     initiator's choice
     */
    public MpaResponder(MpaWishes wishes) {
        this.wishes = wishes;
    }

    /**
     * Takes bytes from the peer until it is answered.
     *
     * @return whether the Request is complete and waits for an answer
     * @throws MpaException if the Request is malformed or something follows it; TCP is to be closed, nothing is sent
     * @throws IllegalStateException if the Request was answered: what comes then are FPDUs
     */
    public boolean onBytes(ByteBuffer source) throws MpaException {
        if (answered) {
            throw new IllegalStateException("the Request was answered; what follows are FPDUs");
        }
        boolean complete = reader.read(source);
        // RFC 5044, Section 7.1.2: the initiator sends nothing between its Request and the Reply.
        if (complete && source.hasRemaining()) {
            throw new MpaException(
                    MpaError.INVALID_STARTUP_FRAME,
                    "expected nothing behind the Request, found %d bytes".formatted(source.remaining()));
        }
        return complete;
    }

    /** Describes an end of the stream before the Request was complete. */
    public MpaException endOfStream() {
        return reader.endOfStream();
    }

    /**
     * The Request, for the ULP: private data, revision, and its IRD and ORD as they came.
     *
     * @throws IllegalStateException unless it is complete
     */
    public MpaFrame request() {
        return reader.frame();
    }

    /**
     * The Reply to a Request that cannot be accepted whatever the ULP thinks; null if the ULP may decide. After a
     * result the Request counts as answered.
     */
    public byte @Nullable [] automaticReject() {
        // RFC 5044, Section 4.3: a sender must make markers when M=1. This device has none, so it says no, with M=0.
        return request().markers() ? reject(NOTHING) : null;
    }

    /**
     * Accepts the Request.
     *
     * @param privateData the ULP's, for the Reply
     * @param irdWish Reads this side would serve; raised to the Request's ORD as far as the limit allows
     * @param ordWish Reads this side would have outstanding; lowered to the Request's IRD
     * @throws IllegalArgumentException if the private data does not fit or a wish is negative
     * @throws IllegalStateException if there is no Request to answer, or it asks for markers
     */
    public Acceptance accept(byte[] privateData, int irdWish, int ordWish) {
        MpaFrame request = unanswered();
        if (request.markers()) {
            throw new IllegalStateException("a Request that asks for markers cannot be accepted");
        }
        MpaWishes own = wishes.withDepths(irdWish, ordWish);
        EnhancedSetup asked = request.enhancedSetup();
        Rtr rtr = asked == null ? null : chooseRtr(asked);
        int ird = asked == null ? own.ird() : ird(own, asked, rtr);
        int ord = asked == null ? own.ord() : ord(own, asked);
        MpaFrame reply = reply(request, false, stated(asked, ird, ord, rtr), privateData);
        answered = true;
        // RFC 6581, Section 9.1: the ULP learns the initiator's IRD and ORD as they were sent.
        return new Acceptance(
                reply.encode(),
                new MpaOutcome.Established(
                        request.revision(),
                        reply.crc(),
                        ird,
                        ord,
                        asked == null ? MpaOutcome.NOT_STATED : asked.ird(),
                        asked == null ? MpaOutcome.NOT_STATED : asked.ord(),
                        request.privateData(),
                        rtr));
    }

    /**
     * Rejects the Request.
     *
     * @return the bytes of the Reply
     * @throws IllegalArgumentException if the private data does not fit
     * @throws IllegalStateException if there is no Request to answer
     */
    public byte[] reject(byte[] privateData) {
        MpaFrame request = unanswered();
        EnhancedSetup asked = request.enhancedSetup();
        return reject(request, privateData, asked == null ? 0 : ord(wishes, asked));
    }

    /**
     * Rejects a Request whose IRD is too small, and tells the initiator how many Reads this side needs to have
     * outstanding. A plain Request has no place for that number; it is left out then.
     */
    public byte[] reject(byte[] privateData, int neededOrd) {
        // RFC 6581, Section 9.1: the need stands in the ORD of the Reject.
        return reject(unanswered(), privateData, EnhancedSetup.cappedWish("ORD", neededOrd));
    }

    private byte[] reject(MpaFrame request, byte[] privateData, int statedOrd) {
        EnhancedSetup asked = request.enhancedSetup();
        EnhancedSetup stated = null;
        if (asked != null) {
            Rtr rtr = chooseRtr(asked);
            int ird = asked.ord() == EnhancedSetup.NO_NEGOTIATION ? asked.ord() : ird(wishes, asked, rtr);
            stated = setup(asked, ird, statedOrd, rtr);
        }
        byte[] reply = reply(request, true, stated, privateData).encode();
        answered = true;
        return reply;
    }

    private MpaFrame unanswered() {
        if (answered) {
            throw new IllegalStateException("the Request was answered already");
        }
        return request();
    }

    private MpaFrame reply(MpaFrame request, boolean rejected, @Nullable EnhancedSetup stated, byte[] privateData) {
        // RFC 6581, Section 10: revision and S are those of the Request. M=0: no markers, please.
        // RFC 5044, Section 4.4: CRCs go off only if both sides said so.
        boolean crc = request.crc() || wishes.crc();
        return new MpaFrame(Kind.REPLY, false, crc, rejected, request.revision(), stated, privateData);
    }

    /** The control words of an acceptance: the actual values, save those the initiator left open. */
    private static @Nullable EnhancedSetup stated(@Nullable EnhancedSetup asked, int ird, int ord, @Nullable Rtr rtr) {
        if (asked == null) {
            return null;
        }
        // RFC 6581, Section 9.1: an ORD of all ones is answered by such an IRD, and an IRD by such an ORD.
        return setup(
                asked,
                asked.ord() == EnhancedSetup.NO_NEGOTIATION ? EnhancedSetup.NO_NEGOTIATION : ird,
                asked.ird() == EnhancedSetup.NO_NEGOTIATION ? EnhancedSetup.NO_NEGOTIATION : ord,
                rtr);
    }

    private static EnhancedSetup setup(EnhancedSetup asked, int ird, int ord, @Nullable Rtr rtr) {
        // RFC 6581, Section 9.2: A is answered by the same A. Exactly one RTR is named, as some cards compare for
        // equality; naming fewer than one supports is allowed.
        return new EnhancedSetup(asked.peerToPeer(), false, rtr == Rtr.WRITE, rtr == Rtr.READ, ird, ord);
    }

    private static int ird(MpaWishes own, EnhancedSetup asked, @Nullable Rtr rtr) {
        // RFC 6581, Section 9.1: an ORD of all ones leaves the own IRD unchanged, for an RTR by Read too.
        if (asked.ord() == EnhancedSetup.NO_NEGOTIATION) {
            return own.ird();
        }
        // RFC 6581, Section 9.1: the own IRD becomes at least the initiator's ORD, here as far as the limit goes.
        int ird = Math.max(own.ird(), Math.min(asked.ord(), own.irdLimit()));
        // RFC 6581, Section 9.1: an RTR by Read needs a place to arrive even where the ULPs use no Reads.
        return rtr == Rtr.READ ? Math.max(ird, 1) : ird;
    }

    private static int ord(MpaWishes own, EnhancedSetup asked) {
        // RFC 6581, Section 9.1: the own ORD becomes at most the initiator's IRD; all ones leaves it unchanged.
        return asked.ird() == EnhancedSetup.NO_NEGOTIATION ? own.ord() : Math.min(own.ord(), asked.ird());
    }

    private static @Nullable Rtr chooseRtr(EnhancedSetup asked) {
        if (!asked.peerToPeer()) {
            return null;
        }
        // RFC 6581, Section 9.2: one that both support if there is one, else one of the own kinds.
        return !asked.rtrWrite() && asked.rtrRead() ? Rtr.READ : Rtr.WRITE;
    }
}
