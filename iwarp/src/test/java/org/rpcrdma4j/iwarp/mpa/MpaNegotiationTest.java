// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.iwarp.mpa.EnhancedSetup.NO_NEGOTIATION;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome.Established;
import org.rpcrdma4j.iwarp.mpa.MpaResponder.Acceptance;

/** RFC 6581, Section 12: whatever flags and depths a peer sends, the relations of Section 9.1 hold or it is told no. */
class MpaNegotiationTest {
    private static final List<Integer> DEPTHS = List.of(0, 1, 0x3FFE, NO_NEGOTIATION);
    private static final int[] OWN = {0, 1, 5, 128};
    private static final byte[] NOTHING = {};

    record Words(int word0, int word1) {
        boolean peerToPeer() {
            return (word0 & RawFrame.A) != 0;
        }

        int ird() {
            return RawFrame.depth(word0);
        }

        int ord() {
            return RawFrame.depth(word1);
        }

        @Override
        public String toString() {
            return "%04x %04x".formatted(word0, word1);
        }
    }

    static Stream<Words> allFlagsWithTheDepthsAtTheEdges() {
        return IntStream.range(0, 16)
                .boxed()
                .flatMap(flags -> DEPTHS.stream()
                        .flatMap(ird -> DEPTHS.stream()
                                .map(ord -> new Words(((flags & 3) << 14) | ird, ((flags >> 2) << 14) | ord))));
    }

    @ParameterizedTest
    @MethodSource("allFlagsWithTheDepthsAtTheEdges")
    void responderKeepsTheRelationsWhateverIsAsked(Words asked) throws MpaException {
        for (int ownIrd : OWN) {
            for (int ownOrd : OWN) {
                MpaResponder responder = new MpaResponder(MpaWishes.of(0, 0));
                responder.onBytes(ByteBuffer.wrap(RawFrame.request(asked.word0(), asked.word1())));
                Acceptance acceptance = responder.accept(NOTHING, ownIrd, ownOrd);

                Established established = acceptance.established();
                Words said = new Words(RawFrame.word0(acceptance.reply()), RawFrame.word1(acceptance.reply()));
                assertThat(established.peerIrd()).isEqualTo(asked.ird());
                assertThat(established.peerOrd()).isEqualTo(asked.ord());
                assertThat(said.peerToPeer()).isEqualTo(asked.peerToPeer());
                checkResponder(asked, said, established, ownIrd, ownOrd);
            }
        }
    }

    private static void checkResponder(Words asked, Words said, Established own, int ownIrd, int ownOrd) {
        if (asked.ird() == NO_NEGOTIATION) {
            assertThat(said.ord()).isEqualTo(NO_NEGOTIATION);
            assertThat(own.ord()).isEqualTo(ownOrd);
        } else {
            assertThat(own.ord()).isEqualTo(said.ord()).isLessThanOrEqualTo(asked.ird());
        }
        if (asked.ord() == NO_NEGOTIATION) {
            assertThat(said.ird()).isEqualTo(NO_NEGOTIATION);
            assertThat(own.ird()).isEqualTo(ownIrd);
        } else {
            assertThat(own.ird())
                    .isEqualTo(said.ird())
                    .isGreaterThanOrEqualTo(Math.min(asked.ord(), 128))
                    .isGreaterThanOrEqualTo(own.rtr() == Rtr.READ ? 1 : 0)
                    .isBetween(ownIrd, 128);
        }
        int named = said.word1() & (RawFrame.RTR_WRITE | RawFrame.RTR_READ);
        assertThat(Integer.bitCount(named)).isEqualTo(asked.peerToPeer() ? 1 : 0);
        assertThat(own.rtr() == null).isEqualTo(!asked.peerToPeer());
        assertThat(said.word0() & RawFrame.B).isZero();
    }

