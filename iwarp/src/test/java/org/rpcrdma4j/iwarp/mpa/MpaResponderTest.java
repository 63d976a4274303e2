// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.rpcrdma4j.iwarp.mpa.EnhancedSetup.NO_NEGOTIATION;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.error.MpaError;
import org.rpcrdma4j.iwarp.error.MpaException;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome.Established;
import org.rpcrdma4j.iwarp.mpa.MpaResponder.Acceptance;

class MpaResponderTest {
    private static final byte[] DATA = RawFrame.bytes(8);
    private static final byte[] NOTHING = {};
    private static final MpaWishes WISHES = MpaWishes.of(0, 0);

    @Test
    void showsTheRequestToTheUlpUnswapped() throws MpaException {
        MpaResponder responder = asked(WISHES, RawFrame.enhanced(RawFrame.REQUEST_KEY, RawFrame.C, 3, 11, DATA));

        MpaFrame request = responder.request();
        assertThat(request.privateData()).isEqualTo(DATA);
        assertThat(request.revision()).isEqualTo(2);
        assertThat(RawFrame.words(request.enhancedSetup()).ird()).isEqualTo(3);
        assertThat(RawFrame.words(request.enhancedSetup()).ord()).isEqualTo(11);
        Established established = responder.accept(NOTHING, 0, 16).established();
        assertThat(established.peerIrd()).isEqualTo(3);
        assertThat(established.peerOrd()).isEqualTo(11);
        assertThat(established.privateData()).isEqualTo(DATA);
    }

    @Test
    void lowersItsOrdToTheRequestsIrd() throws MpaException {
        Acceptance acceptance = accept(RawFrame.request(3, 0), 0, 16);

        assertThat(RawFrame.depth(RawFrame.word1(acceptance.reply()))).isEqualTo(3);
        assertThat(acceptance.established().ord()).isEqualTo(3);
    }

    @Test
    void keepsItsOrdWhenTheRequestsIrdIsLarger() throws MpaException {
        assertThat(accept(RawFrame.request(30, 0), 0, 16).established().ord()).isEqualTo(16);
    }

    @Test
    void raisesItsIrdToTheRequestsOrd() throws MpaException {
        Acceptance acceptance = accept(RawFrame.request(3, 8), 2, 16);

        assertThat(RawFrame.depth(RawFrame.word0(acceptance.reply()))).isEqualTo(8);
        assertThat(acceptance.established().ird()).isEqualTo(8);
    }

    @Test
    void raisesItsIrdNoFurtherThanItsLimit() throws MpaException {
        Acceptance acceptance = accept(RawFrame.request(3, 16383 - 1), 2, 16);

        assertThat(RawFrame.depth(RawFrame.word0(acceptance.reply()))).isEqualTo(128);
        assertThat(acceptance.established().ird()).isEqualTo(128);
    }

    @Test
    void keepsItsIrdWhenTheRequestsOrdIsAllOnes() throws MpaException {
        Acceptance acceptance = accept(RawFrame.request(3, NO_NEGOTIATION), 5, 16);

        assertThat(RawFrame.depth(RawFrame.word0(acceptance.reply()))).isEqualTo(NO_NEGOTIATION);
        assertThat(RawFrame.depth(RawFrame.word1(acceptance.reply()))).isEqualTo(3);
        assertThat(acceptance.established().ird()).isEqualTo(5);
    }

    @Test
    void keepsItsOrdWhenTheRequestsIrdIsAllOnes() throws MpaException {
        Acceptance acceptance = accept(RawFrame.request(NO_NEGOTIATION, 7), 5, 16);

        assertThat(RawFrame.depth(RawFrame.word0(acceptance.reply()))).isEqualTo(7);
        assertThat(RawFrame.depth(RawFrame.word1(acceptance.reply()))).isEqualTo(NO_NEGOTIATION);
        assertThat(acceptance.established().ord()).isEqualTo(16);
        assertThat(acceptance.established().peerIrd()).isEqualTo(NO_NEGOTIATION);
    }

    @ParameterizedTest
    @CsvSource({
        "0x0000, 0x0000, WRITE",
        "0x4000, 0x0000, WRITE",
        "0x0000, 0x8000, WRITE",
        "0x0000, 0x4000, READ",
        "0x4000, 0x4000, READ",
        "0x0000, 0xC000, WRITE",
        "0x4000, 0xC000, WRITE",
    })
    void answersThePeerToPeerModelWithExactlyOneRtr(String flagB, String flagsCd, Rtr rtr) throws MpaException {
        byte[] request = RawFrame.request(RawFrame.A | Integer.decode(flagB) | 4, Integer.decode(flagsCd) | 4);

        Acceptance acceptance = accept(request, 0, 4);

        assertThat(acceptance.established().rtr()).isEqualTo(rtr);
        assertThat(RawFrame.word0(acceptance.reply())).isEqualTo(RawFrame.A | 4);
        assertThat(RawFrame.word1(acceptance.reply()))
                .isEqualTo((rtr == Rtr.WRITE ? RawFrame.RTR_WRITE : RawFrame.RTR_READ) | 4);
    }

