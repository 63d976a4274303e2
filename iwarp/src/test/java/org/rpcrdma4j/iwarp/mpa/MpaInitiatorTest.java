// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.rpcrdma4j.iwarp.mpa.EnhancedSetup.NO_NEGOTIATION;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome.Established;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome.Refused;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome.Rejected;

class MpaInitiatorTest {
    private static final byte[] DATA = RawFrame.bytes(8);
    private static final byte[] NOTHING = {};
    private static final MpaWishes WISHES = MpaWishes.of(1, 16);

    @Test
    void asksForCrcAndNoMarkersByDefault() {
        byte[] request = new MpaInitiator(WISHES, DATA).request();

        assertThat(RawFrame.flags(request)).isEqualTo(RawFrame.C | RawFrame.S);
        assertThat(RawFrame.revision(request)).isEqualTo(2);
        assertThat(RawFrame.pdLength(request)).isEqualTo(12);
        assertThat(RawFrame.word0(request)).isEqualTo(1);
        assertThat(RawFrame.word1(request)).isEqualTo(16);
    }

    @Test
    void usesThePlainFormWhenNoEnhancedFeatureIsWanted() {
        byte[] request = new MpaInitiator(WISHES.plain(), DATA).request();

        assertThat(request).isEqualTo(RawFrame.plain(RawFrame.REQUEST_KEY, RawFrame.C, DATA));
    }

    @Test
    void offersWriteAndReadButNeverSendAsRtr() {
        byte[] request = new MpaInitiator(WISHES.withPeerToPeer(true), NOTHING).request();

        assertThat(RawFrame.word0(request)).isEqualTo(RawFrame.A | 1);
        assertThat(RawFrame.word1(request)).isEqualTo(RawFrame.RTR_WRITE | RawFrame.RTR_READ | 16);
    }

    @Test
    void refusesTooMuchPrivateDataBeforeAnythingIsSent() {
        assertThatIllegalArgumentException().isThrownBy(() -> new MpaInitiator(WISHES, new byte[509]));
        assertThatIllegalArgumentException().isThrownBy(() -> new MpaInitiator(WISHES.plain(), new byte[513]));
        assertThat(new MpaInitiator(WISHES, new byte[508]).request()).hasSize(20 + 512);
    }

    @ParameterizedTest
    @CsvSource({"true, true, true", "true, false, true", "false, true, true", "false, false, false"})
    void usesCrcsUnlessBothSidesDeclined(boolean own, boolean peers, boolean used) throws MpaException {
        byte[] reply = RawFrame.enhanced(RawFrame.REPLY_KEY, peers ? RawFrame.C : 0, 16, 1, NOTHING);

        assertThat(established(WISHES.withCrc(own), reply).crc()).isEqualTo(used);
    }

    @Test
    void reportsTheReplyOnceItsLastByteIsThere() throws MpaException {
        byte[] reply = RawFrame.enhanced(RawFrame.REPLY_KEY, RawFrame.C, 16, 1, DATA);
        MpaInitiator initiator = new MpaInitiator(WISHES, NOTHING);

        for (int i = 0; i < reply.length - 1; i++) {
            assertThat(initiator.onBytes(ByteBuffer.wrap(reply, i, 1))).isNull();
        }

        assertThat(initiator.onBytes(ByteBuffer.wrap(reply, reply.length - 1, 1)))
                .isInstanceOf(Established.class);
    }

    @Test
    void leavesTheFpdusBehindTheReplyInTheBuffer() throws MpaException {
        byte[] reply = RawFrame.reply(16, 1);
        ByteBuffer source = ByteBuffer.allocate(reply.length + 20)
                .put(reply)
                .put(RawFrame.bytes(20))
                .flip();

        assertThat(new MpaInitiator(WISHES, NOTHING).onBytes(source)).isInstanceOf(Established.class);
        assertThat(source.remaining()).isEqualTo(20);
        assertThat(source.get()).isEqualTo((byte) 1);
    }

