// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** Peers that stop in the middle, in either direction: nobody else waits for them, and they can be ended at any time. */
class StalledPeerTest {
    private final Rig rig = new Rig();

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    /** The peer begins a Write and falls silent. */
    private Stream stalled(Role role, int sent, MemoryRegion target) throws IOException {
        Stream stream = rig.openNudged(role);
        byte[] frame = stream.peer().fpdus(Ulpdu.write(target.remoteKey(), target.remoteAddress(), new byte[60_000]));
        stream.peer().send(frame, 0, Math.min(sent, frame.length - 1));
        return stream;
    }

    @ParameterizedTest
    @CsvSource({"INITIATOR,1", "RESPONDER,2", "RESPONDER,15", "INITIATOR,17", "RESPONDER,3000", "RESPONDER,60019"})
    void halfAFrameHoldsUpNoOtherStreamAndTheStreamCanBeAborted(Role role, int sent) throws IOException {
        Patch patch = rig.patch(60_000);
        MemoryRegion target = rig.region(patch, Access.REMOTE_WRITE);
        Stream stream = stalled(role, sent, target);
        long receive = rig.receive(stream, rig.patch(8));
        rig.receive(stream, rig.patch(8));
        stream.queuePair.abort();
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
        rig.assertEnded(stream, Cause.LOCAL_CLOSE);
        rig.assertCounts(0, 0, 0);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 17, 30_000})
    void theEndOfTheStreamInTheMiddleOfAFrameIsALoss(int sent) throws IOException {
        Patch patch = rig.patch(60_000);
        Stream stream = stalled(Role.RESPONDER, sent, rig.region(patch, Access.REMOTE_WRITE));
        long receive = rig.receive(stream, rig.patch(8));
        stream.peer().finish();
        Disconnect end = stream.awaitDisconnect();
        assertThat(end.cause()).isEqualTo(Cause.CONNECTION_LOST);
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
        rig.assertEnded(stream, Cause.CONNECTION_LOST);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theEndOfTheStreamInTheMiddleOfAMessageIsALoss(boolean tagged) throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        MemoryRegion target = rig.region(rig.patch(8), Access.REMOTE_WRITE);
        rig.receive(stream, rig.patch(8));
        stream.peer()
                .send(
                        tagged
                                ? Ulpdu.write(target.remoteKey(), target.remoteAddress(), (byte) 1)
                                        .notLast()
                                : Ulpdu.send(1, (byte) 1).notLast());
        stream.peer().finish();
        rig.assertEnded(stream, Cause.CONNECTION_LOST);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theEndOfTheStreamBetweenMessagesIsInOrderAndAResetIsALoss(boolean reset) throws IOException {
        Stream stream = rig.openNudged(Role.INITIATOR);
        long first = rig.receive(stream, rig.patch(8));
        long second = rig.receive(stream, rig.patch(8));
        stream.peer().send(Ulpdu.send(1, (byte) 1));
        stream.await(first);
        if (reset) {
            stream.peer().reset();
        } else {
            stream.peer().finish();
            stream.peer().expectFin();
        }
        rig.assertEnded(stream, reset ? Cause.CONNECTION_LOST : Cause.REMOTE_CLOSE);
        assertThat(stream.status(first)).isEqualTo(Status.SUCCESS);
        assertThat(stream.status(second)).isEqualTo(Status.FLUSHED);
        rig.assertCounts(0, 0, 0);
    }

    @Test
    void nobodySpinsForHalfAFrameOrAPeerThatDoesNotRead() throws IOException {
        MemoryRegion target = rig.region(rig.patch(60_000), Access.REMOTE_WRITE);
        Stream half = stalled(Role.RESPONDER, 3000, target);
        Stream deaf = rig.openNudged(Role.RESPONDER);
        MemoryRegion source = rig.region(rig.patch(16 << 20), Access.REMOTE_READ);
        deaf.peer().send(Ulpdu.readRequest(1, 1, 0, 16 << 20, source.remoteKey(), source.remoteAddress()));
        deaf.peer().receive();
        assertThat(half.peer().isSilentFor(100)).isTrue();
        long before = cpuOfLoops();
        assertThat(half.peer().isSilentFor(300)).isTrue();
        assertThat(cpuOfLoops() - before)
                .as("CPU time of the I/O threads in 300 ms, nanoseconds")
                .isLessThan(TimeUnit.MILLISECONDS.toNanos(60));
        deaf.queuePair.abort();
        assertThat(deaf.awaitDisconnect().cause()).isEqualTo(Cause.LOCAL_CLOSE);
    }

    private long cpuOfLoops() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        int found = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith(rig.device.name() + "-io")) {
                sum += threads.getThreadCpuTime(thread.getThreadId());
                found++;
            }
        }
        assertThat(found).as("I/O threads").isEqualTo(2);
        return sum;
    }

    @Test
    void halfAWriteHoldsUpNoInvalidationOfItsTarget() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(60_000);
        FastRegion region = rig.fast(stream, patch, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        Ulpdu write = Ulpdu.write(region.remoteKey(), 0, new byte[60_000]);
        byte[] frame = stream.peer().fpdus(write);
        stream.peer().send(frame, 0, 30_000);
        long id = stream.nextId();
        stream.post(new LocalInvalidateRequest().id(id).key(region.remoteKey()));
        assertThat(stream.status(id)).isEqualTo(Status.SUCCESS);
        stream.peer().send(frame, 30_000, frame.length);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, write));
        patch.assertUntouched();
    }

    @Test
    void aPeerThatDoesNotReadStillHasItsSendsDelivered() throws IOException {
        Stream stream = rig.openNudged(Role.RESPONDER);
        int size = 16 << 20;
        MemoryRegion source = rig.region(rig.patch(size), Access.REMOTE_READ);
        stream.peer().send(Ulpdu.readRequest(1, 1, 0, size, source.remoteKey(), source.remoteAddress()));
        for (int msn = 1; msn <= 20; msn++) {
            long receive = rig.receive(stream, rig.patch(8));
            stream.peer().send(Ulpdu.send(msn, (byte) msn));
            assertThat(stream.await(receive).isSuccess()).isTrue();
        }
        long got = 0;
        while (got < size) {
            got += stream.peer().receive().payload().length;
        }
        rig.assertInOrder(stream, 21);
    }

    @Test
    void aWriteIsNotCompleteWhileTheSocketTakesNothing() throws IOException {
        Stream stream = rig.openNudged(Role.INITIATOR);
        int size = 16 << 20;
        MemoryRegion source = rig.region(rig.patch(size), Access.LOCAL_READ);
        long id = stream.nextId();
        stream.post(new RdmaWriteRequest().id(id).sge(source, 0, size).target(0x1100, 0));
        stream.peer().receive();
        assertThat(stream.isDone(id)).isFalse();
        int got = 0;
        Ulpdu segment;
        do {
            segment = stream.peer().receive();
            got += segment.payload().length;
        } while (!segment.isLast());
        assertThat(stream.status(id)).isEqualTo(Status.SUCCESS);
        assertThat(got).isLessThan(size);
        rig.assertInOrder(stream, 1);
    }
}