    @ParameterizedTest
    @MethodSource("allFlagsWithTheDepthsAtTheEdges")
    void initiatorKeepsTheRelationsOrSaysWhyNot(Words said) throws MpaException {
        byte[] reply = RawFrame.reply(said.word0(), said.word1());
        for (int ownIrd : OWN) {
            for (int ownOrd : OWN) {
                for (boolean peerToPeer : new boolean[] {false, true}) {
                    MpaWishes wishes = MpaWishes.of(ownIrd, ownOrd).withPeerToPeer(peerToPeer);
                    checkInitiator(wishes, said, RawFrame.outcome(new MpaInitiator(wishes, NOTHING), reply));
                }
            }
        }
    }

    private static void checkInitiator(MpaWishes wishes, Words said, MpaOutcome outcome) {
        boolean irdSuffices = said.ord() == NO_NEGOTIATION || said.ord() <= wishes.irdLimit();
        boolean rtrNamed = said.peerToPeer() && (said.word1() & (RawFrame.RTR_WRITE | RawFrame.RTR_READ)) != 0;
        boolean rtrNeeded = said.peerToPeer() || wishes.peerToPeer();
        switch (outcome) {
            case Established own -> {
                assertThat(irdSuffices && (rtrNamed || !rtrNeeded)).isTrue();
                assertThat(own.rtr() != null).isEqualTo(rtrNamed);
                assertThat(own.ird())
                        .isEqualTo(said.ord() == NO_NEGOTIATION ? wishes.ird() : Math.max(wishes.ird(), said.ord()));
                assertThat(own.ord())
                        .isEqualTo(said.ird() == NO_NEGOTIATION ? wishes.ord() : Math.min(wishes.ord(), said.ird()));
            }
            case MpaOutcome.Refused refused ->
                assertThat(refused.terminate())
                        .isEqualTo(
                                irdSuffices ? TerminateError.MPA_NO_MATCHING_RTR : TerminateError.MPA_INSUFFICIENT_IRD);
            case MpaOutcome.Rejected rejected -> throw new AssertionError(rejected);
        }
        assertThat(outcome.peerIrd()).isEqualTo(said.ird());
        assertThat(outcome.peerOrd()).isEqualTo(said.ord());
    }

    @Property
    void bothEndsAgree(
            @ForAll boolean enhanced,
            @ForAll boolean peerToPeer,
            @ForAll boolean initiatorCrc,
            @ForAll boolean responderCrc,
            @ForAll @Size(6) List<@IntRange(max = 40) Integer> wish)
            throws MpaException {
        MpaWishes asking = new MpaWishes(
                enhanced, initiatorCrc, wish.get(0), wish.get(1), 1 + wish.get(2), enhanced && peerToPeer);
        MpaWishes answering = MpaWishes.of(0, 0).withCrc(responderCrc).withIrdLimit(1 + wish.get(3));
        MpaInitiator initiator = new MpaInitiator(asking, RawFrame.bytes(3));
        MpaResponder responder = new MpaResponder(answering);
        responder.onBytes(ByteBuffer.wrap(initiator.request()));
        Acceptance acceptance = responder.accept(RawFrame.bytes(5), wish.get(4), wish.get(5));

        MpaOutcome outcome = RawFrame.outcome(initiator, acceptance.reply());

        Established there = acceptance.established();
        assertThat(outcome).isInstanceOf(Established.class);
        Established here = (Established) outcome;
        assertThat(here.crc()).isEqualTo(there.crc()).isEqualTo(initiatorCrc || responderCrc);
        assertThat(here.revision()).isEqualTo(there.revision()).isEqualTo(enhanced ? 2 : 1);
        assertThat(here.rtr()).isEqualTo(there.rtr());
        assertThat(here.privateData()).isEqualTo(RawFrame.bytes(5));
        assertThat(there.privateData()).isEqualTo(RawFrame.bytes(3));
        if (enhanced) {
            assertThat(here.ord()).isLessThanOrEqualTo(there.ird());
            assertThat(there.ord()).isLessThanOrEqualTo(here.ird());
        }
    }
}