    @Test
    void raisesItsIrdAndLowersItsOrdToWhatTheReplySays() throws MpaException {
        Established established = established(WISHES, RawFrame.reply(2, 5));

        assertThat(established.ird()).isEqualTo(5);
        assertThat(established.ord()).isEqualTo(2);
        assertThat(established.peerIrd()).isEqualTo(2);
        assertThat(established.peerOrd()).isEqualTo(5);
        assertThat(established.rtr()).isNull();
    }

    @Test
    void keepsItsOwnDepthsWhereTheReplyIsMoreGenerous() throws MpaException {
        Established established = established(MpaWishes.of(7, 3), RawFrame.reply(100, 2));

        assertThat(established.ird()).isEqualTo(7);
        assertThat(established.ord()).isEqualTo(3);
    }

    @Test
    void keepsWhatTheReplyLeavesOpen() throws MpaException {
        Established established = established(MpaWishes.of(7, 3), RawFrame.reply(NO_NEGOTIATION, NO_NEGOTIATION));

        assertThat(established.ird()).isEqualTo(7);
        assertThat(established.ord()).isEqualTo(3);
        assertThat(established.peerIrd()).isEqualTo(NO_NEGOTIATION);
        assertThat(established.peerOrd()).isEqualTo(NO_NEGOTIATION);
    }

    @Test
    void terminatesWhenItCannotServeTheRespondersOrd() throws MpaException {
        Refused refused = refused(WISHES.withIrdLimit(4), RawFrame.reply(2, 5));

        assertThat(refused.terminate()).isEqualTo(TerminateError.MPA_INSUFFICIENT_IRD);
        assertThat(refused.reason()).isEqualTo("expected ORD 4 at most, found 5");
        assertThat(refused.peerIrd()).isEqualTo(2);
        assertThat(refused.peerOrd()).isEqualTo(5);
        assertThat(established(WISHES.withIrdLimit(5), RawFrame.reply(2, 5)).ird())
                .isEqualTo(5);
    }

    @ParameterizedTest
    @CsvSource({"0x8000, WRITE", "0x4000, READ", "0xC000, WRITE"})
    void sendsAnRtrThatTheReplyNames(String flags, Rtr rtr) throws MpaException {
        byte[] reply = RawFrame.reply(RawFrame.A | 16, Integer.decode(flags) | 1);

        assertThat(established(WISHES.withPeerToPeer(true), reply).rtr()).isEqualTo(rtr);
    }

    @Test
    void sendsNoSendAsRtrEvenIfItIsNamedToo() throws MpaException {
        byte[] reply = RawFrame.reply(RawFrame.A | RawFrame.B | 16, RawFrame.RTR_READ | 1);

        assertThat(established(WISHES.withPeerToPeer(true), reply).rtr()).isEqualTo(Rtr.READ);
    }

    @ParameterizedTest
    @ValueSource(ints = {RawFrame.A | RawFrame.B, RawFrame.A})
    void terminatesWhenItCanSendNoneOfTheNamedRtrs(int flags) throws MpaException {
        assertThat(refused(WISHES.withPeerToPeer(true), RawFrame.reply(flags | 16, 1))
                        .terminate())
                .isEqualTo(TerminateError.MPA_NO_MATCHING_RTR);
    }

    @Test
    void terminatesWhenTheReplyDoesNotTakeUpThePeerToPeerModel() throws MpaException {
        byte[] reply = RawFrame.reply(16, RawFrame.RTR_WRITE | 1);

        assertThat(refused(WISHES.withPeerToPeer(true), reply).terminate())
                .isEqualTo(TerminateError.MPA_NO_MATCHING_RTR);
    }

    @Test
    void sendsNoRtrInTheClientServerModel() throws MpaException {
        assertThat(established(WISHES, RawFrame.reply(RawFrame.B | 16, RawFrame.RTR_WRITE | 1))
                        .rtr())
                .isNull();
    }

    @Test
    void sendsTheNamedRtrAlsoToAResponderThatWasNotAskedForOne() throws MpaException {
        assertThat(established(WISHES, RawFrame.reply(RawFrame.A | 16, RawFrame.RTR_READ | 1))
                        .rtr())
                .isEqualTo(Rtr.READ);
    }

