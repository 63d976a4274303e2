// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** Reads of the device and the Responses of the peer: RFC 5040, Sections 5.2.2, 5.5 and 6.1. */
class ReadResponseTest {
    private final Rig rig = new Rig();
    private final Patch patch = rig.patch(64);
    private Stream stream;
    private MemoryRegion sink;
    private long read;

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private void openAndRead(Role role) throws IOException {
        stream = rig.openNudged(role);
        sink = rig.region(patch, Access.LOCAL_WRITE);
        read = rig.read(stream, sink);
        assertThat(stream.peer().receive())
                .isEqualTo(Ulpdu.readRequest(1, sink.remoteKey(), sink.remoteAddress(), 64, 0x1100, 0x2200));
    }

    private Ulpdu response(int offset, byte... payload) {
        return Ulpdu.response(sink.remoteKey(), sink.remoteAddress() + offset, payload);
    }

    @ParameterizedTest
    @CsvSource({"INITIATOR,64", "RESPONDER,64", "RESPONDER,32", "INITIATOR,7", "RESPONDER,1"})
    void aResponseOfAnyNumberOfSegmentsCompletesTheReadWithItsLastOne(Role role, int size) throws IOException {
        openAndRead(role);
        byte[] content = Patch.pattern(64);
        for (int at = 0; at < 64; at += size) {
            assertThat(stream.isDone(read)).isFalse();
            int end = Math.min(64, at + size);
            Ulpdu segment = response(at, Arrays.copyOfRange(content, at, end));
            stream.peer().send(end == 64 ? segment : segment.notLast());
        }
        WorkCompletion completion = stream.await(read);
        assertThat(completion.isSuccess()).isTrue();
        assertThat(completion.operation()).isEqualTo(Operation.RDMA_READ);
        assertThat(completion.byteLength()).isEqualTo(64);
        patch.assertHolds(0, content);
        rig.assertInOrder(stream, 1);
    }

    @Test
    void aWholeResponseWithoutItsLastSegmentDoesNotComplete() throws IOException {
        openAndRead(Role.RESPONDER);
        stream.peer().send(response(0, Patch.pattern(64)).notLast());
        patch.awaitOctet(63, Patch.pattern(64)[63]);
        assertThat(stream.isDone(read)).isFalse();
        stream.peer().send(response(64));
        assertThat(stream.status(read)).isEqualTo(Status.SUCCESS);
        rig.assertInOrder(stream, 1);
    }