    @Test
    void answersTheClientServerModelWithoutAnyFlag() throws MpaException {
        byte[] request = RawFrame.request(RawFrame.B | 4, RawFrame.RTR_WRITE | RawFrame.RTR_READ | 5);

        Acceptance acceptance = accept(request, 0, 16);

        assertThat(RawFrame.word0(acceptance.reply())).isEqualTo(5);
        assertThat(RawFrame.word1(acceptance.reply())).isEqualTo(4);
        assertThat(acceptance.established().rtr()).isNull();
    }

    @Test
    void hasRoomForAReadRtrEvenIfTheUlpsWantNoReads() throws MpaException {
        Acceptance acceptance = accept(RawFrame.request(RawFrame.A, RawFrame.RTR_READ), 0, 0);

        assertThat(RawFrame.depth(RawFrame.word0(acceptance.reply()))).isEqualTo(1);
        assertThat(acceptance.established().ird()).isEqualTo(1);
        assertThat(accept(RawFrame.request(RawFrame.A, RawFrame.RTR_WRITE), 0, 0)
                        .established()
                        .ird())
                .isZero();
    }

    @ParameterizedTest
    @CsvSource({"true, true, true", "true, false, true", "false, true, true", "false, false, false"})
    void usesCrcsUnlessBothSidesDeclined(boolean own, boolean peers, boolean used) throws MpaException {
        byte[] request = RawFrame.plain(RawFrame.REQUEST_KEY, peers ? RawFrame.C : 0, NOTHING);

        Acceptance acceptance = asked(WISHES.withCrc(own), request).accept(NOTHING, 0, 0);

        assertThat(acceptance.established().crc()).isEqualTo(used);
        assertThat(RawFrame.flags(acceptance.reply())).isEqualTo(used ? RawFrame.C : 0);
    }

