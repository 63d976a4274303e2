// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** When and how a Terminate leaves: RFC 5040, Sections 5.4, 6.2.1 and 7.1; RFC 5041, Sections 6.2 and 7.1. */
class TerminateSentTest {
    private static final Ulpdu LOCAL_ERROR = Ulpdu.terminate(0, 0, 0);

    private final Rig rig = new Rig();
    private Stream stream;

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void itIsTheLastThoughReadsArePendingAndSendsQueued(Role role) throws IOException {
        stream = rig.openNudged(role);
        MemoryRegion sink = rig.region(rig.patch(64), Access.LOCAL_WRITE);
        long read = rig.read(stream, sink);
        stream.peer().receive();
        SendRequest fenced = new SendRequest().fence(true);
        long send = stream.nextId();
        stream.post(fenced.id(send));
        MemoryRegion source = rig.region(rig.patch(64), Access.REMOTE_READ);
        Ulpdu bad = Ulpdu.write(1, 2, (byte) 3);
        stream.peer().send(bad, Ulpdu.readRequest(1, 1, 2, 64, source.remoteKey(), source.remoteAddress()));
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, bad));
        assertThat(stream.status(read)).isEqualTo(Status.FLUSHED);
        assertThat(stream.status(send)).isEqualTo(Status.FLUSHED);
        assertThat(stream.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
    }

    @Test
    void itTellsTheFirstErrorThoughTheOutputWasBlockedAndMoreFollowed() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        int size = 16 << 20;
        MemoryRegion source = rig.region(rig.patch(size), Access.REMOTE_READ);
        Ulpdu bad = Ulpdu.write(1, 2, (byte) 3);
        stream.peer().send(Ulpdu.readRequest(1, 1, 0, size, source.remoteKey(), source.remoteAddress()));
        stream.peer().receive();
        stream.peer().send(bad, Ulpdu.send(9), Ulpdu.write(4, 5, (byte) 6));
        Ulpdu last = stream.peer().receiveLastBeforeFin();
        assertThat(last).isEqualTo(Ulpdu.terminateFor(1, 1, 0, bad));
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        rig.assertCounts(1, 1, 0);
    }

    /** The peer reads nothing before it has written all: its 96 MiB must be taken off its hands. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itArrivesThoughThePeerIsStillWritingAndDoesNotRead(boolean outputBlocked) throws Exception {
        stream = rig.openNudged(Role.RESPONDER);
        Ulpdu bad = Ulpdu.write(1, 2, (byte) 3);
        if (outputBlocked) {
            int size = 16 << 20;
            MemoryRegion source = rig.region(rig.patch(size), Access.REMOTE_READ);
            stream.peer().send(Ulpdu.readRequest(1, 1, 0, size, source.remoteKey(), source.remoteAddress()));
            stream.peer().receive();
        }
        stream.peer().send(bad);
        stream.awaitDisconnect();
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            try {
                byte[] chunk = new byte[1 << 20];
                for (int i = 0; i < 96; i++) {
                    stream.peer().send(chunk);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        writing.get(10, TimeUnit.SECONDS);
        assertThat(stream.peer().receiveLastBeforeFin()).isEqualTo(Ulpdu.terminateFor(1, 1, 0, bad));
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        rig.assertCounts(1, 1, 0);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void aRegistrationThatFailsIsToldWithoutHeadersBehindWhatWasPostedBefore(Role role) throws IOException {
        stream = rig.openNudged(role);
        FastRegion region = rig.fast(stream, rig.patch(64), Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        long before = rig.send(stream, (byte) 1);
        long failing = stream.nextId();
        stream.post(new RegisterRequest()
                .id(failing)
                .signaled(false)
                .region(region, region.advanceKey())
                .access(Access.REMOTE_WRITE));
        long after = stream.nextId();
        stream.post(new SendRequest().id(after));
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.send(1, (byte) 1));
        rig.assertEndedBy(stream, LOCAL_ERROR);
        assertThat(stream.status(before)).isEqualTo(Status.SUCCESS);
        assertThat(stream.status(failing)).isEqualTo(Status.LOCAL_QP_OPERATION_ERROR);
        assertThat(stream.status(after)).isEqualTo(Status.FLUSHED);
    }

    @Test
    void anInvalidationThatFailsIsToldWithoutHeaders() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        long id = stream.nextId();
        stream.post(new LocalInvalidateRequest().id(id).key(0x4711_0815));
        rig.assertEndedBy(stream, LOCAL_ERROR);
        assertThat(stream.status(id)).isEqualTo(Status.LOCAL_QP_OPERATION_ERROR);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void aSendOfMemoryThatIsGoneIsToldWithoutHeaders(Role role) throws IOException {
        stream = rig.openNudged(role);
        MemoryRegion gone = rig.region(rig.patch(64), Access.LOCAL_READ);
        gone.close();
        long id = stream.nextId();
        stream.post(new SendRequest().id(id).signaled(false).sge(gone, 0, 64));
        rig.assertEndedBy(stream, LOCAL_ERROR);
        assertThat(stream.status(id)).isEqualTo(Status.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void aReceiveWhoseMemoryIsGoneIsToldWithoutHeaders() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(64);
        MemoryRegion gone = rig.region(patch, Access.LOCAL_WRITE);
        long id = stream.post(new ReceiveRequest().sge(gone, 0, 64));
        gone.close();
        stream.peer().send(Ulpdu.send(1, (byte) 1));
        rig.assertEndedBy(stream, Ulpdu.terminate(1, 0, 0));
        assertThat(stream.status(id)).isEqualTo(Status.LOCAL_PROTECTION_ERROR);
        patch.assertUntouched();
    }

    @Test
    void aReadWhoseSinkIsGoneBeforeTheResponseIsRefused() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(64);
        MemoryRegion sink = rig.region(patch, Access.LOCAL_WRITE);
        long read = rig.read(stream, sink);
        Ulpdu request = stream.peer().receive();
        sink.close();
        Ulpdu offender = Ulpdu.response(request.intAt(18), request.longAt(22), new byte[64]);
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, offender));
        assertThat(stream.status(read)).isEqualTo(Status.LOCAL_PROTECTION_ERROR);
        patch.assertUntouched();
    }

    /** A chain of unsignaled requests: silent while all is well, each reported once the stream ends. */
    @ParameterizedTest
    @EnumSource(Role.class)
    void unsignaledRequestsAreSilentOnSuccessAndReportedWhenTheStreamEnds(Role role) throws IOException {
        stream = rig.openNudged(role);
        for (int i = 0; i < 99; i++) {
            stream.post(new SendRequest().id(-1).signaled(false));
        }
        long signaled = rig.send(stream);
        assertThat(stream.status(signaled)).isEqualTo(Status.SUCCESS);
        assertThat(stream.completed()).isEqualTo(1);
        // All places are free again, though nothing but unsignaled requests was completed since.
        for (int i = 0; i < 1000; i++) {
            stream.post(new SendRequest().id(-1).signaled(false));
        }
        for (int i = 0; i < 1100; i++) {
            assertThat(stream.peer().receive().intAt(Ulpdu.AT_MSN)).isEqualTo(i + 1);
        }
        MemoryRegion sink = rig.region(rig.patch(64), Access.LOCAL_WRITE);
        rig.read(stream, sink);
        stream.peer().receive();
        long behind = stream.nextId();
        stream.post(new SendRequest().id(behind).signaled(false).fence(true));
        Ulpdu bad = Ulpdu.send(5);
        rig.receive(stream, rig.patch(8));
        stream.peer().send(bad);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 2, 3, bad));
        assertThat(stream.status(behind)).isEqualTo(Status.FLUSHED);
    }

    @Test
    void afterItValidWritesChangeNothing() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        Patch patch = rig.patch(64);
        MemoryRegion target = rig.region(patch, Access.REMOTE_WRITE);
        Ulpdu bad = Ulpdu.write(1, 2, (byte) 3);
        stream.peer().send(bad);
        assertThat(stream.peer().receive()).isEqualTo(Ulpdu.terminateFor(1, 1, 0, bad));
        stream.peer().expectFin();
        for (int i = 0; i < 100; i++) {
            stream.peer().send(Ulpdu.write(target.remoteKey(), target.remoteAddress(), (byte) i));
        }
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void noneIsSentBehindOurFin(Role role) throws IOException {
        stream = rig.openNudged(role);
        long receive = rig.receive(stream, rig.patch(8));
        stream.queuePair.disconnect();
        stream.peer().expectFin();
        stream.peer().send(Ulpdu.write(1, 2, (byte) 3));
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        rig.assertCounts(1, 0, 0);
        assertThat(stream.status(receive)).isEqualTo(Status.FLUSHED);
    }
}