    @ParameterizedTest
    @CsvSource({
        // offset, bytes, L, code, status
        "1,64,true,1,LOCAL_LENGTH_ERROR",
        "-1,64,true,1,LOCAL_LENGTH_ERROR",
        "1,8,false,1,LOCAL_LENGTH_ERROR",
        "0,65,true,1,LOCAL_LENGTH_ERROR",
        "0,65,false,1,LOCAL_LENGTH_ERROR",
        "0,63,true,1,LOCAL_LENGTH_ERROR",
        "0,0,true,1,LOCAL_LENGTH_ERROR"
    })
    void aResponseThatDoesNotFitItsRequestIsRefused(int offset, int bytes, boolean last, int code, Status status)
            throws IOException {
        openAndRead(Role.RESPONDER);
        Ulpdu offender = response(offset, Patch.pattern(bytes));
        offender = last ? offender : offender.notLast();
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, code, offender));
        assertThat(stream.status(read)).isEqualTo(status);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @CsvSource({"7,8,false", "9,8,false", "8,57,false", "8,57,true", "8,55,true", "0,8,false"})
    void aLaterSegmentThatDoesNotFitTheRequestIsRefused(int offset, int bytes, boolean last) throws IOException {
        openAndRead(Role.INITIATOR);
        Ulpdu offender = response(offset, new byte[bytes]);
        offender = last ? offender : offender.notLast();
        stream.peer().send(response(0, Patch.pattern(8)).notLast(), offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 1, offender));
        assertThat(stream.status(read)).isEqualTo(Status.LOCAL_LENGTH_ERROR);
        patch.assertHolds(0, Patch.pattern(8));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void aResponseMustNotGoElsewhereEvenWherePeersMayWrite(Role role) throws IOException {
        openAndRead(role);
        Patch open = rig.patch(64);
        MemoryRegion writable = rig.region(open, Access.REMOTE_WRITE);
        Ulpdu offender = Ulpdu.response(writable.remoteKey(), writable.remoteAddress(), new byte[64]);
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, offender));
        assertThat(stream.status(read)).isEqualTo(Status.LOCAL_PROTECTION_ERROR);
        open.assertUntouched();
        patch.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8})
    void aResponseWithoutAReadIsUnexpected(int bytes) throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        MemoryRegion writable = rig.region(patch, Access.REMOTE_READ_WRITE);
        Ulpdu offender = Ulpdu.response(writable.remoteKey(), writable.remoteAddress(), new byte[bytes]);
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, 2, 6, offender));
        patch.assertUntouched();
    }

    @Test
    void aSecondResponseToOneReadIsUnexpected() throws IOException {
        openAndRead(Role.RESPONDER);
        Ulpdu good = response(0, Patch.pattern(64));
        stream.peer().send(good, good);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, 2, 6, good));
        assertThat(stream.status(read)).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void eightReadsCompleteInOrderEachWithItsSink(Role role) throws IOException {
        stream = rig.openNudged(role);
        List<Patch> sinks = new ArrayList<>();
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            sinks.add(rig.patch(32));
            ids.add(rig.read(stream, rig.region(sinks.get(i), Access.LOCAL_WRITE)));
        }
        List<Ulpdu> requests = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            requests.add(stream.peer().receive());
            assertThat(requests.get(i).intAt(Ulpdu.AT_MSN)).isEqualTo(i + 1);
        }
        for (int i = 0; i < 8; i++) {
            Ulpdu request = requests.get(i);
            stream.peer().send(Ulpdu.response(request.intAt(18), request.longAt(22), Patch.pattern(32)));
            assertThat(stream.status(ids.get(i))).isEqualTo(Status.SUCCESS);
            sinks.get(i).assertHolds(0, Patch.pattern(32));
            assertThat(stream.completed()).isEqualTo(i + 1);
        }
        assertThat(stream.order()).containsExactlyElementsOf(ids);
    }

    @Test
    void responsesInAnotherOrderThanTheRequestsAreRefused() throws IOException {
        openAndRead(Role.RESPONDER);
        Patch second = rig.patch(64);
        MemoryRegion secondSink = rig.region(second, Access.LOCAL_WRITE);
        long next = rig.read(stream, secondSink);
        stream.peer().receive();
        Ulpdu offender = Ulpdu.response(secondSink.remoteKey(), secondSink.remoteAddress(), new byte[64]);
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, offender));
        assertThat(stream.status(read)).isEqualTo(Status.LOCAL_PROTECTION_ERROR);
        assertThat(stream.status(next)).isEqualTo(Status.FLUSHED);
        second.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 16})
    void neverMoreReadsAreOpenThanAgreedAndWhatIsBehindWaits(int ord) throws IOException {
        stream = rig.open(Role.INITIATOR, rig.domain, ConnectOptions.DEFAULT.withReads(0, ord), RawPeer.words(ord, 0));
        sink = rig.region(patch, Access.LOCAL_WRITE);
        int reads = 3 * ord;
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < reads; i++) {
            ids.add(rig.read(stream, sink));
        }
        ids.add(rig.send(stream, (byte) 1));
        int open = 0;
        for (int seen = 0; seen < reads; seen++) {
            if (open == ord) {
                if (seen == ord) {
                    stream.peer().isSilentFor(30);
                }
                stream.peer().send(response(0, new byte[64]));
                open--;
            }
            assertThat(stream.peer().receive().opcode()).isEqualTo(Ulpdu.READ_REQUEST);
            open++;
        }
        // The last Read is on the wire, so the Send follows it at once, and still completes behind all Reads.
        assertThat(stream.peer().receive().opcode()).isEqualTo(Ulpdu.SEND);
        assertThat(stream.isDone(ids.getLast())).isFalse();
        for (; open > 0; open--) {
            stream.peer().send(response(0, new byte[64]));
        }
        assertThat(stream.status(ids.getLast())).isEqualTo(Status.SUCCESS);
        assertThat(stream.order()).containsExactlyElementsOf(ids);
    }

    @Test
    void aReadOfNothingIsAnsweredByASegmentWhoseStagIsNotLookedAt() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        sink = rig.region(patch, Access.LOCAL_WRITE);
        read = stream.nextId();
        stream.post(new RdmaReadRequest().id(read).sge(sink, 0, 0).source(0x1100, 0x2200));
        assertThat(stream.peer().receive().intAt(30)).as("size").isZero();
        stream.peer().send(Ulpdu.response(0x99, -5));
        assertThat(stream.status(read)).isEqualTo(Status.SUCCESS);
        rig.assertInOrder(stream, 1);
    }
}
