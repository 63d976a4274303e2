// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.time.TimeSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.Octets;

/** The raw peers against each other: what the tests of the product rely on. */
class RawPeersTest {

    private static final int XID = 0x7b3f1c20;

    @ParameterizedTest
    @EnumSource
    void aMessageArrivesAsItWasBuiltAndIsAnsweredByTheScript(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig).privateData("f6ab0e18 01000303")) {
            responder.onMessage((connection, call) ->
                    connection.send(Words.inline(call.xid(), 64).add(Words.reply(call.xid(), 0))));
            try (RawConnection client =
                    new RawRequester(rig).privateData("f6ab0e18 01010303").connect(responder.address())) {
                assertThat(client.info().privateData()).hasToString("f6ab0e1801000303");
                Words call = Words.inline(XID, 128).add(Words.call(XID, 100003, 3, 0));
                client.send(call);
                rig.await("the reply arrives", () -> client.messageCount() == 1);
                assertThat(responder.connection().message(0).bytes()).isEqualTo(call.toBytes());
                RawMessage reply = client.message(0);
                assertThat(reply.xid()).isEqualTo(XID);
                assertThat(reply.credits()).isEqualTo(64);
                assertThat(reply.rpc().word(1)).isEqualTo(1);
                client.end();
                rig.await(
                        "both ends know",
                        () -> client.hasEnded() && responder.connection().hasEnded());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void exposedMemoryIsWrittenReadAndInvalidatedByThePeer(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig);
                RawConnection client = new RawRequester(rig).connect(responder.address())) {
            RawConnection.Exposed exposed =
                    client.expose(5000, Access.REMOTE_READ_WRITE).fill((byte) 1, (byte) 2);
            client.send(new Words().u32(1));
            rig.await("the message arrives", () -> responder.messageCount() == 1);
            RawConnection server = responder.connection();
            RawWork read = server.read(exposed.part(0, 2));
            rig.await("the Read ends", read::isDone);
            assertThat(read.data()).containsExactly(1, 2);
            RawWork write = server.write(exposed.part(4998, 2), (byte) 8, (byte) 9);
            server.sendInvalidating(exposed.segment().handle(), (byte) 0);
            rig.await("the answer arrives", () -> client.messageCount() == 1 && write.isDone());
            assertThat(write.isSuccess()).isTrue();
            assertThat(client.message(0).invalidatedKey())
                    .isEqualTo(exposed.segment().handle());
            assertThat(exposed.bytes()).endsWith(8, 9);
            RawWork late = server.write(exposed.part(0, 1), (byte) 7);
            rig.await("the late Write ends the connection", () -> client.hasEnded() && server.hasEnded());
            rig.await("it is over", late::isDone);
            assertThat(exposed.bytes()).startsWith(1, 2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAccessWithoutRightFailsAtThePeer(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig);
                RawConnection client = new RawRequester(rig).connect(responder.address())) {
            RawConnection.Exposed exposed = client.expose(100, Access.REMOTE_WRITE);
            client.send(new Words().u32(1));
            rig.await("the message arrives", () -> responder.messageCount() == 1);
            RawWork read = responder.connection().read(exposed.segment());
            rig.await("the Read ends", read::isDone);
            assertThat(read.status()).isEqualTo(WorkCompletion.Status.REMOTE_ACCESS_ERROR);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestCanBeRejectedOrLeftOpen(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = new RawResponder(rig)) {
            responder.accepts(request -> {
                request.reject(Octets.EMPTY);
                return false;
            });
            try (RawConnection client = new RawRequester(rig).dial(responder.address())) {
                rig.await("the client is told", client::hasEnded);
                assertThat(client.refusal())
                        .isNotNull()
                        .extracting(ConnectRefusal::reason)
                        .isEqualTo(ConnectRefusal.Reason.REJECTED);
                assertThat(responder.requests()).hasSize(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theClockGoesOnAndTasksGoOffInOrder(Network network) {
        try (Rig rig = network.open()) {
            TimeSource time = rig.time();
            long begin = time.nanoTime();
            List<Integer> fired = new ArrayList<>();
            time.schedule(Duration.ofMinutes(2).toNanos(), () -> add(fired, 2));
            time.schedule(Duration.ofMinutes(1).toNanos(), () -> add(fired, 1));
            time.schedule(Duration.ofMinutes(1).toNanos(), () -> add(fired, 3)).cancel();
            rig.settle();
            assertThat(copy(fired)).isEmpty();
            rig.advance(Duration.ofSeconds(61));
            assertThat(copy(fired)).containsExactly(1);
            rig.advance(Duration.ofSeconds(60));
            rig.await("both went off", () -> copy(fired).size() == 2);
            assertThat(time.nanoTime() - begin)
                    .isGreaterThanOrEqualTo(Duration.ofSeconds(121).toNanos());
            List<Integer> worked = new ArrayList<>();
            rig.worker().execute(() -> add(worked, 1));
            rig.await("the worker works", () -> !copy(worked).isEmpty());
        }
    }

    private static void add(List<Integer> list, int value) {
        synchronized (list) {
            list.add(value);
        }
    }

    private static List<Integer> copy(List<Integer> list) {
        synchronized (list) {
            return List.copyOf(list);
        }
    }

    @Test
    void workersMayOvertakeEachOther() {
        try (SimulatedRig rig = (SimulatedRig) Network.SIMULATION.open()) {
            SimulatedWorker worker = new SimulatedWorker(rig.network(), 1_000_000);
            List<Integer> done = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                int number = i;
                worker.execute(() -> done.add(number));
            }
            assertThat(worker.pending()).isEqualTo(50);
            rig.await("all are done", () -> worker.pending() == 0);
            assertThat(done).hasSize(50);
            assertThat(done.stream().sorted().toList()).isNotEqualTo(done);
        }
    }

    @Test
    void theVectorsReadAsTheyWereMeant() {
        // A WRITE call with one Read chunk, and a READDIR call with a Reply chunk.
        RawMessage write = RawMessage.of(Words.hex("0a000001 00000001 00000080 00000000 00000001 0000008c 00001a01"
                        + "00002000 0a000001 00010000 00000000 00000000 00000000 cafebabe")
                .toBytes());
        assertThat(write.readList())
                .containsExactly(new RawMessage.ReadSegment(140, new Segment(0x1a01, 8192, 0x0a000001_00010000L)));
        assertThat(write.writeList()).isEmpty();
        assertThat(write.replyChunk()).isNull();
        assertThat(write.rpc().word(0)).isEqualTo(0xcafebabe);
        RawMessage readdir = RawMessage.of(Words.hex("0a000003 00000001 00000080 00000000 00000000 00000000 00000001"
                        + "00000001 00003d21 00008000 0a000003 00008000")
                .toBytes());
        assertThat(readdir.replyChunk()).containsExactly(new Segment(0x3d21, 0x8000, 0x0a000003_00008000L));
        assertThat(readdir.body()).isEmpty();
        assertThatThrownBy(() -> RawMessage.of(write.bytes()[0]).xid()).isInstanceOf(AssertionError.class);
        Words built = Words.header(0x0a000001, 1, 0x80, Words.RDMA_MSG)
                .readSegment(140, new Segment(0x1a01, 8192, 0x0a000001_00010000L))
                .end()
                .end()
                .end()
                .u32(0xcafebabe);
        assertThat(built.toBytes()).isEqualTo(write.bytes());
    }
}
