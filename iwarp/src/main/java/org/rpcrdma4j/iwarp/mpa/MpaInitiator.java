// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.MpaFrame.Kind;

/**
 * The initiator's side of the start-up: one Request out, one Reply in (RFC 5044, Section 7.1.2; RFC 6581, Section 9).
 *
 * <pre>
 *   send request() ──► waiting for the Reply ──► Established   FPDUs may follow in the same buffer
 *                                           ├──► Rejected      R=1
 *                                           ├──► Refused       markers, IRD or RTR: see the outcome
 *                                           └──► MpaException  malformed: close without a frame
 * </pre>
 *
 * <p>Between Request and Reply nothing may be sent. Deadlines are the caller's. Not thread-safe: owned by whoever
 * connects.
 */
public final class MpaInitiator {
    private final MpaWishes wishes;
    private final MpaFrame request;
    private final MpaFrameReader reader = new MpaFrameReader(Kind.REPLY);
    private @Nullable MpaOutcome outcome;

    /**
     * @throws IllegalArgumentException if the private data does not fit the Request
     */
    public MpaInitiator(MpaWishes wishes, byte[] privateData) {
        this.wishes = wishes;
        // RFC 5044, Section 7.1.1: R and the reserved bits are zero in a Request. M=0: no markers, please.
        request = new MpaFrame(Kind.REQUEST, false, wishes.crc(), false, revision(wishes), setup(wishes), privateData);
    }

    /** The bytes of the Request: the first thing to send. */
    public byte[] request() {
        return request.encode();
    }

    /**
     * Takes bytes from the peer; those behind the Reply stay in the source.
     *
     * @return the outcome, or null while the Reply is incomplete
     * @throws MpaException if the Reply is malformed; TCP is to be closed
     */
    public @Nullable MpaOutcome onBytes(ByteBuffer source) throws MpaException {
        if (outcome == null && reader.read(source)) {
            outcome = judge(reader.frame());
        }
        return outcome;
    }

    /** Describes an end of the stream before the Reply was complete. */
    public MpaException endOfStream() {
        return reader.endOfStream();
    }

    private static int revision(MpaWishes wishes) {
        // RFC 6581, Section 10: the enhanced form is used only when one of its features is wanted.
        return wishes.enhanced() ? MpaFrame.REVISION_ENHANCED : MpaFrame.REVISION_PLAIN;
    }

    private static @Nullable EnhancedSetup setup(MpaWishes wishes) {
        if (!wishes.enhanced()) {
            return null;
        }
        // RFC 6581, Section 9.2: A=1 asks for the peer-to-peer model, with a flag for every RTR this side can send.
        boolean peerToPeer = wishes.peerToPeer();
        return new EnhancedSetup(peerToPeer, false, peerToPeer, peerToPeer, wishes.ird(), wishes.ord());
    }

    private MpaOutcome judge(MpaFrame reply) throws MpaException {
        // RFC 5044, Section 7.1.2, rule 3: R=1 ends MPA. Whatever else a refusal holds cannot make it an acceptance.
        if (reply.rejected()) {
            return new MpaOutcome.Rejected(peerIrd(reply), peerOrd(reply), reply.privateData());
        }
        checkMirrored(reply);
        // RFC 5044, Section 4.3: markers would have to be sent when the Reply has M=1. This device has none.
        if (reply.markers()) {
            return refused(reply, null, "expected a Reply without markers, found M=1");
        }
        EnhancedSetup answer = reply.enhancedSetup();
        if (answer == null) {
            return established(reply, wishes.ird(), wishes.ord(), null);
        }
        if (answer.ord() != EnhancedSetup.NO_NEGOTIATION && answer.ord() > wishes.irdLimit()) {
            // RFC 6581, Section 9.1: an initiator that cannot serve the responder's ORD says so and ends.
            return refused(
                    reply,
                    TerminateError.MPA_INSUFFICIENT_IRD,
                    "expected ORD %d at most, found %d".formatted(wishes.irdLimit(), answer.ord()));
        }
        Rtr rtr = chooseRtr(answer);
        if (rtr == null && (answer.peerToPeer() || wishes.peerToPeer())) {
            // RFC 6581, Section 9.2: no RTR in common, or no common connection model.
            return refused(reply, TerminateError.MPA_NO_MATCHING_RTR, "expected RTR flag C or D, found " + answer);
        }
        return established(reply, ird(answer), ord(answer), rtr);
    }

    private void checkMirrored(MpaFrame reply) throws MpaException {
        // RFC 6581, Section 10: an enhanced Request gets an enhanced Reply, a plain one a plain Reply.
        if (reply.revision() != request.revision() || reply.isEnhanced() != request.isEnhanced()) {
            throw new MpaException(
                    MpaError.INVALID_STARTUP_FRAME,
                    "expected a Reply with revision %d and S=%d, found revision %d and S=%d"
                            .formatted(
                                    request.revision(),
                                    request.isEnhanced() ? 1 : 0,
                                    reply.revision(),
                                    reply.isEnhanced() ? 1 : 0));
        }
    }

    private int ird(EnhancedSetup answer) {
        // RFC 6581, Section 9.1: the own IRD becomes at least the responder's ORD, unless that was left open.
        return answer.ord() == EnhancedSetup.NO_NEGOTIATION ? wishes.ird() : Math.max(wishes.ird(), answer.ord());
    }

    private int ord(EnhancedSetup answer) {
        // RFC 6581, Section 9.1: the own ORD becomes at most the responder's IRD, unless that was left open.
        return answer.ird() == EnhancedSetup.NO_NEGOTIATION ? wishes.ord() : Math.min(wishes.ord(), answer.ird());
    }

    private static @Nullable Rtr chooseRtr(EnhancedSetup answer) {
        // RFC 6581, Section 9.2: a Reply with A=1 obliges the initiator to send one of the RTRs it names.
        if (answer.rtrWrite()) {
            return Rtr.WRITE;
        }
        return answer.rtrRead() ? Rtr.READ : null;
    }

    private MpaOutcome established(MpaFrame reply, int ird, int ord, @Nullable Rtr rtr) {
        // RFC 5044, Section 7.1.1: CRCs are used in both directions when either frame has C=1.
        boolean crc = request.crc() || reply.crc();
        return new MpaOutcome.Established(
                reply.revision(), crc, ird, ord, peerIrd(reply), peerOrd(reply), reply.privateData(), rtr);
    }

    private static MpaOutcome refused(MpaFrame reply, @Nullable TerminateError terminate, String reason) {
        return new MpaOutcome.Refused(terminate, reason, peerIrd(reply), peerOrd(reply), reply.privateData());
    }

    private static int peerIrd(MpaFrame reply) {
        EnhancedSetup answer = reply.enhancedSetup();
        return answer == null ? MpaOutcome.NOT_STATED : answer.ird();
    }

    private static int peerOrd(MpaFrame reply) {
        EnhancedSetup answer = reply.enhancedSetup();
        return answer == null ? MpaOutcome.NOT_STATED : answer.ord();
    }
}
