// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** The stream may be cut anywhere: RFC 5044, Sections 4.3, 5.1 and 6; and CRCs may be on or off: Section 4.4. */
class StreamSplitTest {
    private Rig rig = new Rig();

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private interface Cut {
        /** Sends these octets in pieces. */
        void send(RawPeer peer, byte[] octets) throws IOException;
    }

    /** One connection that sees every kind of message; returns what came of it. */
    private List<Object> session(Role role, Cut cut) throws IOException {
        Stream stream = rig.openNudged(role);
        int already = stream.completed();
        Patch target = rig.patch(4096);
        Patch source = rig.patch(4096);
        byte[] content = source.fillWithPattern();
        Patch sink = rig.patch(2048);
        FastRegion fast = rig.fast(stream, target, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0x10);
        MemoryRegion readable = rig.region(source, Access.REMOTE_READ);
        Patch received = rig.patch(4 * 4096);
        MemoryRegion receives = rig.region(received, Access.LOCAL_WRITE);
        for (int i = 0; i < 4; i++) {
            stream.post(new ReceiveRequest().sge(receives, 4096L * i, 4096));
        }
        MemoryRegion sinkRegion = rig.region(sink, Access.LOCAL_WRITE);
        long read = rig.read(stream, sinkRegion);
        assertThat(stream.peer().receive().opcode()).isEqualTo(Ulpdu.READ_REQUEST);
        int key = fast.remoteKey();
        byte[] octets = stream.peer()
                .fpdus(
                        Ulpdu.send(1, Patch.pattern(5)),
                        Ulpdu.write(key, 0x10, Patch.pattern(1001)).notLast(),
                        Ulpdu.send(2, Patch.pattern(1000)).notLast(),
                        Ulpdu.write(key, 0x10 + 1001, Patch.pattern(2)),
                        Ulpdu.untagged(Ulpdu.SEND, 0, 0, 2, 1000, Patch.pattern(501)),
                        Ulpdu.readRequest(1, 1, 2, 3000, readable.remoteKey(), readable.remoteAddress()),
                        Ulpdu.send(3),
                        Ulpdu.response(sinkRegion.remoteKey(), sinkRegion.remoteAddress(), Patch.pattern(1023))
                                .notLast(),
                        Ulpdu.response(sinkRegion.remoteKey(), sinkRegion.remoteAddress() + 1023, Patch.pattern(1025)),
                        Ulpdu.sendInvalidate(4, key, Patch.pattern(3)));
        cut.send(stream.peer(), octets);
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.response(1, 2, Arrays.copyOf(content, 3000)));
        stream.await(read);
        List<Object> outcome = new ArrayList<>();
        Waits.until(() -> stream.completed() == already + 6, stream::toString);
        for (long id : stream.order()) {
            WorkCompletion completion = stream.await(id);
            outcome.add(id + " " + completion.status() + " " + completion.byteLength() + " "
                    + completion.isWithInvalidate());
        }
        outcome.add(target.hash());
        outcome.add(received.hash());
        outcome.add(sink.hash());
        rig.assertInOrder(stream, 5);
        return outcome;
    }

    @Test
    void aSessionSentByteByByteOrCutAtRandomHasTheSameOutcome() throws IOException {
        List<Object> whole = session(Role.RESPONDER, RawPeer::send);
        assertThat(whole).hasSize(6 + 3);
        assertThat(session(Role.INITIATOR, RawPeer::send)).isEqualTo(whole);
        Cut bytes = (peer, octets) -> {
            for (int i = 0; i < octets.length; i++) {
                peer.send(octets, i, i + 1);
            }
        };
        assertThat(session(Role.RESPONDER, bytes)).isEqualTo(whole);
        assertThat(session(Role.INITIATOR, bytes)).isEqualTo(whole);
        Random random = new Random(7);
        for (int round = 0; round < 40; round++) {
            int most = 1 + random.nextInt(round % 2 == 0 ? 40 : 2000);
            Cut cut = (peer, octets) -> {
                for (int at = 0; at < octets.length; ) {
                    int end = Math.min(octets.length, at + 1 + random.nextInt(most));
                    peer.send(octets, at, end);
                    at = end;
                }
            };
            assertThat(session(round % 2 == 0 ? Role.INITIATOR : Role.RESPONDER, cut))
                    .as("round %d, most %d", round, most)
                    .isEqualTo(whole);
        }
    }

    @Test
    void everyCutOfASmallExchangeHasTheSameOutcome() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch target = rig.patch(8);
        MemoryRegion region = rig.region(target, Access.REMOTE_WRITE);
        Patch received = rig.patch(8);
        MemoryRegion receives = rig.region(received, Access.LOCAL_WRITE);
        int length = 2 + 15 + 3 + 4 + 2 + 19 + 3 + 4;
        for (int cut = 1; cut < length; cut++) {
            byte[] octets = stream.peer()
                    .fpdus(Ulpdu.write(region.remoteKey(), region.remoteAddress(), (byte) cut), Ulpdu.send(cut, (byte)
                            -cut));
            assertThat(octets).hasSize(length);
            long receive = stream.post(new ReceiveRequest().sge(receives, 0, 8));
            stream.peer().send(octets, 0, cut);
            stream.peer().send(octets, cut, length);
            assertThat(stream.await(receive).byteLength()).isEqualTo(1);
            target.assertHolds(0, (byte) cut);
            received.assertHolds(0, (byte) -cut);
        }
        rig.assertCounts(0, 0, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void anFpduIsForwardedOnlyWhenItsLastByteIsThere(int missing) throws IOException {
        Stream stream = rig.openNudged(Role.INITIATOR);
        Patch target = rig.patch(8);
        MemoryRegion region = rig.region(target, Access.REMOTE_WRITE);
        byte[] frame = stream.peer().fpdus(Ulpdu.write(region.remoteKey(), region.remoteAddress(), (byte) 1));
        stream.peer().send(frame, 0, frame.length - missing);
        assertThat(stream.peer().isSilentFor(30)).isTrue();
        target.assertUntouched();
        stream.peer().send(frame, frame.length - missing, frame.length);
        target.awaitOctet(0, 1);
        rig.assertInOrder(stream, 1);
    }

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void crcsAreOnUnlessBothDeclined(boolean ours, boolean theirs) throws IOException {
        for (Role role : Role.values()) {
            rig.close();
            rig = new Rig(Map.of("crc", String.valueOf(ours)));
            rig.withPeerFlags((theirs ? RawPeer.C : 0) | RawPeer.S);
            Stream stream = rig.openNudged(role);
            assertThat(stream.peer().usesCrc()).isEqualTo(ours || theirs);
            assertThat(stream.awaitEstablished().details()).contains(ours || theirs ? "CRC on" : "CRC off");
            rig.assertInOrder(stream, 1);
            for (int i = 0; i < 1000; i++) {
                stream.peer().send(Ulpdu.nothing());
            }
            byte[] frame = Ulpdu.nothing().fpdu(true);
            frame[frame.length - 1] ^= 0x10;
            stream.peer().send(frame);
            if (ours || theirs) {
                rig.assertEndedBy(stream, Ulpdu.terminate(2, 0, 2));
            } else {
                rig.assertInOrder(stream, 2);
            }
        }
    }

    @Test
    void withoutCrcsTheFieldHoldsAnythingFromTheFirstFpduOn() throws IOException {
        rig.close();
        rig = new Rig(Map.of("crc", "off"));
        rig.withPeerFlags(RawPeer.S);
        Stream stream = rig.open(Role.RESPONDER);
        Random random = new Random(3);
        Patch patch = rig.patch(8);
        for (int msn = 1; msn <= 20; msn++) {
            long receive = rig.receive(stream, patch);
            byte[] frame = Ulpdu.send(msn, (byte) msn).fpdu((byte) 0x33, false);
            for (int i = frame.length - 4; i < frame.length; i++) {
                frame[i] = (byte) random.nextInt();
            }
            stream.peer().send(frame);
            assertThat(stream.await(receive).byteLength()).isEqualTo(1);
        }
        rig.assertInOrder(stream, 21);
    }

    @Test
    void everyBitOfAnFpduIsUnderTheCrc() throws IOException {
        byte[] frame = Ulpdu.send(1, Patch.pattern(6)).fpdu(true);
        assertThat(frame).hasSize(32);
        // Bits of the length may leave the stream waiting for more; they are tested with more behind them.
        byte[] behind = new byte[70_000];
        for (int bit = 0; bit < 8 * frame.length; bit += 5) {
            byte[] damaged = frame.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            Patch patch = rig.patch(8);
            Stream stream = rig.openNudged(Role.RESPONDER);
            rig.receive(stream, patch);
            stream.peer().send(bit < 16 ? RawPeer.join(damaged, behind) : damaged);
            assertThat(stream.peer().receive()).as("bit %d", bit).isEqualTo(Ulpdu.terminate(2, 0, 2));
            stream.peer().close();
            patch.assertUntouched();
        }
        assertThat(rig.device.counters())
                .containsEntry("stream.crc_errors", 52L)
                .containsEntry("loop.task_errors", 0L);
    }

    @ParameterizedTest
    @CsvSource({"INITIATOR,2", "RESPONDER,16", "INITIATOR,1000", "RESPONDER,1017", "RESPONDER,1020"})
    void aWriteWithADamagedOctetChangesNothingAndNothingBehindItIsDelivered(Role role, int at) throws IOException {
        Stream stream = rig.openNudged(role);
        Patch target = rig.patch(1004);
        MemoryRegion region = rig.region(target, Access.REMOTE_WRITE);
        for (int i = 0; i < 10; i++) {
            rig.receive(stream, rig.patch(8));
        }
        Ulpdu write = Ulpdu.write(region.remoteKey(), region.remoteAddress(), new byte[1004]);
        byte[] frame = stream.peer().fpdus(write);
        frame[at] ^= 0x40;
        byte[][] sends = new byte[10][];
        for (int i = 0; i < sends.length; i++) {
            sends[i] = stream.peer().fpdus(Ulpdu.send(i + 1), write);
        }
        stream.peer().send(RawPeer.join(frame, RawPeer.join(sends)));
        rig.assertEndedBy(stream, Ulpdu.terminate(2, 0, 2));
        target.assertUntouched();
        for (long id = 1; id <= 10; id++) {
            assertThat(stream.status(id)).isEqualTo(Status.FLUSHED);
        }
    }
}
