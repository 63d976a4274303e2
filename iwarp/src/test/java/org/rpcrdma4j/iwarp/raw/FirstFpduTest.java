// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** Who sends the first FPDU and what it is: RFC 5044, Section 7.1.2; RFC 6581, Sections 5 and 9.2. */
class FirstFpduTest {
    private static final int A = 0x8000;
    private static final int B = 0x4000;
    private static final int C = 0x8000;
    private static final int D = 0x4000;

    private Rig rig = new Rig();

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private Stream openSendingAtOnce(Role role, boolean peerToPeer, byte[] words) {
        Stream stream = new Stream(rig.domain);
        stream.whenEstablished(() -> rig.send(stream, (byte) 1));
        ConnectOptions options =
                ConnectOptions.DEFAULT.withReads(16, 16).withPeerToPeer(peerToPeer && role == Role.INITIATOR);
        return rig.open(stream, role, options, words);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aResponderSendsNothingBeforeTheFirstFpduArrived(int kind) throws IOException {
        Stream stream = openSendingAtOnce(Role.RESPONDER, false, RawPeer.words(16, 16));
        assertThat(stream.peer().isSilentFor(150)).isTrue();
        assertThat(stream.isDone(1)).isFalse();
        if (kind == 0) {
            stream.peer().send(Ulpdu.nothing());
        } else {
            stream.peer().send(Ulpdu.readRequest(1, 1, 2, 0, 0, 0));
        }
        Ulpdu first = stream.peer().receive();
        Ulpdu second = kind == 0 ? first : stream.peer().receive();
        assertThat(List.of(first, second)).contains(Ulpdu.send(1, (byte) 1));
        assertThat(stream.status(1)).isEqualTo(Status.SUCCESS);
        rig.assertCounts(0, 0, 0);
    }

    @Test
    void halfAnFpduDoesNotReleaseAResponder() throws IOException {
        Stream stream = openSendingAtOnce(Role.RESPONDER, false, RawPeer.words(16, 16));
        byte[] frame = stream.peer().fpdus(Ulpdu.nothing());
        stream.peer().send(frame, 0, frame.length - 1);
        assertThat(stream.peer().isSilentFor(100)).isTrue();
        stream.peer().send(frame, frame.length - 1, frame.length);
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
    }

    @Test
    void aBadFirstFpduIsAnsweredByATerminateAndNothingElse() throws IOException {
        Stream stream = openSendingAtOnce(Role.RESPONDER, false, RawPeer.words(16, 16));
        byte[] frame = stream.peer().fpdus(Ulpdu.nothing());
        frame[frame.length - 1] ^= 1;
        stream.peer().send(frame);
        rig.assertEndedBy(stream, Ulpdu.terminate(2, 0, 2));
        assertThat(stream.status(1)).isEqualTo(Status.FLUSHED);
    }

    @Test
    void anInitiatorSendsFirstAndATerminateOfTheResponderAsFirstFpduIsTaken() throws IOException {
        Stream stream = openSendingAtOnce(Role.INITIATOR, false, RawPeer.words(16, 16));
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
        stream.peer().send(Ulpdu.terminate(1, 0, 0));
        stream.peer().expectFin();
        rig.assertEnded(stream, Cause.REMOTE_ERROR);
    }

    /** The peer's Reply names what it takes; that goes out first, once, though the program posts a Send at once. */
    @ParameterizedTest
    @CsvSource({"0,0x8000", "0,0x4000", "0,0xC000", "0x4000,0x8000", "0x4000,0x4000"})
    void asInitiatorTheRtrIsWhatTheReplyLeftAndComesFirst(String b, String cd) throws IOException {
        int flags = Integer.decode(cd);
        Stream stream = openSendingAtOnce(Role.INITIATOR, true, RawPeer.words(A | Integer.decode(b) | 16, flags | 16));
        Ulpdu rtr = stream.peer().receive();
        int msn = 1;
        if ((flags & C) != 0) {
            assertThat(rtr.opcode()).isEqualTo(Ulpdu.WRITE);
            assertThat(rtr.payload()).isEmpty();
            assertThat(rtr.isLast()).isTrue();
        } else {
            assertThat(rtr.opcode()).isEqualTo(Ulpdu.READ_REQUEST);
            assertThat(rtr.intAt(Ulpdu.AT_MSN)).isEqualTo(msn++);
            assertThat(rtr.intAt(30)).as("size").isZero();
        }
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
        if (rtr.opcode() == Ulpdu.READ_REQUEST) {
            stream.peer().send(Ulpdu.response(rtr.intAt(18), rtr.longAt(22)));
        }
        MemoryRegion sink = rig.region(rig.patch(8), Access.LOCAL_WRITE);
        long read = rig.read(stream, sink);
        assertThat(stream.peer().receive().intAt(Ulpdu.AT_MSN)).isEqualTo(msn);
        stream.peer().send(Ulpdu.response(sink.remoteKey(), sink.remoteAddress(), new byte[8]));
        assertThat(stream.status(read)).isEqualTo(Status.SUCCESS);
        rig.assertCounts(0, 0, 0);
    }

    @Test
    void theResponseToAnRtrByReadCompletesNoReadOfTheProgram() throws IOException {
        Stream stream = rig.open(
                Role.INITIATOR,
                rig.domain,
                ConnectOptions.DEFAULT.withReads(4, 4).withPeerToPeer(true),
                RawPeer.words(A | 4, D | 4));
        MemoryRegion sink = rig.region(rig.patch(8), Access.LOCAL_WRITE);
        long read = rig.read(stream, sink);
        Ulpdu rtr = stream.peer().receive();
        assertThat(stream.peer().receive().intAt(Ulpdu.AT_MSN)).isEqualTo(2);
        long receive = rig.receive(stream, rig.patch(8));
        stream.peer().send(Ulpdu.response(rtr.intAt(18), rtr.longAt(22)), Ulpdu.send(1));
        stream.await(receive);
        assertThat(stream.isDone(read)).isFalse();
        stream.peer().send(Ulpdu.response(sink.remoteKey(), sink.remoteAddress(), new byte[8]));
        assertThat(stream.status(read)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void aSecondResponseToAnRtrByReadIsUnexpected() throws IOException {
        Stream stream = rig.open(
                Role.INITIATOR,
                rig.domain,
                ConnectOptions.DEFAULT.withReads(4, 4).withPeerToPeer(true),
                RawPeer.words(A | 4, D | 4));
        Ulpdu rtr = stream.peer().receive();
        Ulpdu response = Ulpdu.response(rtr.intAt(18), rtr.longAt(22));
        stream.peer().send(response, response);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, 2, 6, response));
    }

    /** The raw initiator asks for each combination; what the Reply names is what it then sends, and it is obeyed. */
    @ParameterizedTest
    @CsvSource({
        "0,0,0x8000",
        "0,0x8000,0x8000",
        "0,0x4000,0x4000",
        "0,0xC000,0x8000",
        "0x4000,0,0x8000",
        "0x4000,0x4000,0x4000"
    })
    void asResponderAnyRtrReleasesWhatWasPosted(String b, String cd, String named) throws IOException {
        Stream stream =
                openSendingAtOnce(Role.RESPONDER, true, RawPeer.words(A | Integer.decode(b) | 16, Integer.decode(cd)));
        assertThat(stream.replyWords()[2] & 0xC0).isEqualTo(Integer.decode(named) >> 8);
        assertThat(stream.replyWords()[0] & 0xC0).isEqualTo(A >> 8);
        assertThat(stream.peer().isSilentFor(50)).isTrue();
        boolean byRead = Integer.decode(named) == D;
        Ulpdu rtr = byRead ? Ulpdu.readRequest(1, 3, 4, 0, 0, 0) : Ulpdu.write(0, 0);
        stream.peer().send(rtr);
        Ulpdu first = stream.peer().receive();
        if (byRead) {
            Ulpdu second = stream.peer().receive();
            assertThat(List.of(first, second)).containsExactlyInAnyOrder(Ulpdu.response(3, 4), Ulpdu.send(1, (byte) 1));
        } else {
            assertThat(first).isEqualTo(Ulpdu.send(1, (byte) 1));
        }
        rig.assertCounts(0, 0, 0);
    }

    @Test
    void anRtrBySendThatNobodyOfferedTakesAReceiveLikeAnySend() throws IOException {
        Stream stream = new Stream(rig.domain);
        long receive = rig.receive(stream, rig.patch(8));
        rig.open(stream, Role.RESPONDER, ConnectOptions.DEFAULT, RawPeer.words(A | B | 16, 16));
        stream.peer().send(Ulpdu.send(1));
        assertThat(stream.await(receive).byteLength()).isZero();
    }

    @Test
    void receivesPostedBeforeTheAcceptTakeASendRightBehindTheReply() throws IOException {
        Stream stream = new Stream(rig.domain);
        Patch patch = rig.patch(8);
        long receive = rig.receive(stream, patch);
        rig.open(stream, Role.RESPONDER, ConnectOptions.DEFAULT, RawPeer.words(16, 16));
        stream.peer().send(Ulpdu.send(1, (byte) 4));
        assertThat(stream.await(receive).byteLength()).isEqualTo(1);
        patch.assertHolds(0, (byte) 4);
    }

    @Test
    void aSilentResponderIsKickedByEmptyWritesAndNotForEver() throws IOException {
        rig.close();
        rig = new Rig(Map.of("kick-millis", "10"));
        Stream stream = openSendingAtOnce(Role.INITIATOR, false, RawPeer.words(16, 16));
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
        for (int i = 0; i < 5; i++) {
            Ulpdu kick = stream.peer().receive();
            assertThat(kick.opcode()).isEqualTo(Ulpdu.WRITE);
            assertThat(kick.stag()).as("some cards refuse 0").isNotZero();
            assertThat(kick.payload()).isEmpty();
        }
        assertThat(stream.peer().isSilentFor(100)).isTrue();
        assertThat(rig.device.counters()).containsEntry("stream.kicks", 5L);
        rig.assertInOrder(stream, 1);
    }

    @Test
    void aResponderThatAnswersIsNotKicked() throws IOException {
        rig.close();
        rig = new Rig(Map.of("kick-millis", "200"));
        Stream stream = openSendingAtOnce(Role.INITIATOR, false, RawPeer.words(16, 16));
        stream.peer().send(Ulpdu.nothing());
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
        assertThat(stream.peer().isSilentFor(350)).isTrue();
        assertThat(rig.device.counters()).containsEntry("stream.kicks", 0L);
    }

    @Test
    void theNegotiatedVersionStandsInEverySegmentWhateverTheRevision() throws IOException {
        rig.withPeerFlags(RawPeer.C);
        Stream stream = openSendingAtOnce(Role.RESPONDER, false, new byte[0]);
        stream.peer().send(Ulpdu.nothing());
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
        rig.assertCounts(0, 0, 0);
    }
}
