// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** What must not be taken for an error: reserved bits, pads, unused fields, the length of segments. */
class ToleranceTest {
    private final Rig rig = new Rig();

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    @ParameterizedTest
    @CsvSource({"3,0", "5,0", "3,0xffffffff", "5,0x12345678"})
    void reservedBitsAndUnusedInvalidateStagsOfASendAreNotLookedAt(int opcode, String stag) throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(16);
        long receive = rig.receive(stream, patch);
        Ulpdu send = Ulpdu.untagged(opcode, Long.decode(stag).intValue(), 0, 1, 0, (byte) 7);
        stream.peer().send(send.withOctet(0, 0x7D).withOctet(1, 0x70 | opcode));
        WorkCompletion completion = stream.await(receive);
        assertThat(completion.isSuccess()).isTrue();
        assertThat(completion.isWithInvalidate()).isFalse();
        patch.assertHolds(0, (byte) 7);
        rig.assertInOrder(stream, 2);
    }

    @Test
    void theInvalidateStagOfAPlainSendInvalidatesNothing() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        FastRegion region = rig.fast(stream, rig.patch(16), Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        rig.receive(stream, rig.patch(16));
        stream.peer().send(Ulpdu.untagged(Ulpdu.SEND, region.remoteKey(), 0, 1, 0, (byte) 7));
        rig.assertInOrder(stream, 2);
        assertThat(region.isValid()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void reservedBitsOfAWriteAreNotLookedAt(Role role) throws IOException {
        Stream stream = rig.openNudged(role);
        Patch patch = rig.patch(16);
        MemoryRegion region = rig.region(patch, Access.REMOTE_WRITE);
        stream.peer()
                .send(Ulpdu.write(region.remoteKey(), region.remoteAddress() + 3, (byte) 7)
                        .withOctet(0, 0xFD)
                        .withOctet(1, 0x70));
        rig.assertInOrder(stream, 1);
        patch.assertHolds(3, (byte) 7);
    }

    @Test
    void reservedBitsOfAReadRequestAreNotLookedAt() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(16);
        byte[] content = patch.fillWithPattern();
        MemoryRegion region = rig.region(patch, Access.REMOTE_READ);
        stream.peer()
                .send(Ulpdu.readRequest(1, 5, 6, 16, region.remoteKey(), region.remoteAddress())
                        .withOctet(0, 0x7D)
                        .withOctet(1, 0x71)
                        .withInt(Ulpdu.AT_STAG, -1));
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.response(5, 6, content));
        rig.assertInOrder(stream, 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void thePadIsNotLookedAtExceptByTheCrc(int length) throws IOException {
        Stream stream = rig.openNudged(Role.INITIATOR);
        Patch patch = rig.patch(16);
        rig.receive(stream, patch);
        stream.peer().send(Ulpdu.send(1, Patch.pattern(length)).fpdu((byte) 0xFF, true));
        rig.assertInOrder(stream, 2);
        patch.assertHolds(0, Patch.pattern(length));
    }

    @Test
    void aPadThatTheCrcDoesNotCoverIsACrcError() throws IOException {
        Stream stream = rig.openNudged(Role.INITIATOR);
        Patch patch = rig.patch(16);
        rig.receive(stream, patch);
        byte[] frame = Ulpdu.send(1, (byte) 1).fpdu((byte) 0, true);
        frame[frame.length - 5] = 1;
        stream.peer().send(frame);
        rig.assertEndedBy(stream, Ulpdu.terminate(2, 0, 2));
        patch.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(ints = {64_768, 65_532, 65_533, 65_534, 65_535})
    void ulpdusUpToAllThatTheLengthFieldCanSayAreAccepted(int ulpduLength) throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch sink = rig.patch(65_536);
        MemoryRegion region = rig.region(sink, Access.REMOTE_WRITE);
        byte[] content = Patch.pattern(ulpduLength - Ulpdu.TAGGED_HEADER);
        stream.peer()
                .send(
                        Ulpdu.write(region.remoteKey(), region.remoteAddress(), content),
                        Ulpdu.write(region.remoteKey(), region.remoteAddress(), content));
        Patch received = rig.patch(65_536);
        long receive = rig.receive(stream, received);
        byte[] message = Patch.pattern(ulpduLength - Ulpdu.UNTAGGED_HEADER);
        stream.peer().send(Ulpdu.send(1, message));
        assertThat(stream.await(receive).byteLength()).isEqualTo(message.length);
        received.assertHolds(0, message);
        sink.assertHolds(0, content);
        rig.assertInOrder(stream, 2);
    }

    @Test
    void emptySegmentsInsideAMessageChangeNothing() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(16);
        long receive = rig.receive(stream, patch);
        Ulpdu empty = Ulpdu.untagged(Ulpdu.SEND, 0, 0, 1, 2).notLast();
        stream.peer()
                .send(
                        Ulpdu.send(1).notLast(),
                        Ulpdu.send(1, (byte) 1, (byte) 2).notLast(),
                        empty,
                        empty,
                        Ulpdu.untagged(Ulpdu.SEND, 0, 0, 1, 2, (byte) 3));
        assertThat(stream.await(receive).byteLength()).isEqualTo(3);
        patch.assertHolds(0, (byte) 1, (byte) 2, (byte) 3);
        assertThat(rig.device.counters().get("stream.empty_segments")).isGreaterThanOrEqualTo(3);
        rig.assertInOrder(stream, 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 17, 1423, 1424, 1425, 4096})
    void aSendTakesOneReceiveAndTellsItsLength(int length) throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(4096);
        Patch next = rig.patch(4096);
        long receive = rig.receive(stream, patch);
        long second = rig.receive(stream, next);
        stream.peer().send(Ulpdu.send(1, Patch.pattern(length)));
        assertThat(stream.await(receive).byteLength()).isEqualTo(length);
        patch.assertHolds(0, Patch.pattern(length));
        next.assertUntouched();
        assertThat(stream.isDone(second)).isFalse();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void theLastSegmentDeliversAndNoneBefore(Role role) throws IOException {
        Stream stream = rig.openNudged(role);
        Patch seen = rig.patch(16);
        MemoryRegion region = rig.region(seen, Access.REMOTE_WRITE);
        Patch patch = rig.patch(16);
        long receive = rig.receive(stream, patch);
        stream.peer()
                .send(Ulpdu.send(1, (byte) 1).notLast(), Ulpdu.write(region.remoteKey(), region.remoteAddress(), (byte)
                        2));
        seen.awaitOctet(0, 2);
        assertThat(stream.isDone(receive)).isFalse();
        patch.assertHolds(0, (byte) 1);
        stream.peer().send(Ulpdu.untagged(Ulpdu.SEND, 0, 0, 1, 1, (byte) 3));
        assertThat(stream.await(receive).byteLength()).isEqualTo(2);
        patch.assertHolds(0, (byte) 1, (byte) 3);
        rig.assertInOrder(stream, 2);
    }

    @ParameterizedTest
    @CsvSource({"3,false", "4,false", "5,true", "6,true"})
    void onlySolicitedSendsWakeAQueueThatWaitsForThose(int opcode, boolean wakes) throws IOException {
        AtomicInteger calls = new AtomicInteger();
        Stream stream = new Stream(rig.domain, queue -> calls.incrementAndGet());
        rig.open(stream, Role.RESPONDER, ConnectOptions.DEFAULT, RawPeer.words(1, 1));
        Rig.nudge(stream);
        FastRegion region = rig.fast(stream, rig.patch(8), Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        stream.completions.requestNotify(CompletionQueue.Notify.SOLICITED);
        long first = rig.receive(stream, rig.patch(8));
        long second = rig.receive(stream, rig.patch(8));
        stream.peer().send(Ulpdu.untagged(opcode, region.remoteKey(), 0, 1, 0));
        stream.await(first);
        if (wakes) {
            Waits.until(() -> calls.get() == 1, () -> calls + " calls");
        }
        stream.peer().send(Ulpdu.untagged(Ulpdu.SEND_SOLICITED, 0, 0, 2, 0));
        stream.await(second);
        Waits.until(() -> calls.get() == 1, () -> calls + " calls");
        assertThat(stream.peer().isSilentFor(20)).isTrue();
        assertThat(calls).hasValue(1);
    }
}