    @Test
    void refusesAReplyThatAsksForMarkersWithoutATerminate() throws MpaException {
        byte[] reply = RawFrame.enhanced(RawFrame.REPLY_KEY, RawFrame.M | RawFrame.C, 16, 1, DATA);

        Refused refused = refused(WISHES, reply);

        assertThat(refused.terminate()).isNull();
        assertThat(refused.reason()).contains("markers");
        assertThat(refused.privateData()).isEqualTo(DATA);
    }

    @Test
    void reportsARejectWithItsDepthsAndItsPrivateData() throws MpaException {
        byte[] reply = RawFrame.enhanced(RawFrame.REPLY_KEY, RawFrame.R | RawFrame.C, 3, 9, DATA);

        MpaOutcome outcome = RawFrame.outcome(new MpaInitiator(WISHES, NOTHING), reply);

        assertThat(outcome).isInstanceOf(Rejected.class);
        assertThat(outcome.peerIrd()).isEqualTo(3);
        assertThat(outcome.peerOrd()).isEqualTo(9);
        assertThat(outcome.privateData()).isEqualTo(DATA);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void takesABareRejectOfEitherRevision(int revision) throws MpaException {
        byte[] reply = RawFrame.of(RawFrame.REPLY_KEY, RawFrame.R, revision, 0, NOTHING);

        MpaOutcome outcome = RawFrame.outcome(new MpaInitiator(WISHES, NOTHING), reply);

        assertThat(outcome).isInstanceOf(Rejected.class);
        assertThat(outcome.peerIrd()).isEqualTo(MpaOutcome.NOT_STATED);
        assertThat(outcome.peerOrd()).isEqualTo(MpaOutcome.NOT_STATED);
    }

    @Test
    void refusesAPlainReplyToAnEnhancedRequest() {
        byte[] rev1 = RawFrame.plain(RawFrame.REPLY_KEY, RawFrame.C, NOTHING);
        byte[] rev2 = RawFrame.of(RawFrame.REPLY_KEY, RawFrame.C, 2, 0, NOTHING);

        assertThat(malformed(WISHES, rev1)).hasMessageContaining("S=1");
        assertThat(malformed(WISHES, rev2).error()).isEqualTo(MpaError.INVALID_STARTUP_FRAME);
    }

    @Test
    void refusesAnEnhancedReplyToAPlainRequest() {
        byte[] rev2 = RawFrame.of(RawFrame.REPLY_KEY, RawFrame.C, 2, 0, NOTHING);

        assertThat(malformed(WISHES.plain(), RawFrame.reply(16, 1)).error()).isEqualTo(MpaError.INVALID_STARTUP_FRAME);
        assertThat(malformed(WISHES.plain(), rev2).error()).isEqualTo(MpaError.INVALID_STARTUP_FRAME);
    }

    @Test
    void keepsItsWishesInThePlainForm() throws MpaException {
        Established established = established(WISHES.plain(), RawFrame.plain(RawFrame.REPLY_KEY, RawFrame.C, DATA));

        assertThat(established.revision()).isEqualTo(1);
        assertThat(established.ird()).isEqualTo(1);
        assertThat(established.ord()).isEqualTo(16);
        assertThat(established.peerIrd()).isEqualTo(MpaOutcome.NOT_STATED);
        assertThat(established.privateData()).isEqualTo(DATA);
    }

    @Test
    void tellsWhenTheStreamEndsBeforeTheReply() {
        assertThat(new MpaInitiator(WISHES, NOTHING).endOfStream())
                .hasMessageContaining("end of the stream")
                .extracting(MpaException::error)
                .isEqualTo(MpaError.CONNECTION_LOST);
    }

    private static Established established(MpaWishes wishes, byte[] reply) throws MpaException {
        return (Established) RawFrame.outcome(new MpaInitiator(wishes, NOTHING), reply);
    }

    private static Refused refused(MpaWishes wishes, byte[] reply) throws MpaException {
        return (Refused) RawFrame.outcome(new MpaInitiator(wishes, NOTHING), reply);
    }

    private static MpaException malformed(MpaWishes wishes, byte[] reply) {
        MpaInitiator initiator = new MpaInitiator(wishes, NOTHING);
        return catchThrowableOfType(MpaException.class, () -> initiator.onBytes(ByteBuffer.wrap(reply)));
    }
}