    @Test
    void asksForCrcByDefaultAlsoWhenTheRequestDoesNot() throws MpaException {
        byte[] request = RawFrame.plain(RawFrame.REQUEST_KEY, 0, NOTHING);

        assertThat(RawFrame.flags(accept(request, 0, 0).reply())).isEqualTo(RawFrame.C);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, 0x10", "2, 0"})
    void answersAPlainRequestInThePlainForm(int revision, String flags) throws MpaException {
        byte[] request = RawFrame.of(RawFrame.REQUEST_KEY, Integer.decode(flags) | RawFrame.C, revision, 8, DATA);

        Acceptance acceptance = accept(request, 2, 6);

        assertThat(acceptance.reply()).isEqualTo(RawFrame.of(RawFrame.REPLY_KEY, RawFrame.C, revision, 8, DATA));
        Established established = acceptance.established();
        assertThat(established.revision()).isEqualTo(revision);
        assertThat(established.ird()).isEqualTo(2);
        assertThat(established.ord()).isEqualTo(6);
        assertThat(established.peerIrd()).isEqualTo(MpaOutcome.NOT_STATED);
        assertThat(established.privateData()).isEqualTo(DATA);
    }

    @Test
    void echoesNoReservedBitAndNoRejectBit() throws MpaException {
        byte[] request = RawFrame.plain(RawFrame.REQUEST_KEY, RawFrame.C | RawFrame.R | 0x1F, NOTHING);

        assertThat(RawFrame.flags(accept(request, 0, 0).reply())).isEqualTo(RawFrame.C);
    }

    @Test
    void rejectsByTheUlpsWishWithItsPrivateData() throws MpaException {
        byte[] data = RawFrame.bytes(20);
        byte[] plain = asked(WISHES, RawFrame.plain(RawFrame.REQUEST_KEY, RawFrame.C, DATA))
                .reject(data);
        byte[] enhanced = asked(WISHES, RawFrame.request(4, 4)).reject(data);

        assertThat(plain).isEqualTo(RawFrame.plain(RawFrame.REPLY_KEY, RawFrame.C | RawFrame.R, data));
        assertThat(enhanced).isEqualTo(RawFrame.enhanced(RawFrame.REPLY_KEY, RawFrame.C | RawFrame.R, 4, 0, data));
    }

    @Test
    void namesTheOrdItNeedsInTheReject() throws MpaException {
        byte[] reply = asked(WISHES, RawFrame.request(0, 0)).reject(NOTHING, 1);

        assertThat(RawFrame.flags(reply)).isEqualTo(RawFrame.C | RawFrame.R | RawFrame.S);
        assertThat(RawFrame.word1(reply)).isEqualTo(1);
    }

    @Test
    void keepsTheModelInAReject() throws MpaException {
        byte[] request = RawFrame.request(RawFrame.A | 32, RawFrame.RTR_WRITE | RawFrame.RTR_READ | 32);

        byte[] reply = asked(MpaWishes.of(32, 32), request).reject(NOTHING);

        assertThat(RawFrame.word0(reply)).isEqualTo(RawFrame.A | 32);
        assertThat(RawFrame.word1(reply)).isEqualTo(RawFrame.RTR_WRITE | 32);
    }

    @Test
    void rejectsARequestThatAsksForMarkers() throws MpaException {
        byte[] request = RawFrame.enhanced(RawFrame.REQUEST_KEY, RawFrame.M | RawFrame.C, 4, 4, DATA);
        MpaResponder responder = asked(WISHES, request);

        assertThatIllegalStateException().isThrownBy(() -> responder.accept(NOTHING, 0, 0));
        byte[] reply = Objects.requireNonNull(responder.automaticReject());

        assertThat(RawFrame.flags(reply)).isEqualTo(RawFrame.C | RawFrame.R | RawFrame.S);
        assertThat(RawFrame.pdLength(reply)).isEqualTo(4);
        assertThatIllegalStateException().isThrownBy(() -> responder.reject(NOTHING));
    }

    @Test
    void leavesOtherRequestsToTheUlp() throws MpaException {
        assertThat(asked(WISHES, RawFrame.request(1, 1)).automaticReject()).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusesBytesBehindTheRequest(boolean inOneRead) throws MpaException {
        byte[] request = RawFrame.request(1, 1);
        ByteBuffer source = ByteBuffer.allocate(request.length + 1)
                .put(request)
                .put((byte) 0)
                .flip();
        MpaResponder responder = new MpaResponder(WISHES);
        if (!inOneRead) {
            assertThat(responder.onBytes(source.slice(0, request.length))).isTrue();
            source.position(request.length);
        }

        assertThat(catchThrowableOfType(MpaException.class, () -> responder.onBytes(source))
                        .error())
                .isEqualTo(MpaError.INVALID_STARTUP_FRAME);
    }

    @Test
    void takesNoFpduForARequest() {
        byte[] fpdu = {0, 0x17, 0x41, 0x43};

        assertThat(catchThrowableOfType(
                                MpaException.class, () -> new MpaResponder(WISHES).onBytes(ByteBuffer.wrap(fpdu)))
                        .error())
                .isEqualTo(MpaError.INVALID_STARTUP_FRAME);
    }

    @Test
    void answersOnlyOnceAndOnlyACompleteRequest() throws MpaException {
        MpaResponder early = new MpaResponder(WISHES);
        MpaResponder answered = asked(WISHES, RawFrame.request(1, 1));
        answered.accept(NOTHING, 0, 0);

        assertThatIllegalStateException().isThrownBy(() -> early.accept(NOTHING, 0, 0));
        assertThatIllegalStateException().isThrownBy(early::request);
        assertThatIllegalStateException().isThrownBy(() -> answered.accept(NOTHING, 0, 0));
        assertThatIllegalStateException().isThrownBy(() -> answered.onBytes(ByteBuffer.allocate(1)));
        assertThat(early.endOfStream().error()).isEqualTo(MpaError.CONNECTION_LOST);
    }

    @Test
    void mayBeAnsweredAgainWhenThePrivateDataDidNotFit() throws MpaException {
        MpaResponder responder = asked(WISHES, RawFrame.request(1, 1));

        assertThatIllegalArgumentException().isThrownBy(() -> responder.accept(new byte[509], 0, 0));
        assertThat(responder.accept(new byte[508], 0, 0).reply()).hasSize(532);
    }

    private static MpaResponder asked(MpaWishes wishes, byte[] request) throws MpaException {
        MpaResponder responder = new MpaResponder(wishes);
        assertThat(responder.onBytes(ByteBuffer.wrap(request))).isTrue();
        return responder;
    }

    private static Acceptance accept(byte[] request, int ird, int ord) throws MpaException {
        return asked(WISHES, request).accept(RawFrame.pdLength(request) == 8 ? DATA : NOTHING, ird, ord);
    }
}
