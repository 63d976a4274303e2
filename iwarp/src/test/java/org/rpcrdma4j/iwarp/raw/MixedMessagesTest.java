// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** Segments of several messages, mixed or changing on the way: RFC 5041, Sections 4.2, 4.3, 5.3 and 5.4. */
class MixedMessagesTest {
    private final Rig rig = new Rig();
    private final Patch target = rig.patch(64);
    private final Patch other = rig.patch(64);
    private Stream stream;
    private MemoryRegion region;
    private long receive;
    private final Patch received = rig.patch(64);

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private void open(Role role) {
        stream = rig.openNudged(role);
        region = rig.region(target, Access.REMOTE_READ_WRITE);
        receive = rig.receive(stream, received);
    }

    private Ulpdu write(int offset, int... values) {
        byte[] payload = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            payload[i] = (byte) values[i];
        }
        return Ulpdu.write(region.remoteKey(), region.remoteAddress() + offset, payload);
    }

    private static Ulpdu send(int opcode, int offset, int value) {
        return Ulpdu.untagged(opcode, 0, 0, 1, offset, (byte) value);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void oneTaggedAndOneUntaggedMessageMayBeOpenAtATime(Role role) throws IOException {
        open(role);
        stream.peer()
                .send(
                        write(0, 1, 2).notLast(),
                        send(Ulpdu.SEND, 0, 11).notLast(),
                        write(2, 3).notLast(),
                        send(Ulpdu.SEND, 1, 12).notLast(),
                        send(Ulpdu.SEND, 2, 13),
                        write(3, 4));
        assertThat(stream.await(receive).byteLength()).isEqualTo(3);
        rig.assertInOrder(stream, 2);
        target.assertHolds(0, (byte) 1, (byte) 2, (byte) 3, (byte) 4);
        received.assertHolds(0, (byte) 11, (byte) 12, (byte) 13);
    }

    @Test
    void aReadRequestMayComeInsideAWrite() throws IOException {
        open(Role.RESPONDER);
        stream.peer()
                .send(
                        write(0, 1).notLast(),
                        Ulpdu.readRequest(1, 7, 8, 1, region.remoteKey(), region.remoteAddress()),
                        write(1, 2));
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.response(7, 8, (byte) 1));
        rig.assertInOrder(stream, 1);
        target.assertHolds(0, (byte) 1, (byte) 2);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void aReadRequestInsideASendIsUnexpected(Role role) throws IOException {
        open(role);
        Ulpdu offender = Ulpdu.readRequest(1, 7, 8, 1, region.remoteKey(), region.remoteAddress());
        stream.peer().send(send(Ulpdu.SEND, 0, 1).notLast(), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, 2, 6, offender));
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void aReadResponseInsideAWriteIsUnexpected(Role role) throws IOException {
        open(role);
        MemoryRegion sink = rig.region(other, Access.LOCAL_WRITE);
        long read = rig.read(stream, sink);
        assertThat(stream.peer().receive().opcode()).isEqualTo(Ulpdu.READ_REQUEST);
        Ulpdu offender = Ulpdu.response(sink.remoteKey(), sink.remoteAddress(), new byte[64]);
        stream.peer().send(write(0, 1).notLast(), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, 2, 6, offender));
        assertThat(stream.status(read)).isEqualTo(Status.FLUSHED);
        other.assertUntouched();
        target.assertHolds(0, (byte) 1);
    }

    @Test
    void aWriteInsideAReadResponseIsUnexpected() throws IOException {
        open(Role.RESPONDER);
        MemoryRegion sink = rig.region(other, Access.LOCAL_WRITE);
        rig.read(stream, sink);
        stream.peer().receive();
        Ulpdu offender = write(0, 1);
        stream.peer()
                .send(
                        Ulpdu.response(sink.remoteKey(), sink.remoteAddress(), (byte) 9)
                                .notLast(),
                        offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, 2, 6, offender));
        other.assertHolds(0, (byte) 9);
        target.assertUntouched();
    }

    @ParameterizedTest
    @CsvSource({"3,5", "3,4", "3,6", "4,3", "5,3", "5,6", "6,4"})
    void theKindOfASendMustNotChangeInsideTheMessage(int first, int second) throws IOException {
        open(Role.RESPONDER);
        Ulpdu offender = send(second, 1, 2);
        stream.peer().send(send(first, 0, 1).notLast(), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, 2, 6, offender));
        received.assertHolds(0, (byte) 1);
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
    }

    @Test
    void theStagOfAWriteMustNotChangeInsideTheMessage() throws IOException {
        open(Role.RESPONDER);
        MemoryRegion second = rig.region(other, Access.REMOTE_WRITE);
        Ulpdu offender = Ulpdu.write(second.remoteKey(), second.remoteAddress() + 1, (byte) 2);
        stream.peer().send(write(0, 1).notLast(), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, offender));
        target.assertHolds(0, (byte) 1);
        other.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 32})
    void theOffsetOfAWriteGoesOnWhereItStopped(int offset) throws IOException {
        open(Role.INITIATOR);
        Ulpdu offender = write(offset, 9);
        stream.peer().send(write(0, 1, 2).notLast(), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 1, offender));
        target.assertHolds(0, (byte) 1, (byte) 2);
    }

    @Test
    void anEmptyLastSegmentEndsAWriteWhateverItsStag() throws IOException {
        open(Role.RESPONDER);
        stream.peer().send(write(0, 1, 2).notLast(), Ulpdu.nothing(), write(32, 3));
        rig.assertInOrder(stream, 1);
    }

    @Test
    void aWriteOfTwoRegionsThatMeetAtTheTopOfTheAddressSpaceDoesNotWrap() throws IOException {
        open(Role.RESPONDER);
        FastRegion top = rig.fast(stream, other, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, -64);
        Ulpdu first = Ulpdu.write(top.remoteKey(), -8, Patch.pattern(8)).notLast();
        Ulpdu offender = Ulpdu.write(top.remoteKey(), 0, (byte) 9);
        stream.peer().send(first, offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 1, offender));
        other.assertHolds(56, Patch.pattern(8));
    }

    @Test
    void ofUnequalInvalidateStagsInOneMessageTheFirstCounts() throws IOException {
        open(Role.RESPONDER);
        FastRegion first = rig.fast(stream, other, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        FastRegion second = rig.fast(stream, rig.patch(8), Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        stream.peer()
                .send(
                        Ulpdu.sendInvalidate(1, first.remoteKey(), (byte) 1).notLast(),
                        Ulpdu.untagged(Ulpdu.SEND_INVALIDATE, second.remoteKey(), 0, 1, 1, (byte) 2));
        WorkCompletion completion = stream.await(receive);
        assertThat(completion.invalidatedKey()).isEqualTo(first.remoteKey());
        assertThat(first.isValid()).isFalse();
        assertThat(second.isValid()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void aSendIsDeliveredOnlyWhenTheWriteBeforeItIsPlaced(Role role) throws IOException {
        open(role);
        for (int msn = 1; msn <= 50; msn++) {
            stream.peer().send(write(0, msn).notLast(), write(1, msn), Ulpdu.send(msn, (byte) msn));
            long next = stream.posted();
            assertThat(stream.await(msn == 1 ? receive : next).isSuccess()).isTrue();
            target.assertHolds(0, (byte) msn, (byte) msn);
            rig.receive(stream, rig.patch(1));
        }
    }

    @Test
    void aHundredSendsOfAllKindsAreDeliveredOnceAndInOrder() throws IOException {
        open(Role.RESPONDER);
        FastRegion fast = rig.fast(stream, other, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        int already = stream.completed();
        long[] ids = new long[100];
        ids[0] = receive;
        for (int i = 1; i < ids.length; i++) {
            ids[i] = rig.receive(stream, rig.patch(64));
        }
        Ulpdu[] sends = new Ulpdu[ids.length];
        for (int i = 0; i < sends.length; i++) {
            sends[i] = Ulpdu.untagged(3 + i % 4, fast.remoteKey(), 0, i + 1, 0, Patch.pattern(i % 60));
        }
        stream.peer().send(sends);
        for (int i = 0; i < ids.length; i++) {
            WorkCompletion completion = stream.await(ids[i]);
            assertThat(completion.isSuccess()).isTrue();
            assertThat(completion.byteLength()).isEqualTo(i % 60);
            assertThat(completion.isWithInvalidate()).isEqualTo(i % 4 == 1 || i % 4 == 3);
        }
        assertThat(stream.completed()).isEqualTo(already + 100);
        assertThat(stream.order())
                .containsSubsequence(Arrays.stream(ids).boxed().toList());
        rig.assertInOrder(stream, 101);
    }
}
