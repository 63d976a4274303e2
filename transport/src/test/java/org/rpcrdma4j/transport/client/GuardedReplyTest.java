// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** A reply that is waited for is a future like others, but nobody can end it before its call's memory is shut. */
class GuardedReplyTest {

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    @Test
    void aFailureFromOutsideGivesTheCallUpAndEndsItOnlyWhenItsMemoryIsShut() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            MemorySegment target = arena.allocate(5000);
            PendingReply pending =
                    fixture.client.send(fixture.nullCall().target(target).build());
            RawMessage call = fixture.call(1);
            assertThat(pending.completeExceptionally(new TimeoutException("mine")))
                    .isTrue();
            assertThat(pending.isDone()).as("the server can still write").isFalse();
            fixture.rig.await("the call ends", pending::isDone);
            assertThat(pending.isCancelled()).isTrue();
            target.fill((byte) 0x33);
            RawConnection server = fixture.responder.connection();
            Segment segment = call.writeList().getFirst().getFirst();
            server.write(segment, new byte[segment.length()]);
            fixture.rig.await("the connection ends", server::hasEnded);
            assertThat(ClientFixture.bytes(target)).containsOnly(0x33);
        }
    }

    @Test
    void aTimeLimitOfTheFutureGivesTheCallUp() throws InterruptedException {
        try (ClientFixture fixture = new ClientFixture(Network.IWARP.open())) {
            PendingReply pending = fixture.client.send(
                    fixture.nullCall().target(arena.allocate(5000)).build());
            fixture.call(1);
            assertThat(pending.orTimeout(20, TimeUnit.MILLISECONDS)).isSameAs(pending);
            fixture.rig.await("the call ends", pending::isDone);
            assertThat(pending.isCancelled()).isTrue();
        }
    }

    @Test
    void noValueFromOutsideIsTaken() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
            PendingReply pending = fixture.client.send(fixture.nullCall().build());
            fixture.call(1);
            Reply reply = new Reply(ClientFixture.head(1, 0), 0, 0, 1);
            assertThatThrownBy(() -> pending.complete(reply)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> pending.obtrudeValue(reply)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> pending.obtrudeException(new TimeoutException()))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> pending.completeAsync(() -> reply))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> pending.completeOnTimeout(reply, 1, TimeUnit.DAYS))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThat(pending).isNotDone();
            CompletableFuture<Reply> copy = pending.copy();
            assertThat(copy.complete(reply)).isTrue();
            assertThat(pending).isNotDone();
        }
    }

    /** A server may name any one handle of the call; while its memory is being shut, that one may be shut already. */
    @Test
    void aLateReplyMayInvalidateWhatIsBeingShutAnyway() {
        SimulationOptions withoutGaps = SimulationOptions.DEFAULT.withFastRegistration(256, false, true);
        for (int steps = 0; steps < 20; steps++) {
            SimulatedRig rig = new SimulatedRig(1, withoutGaps, SimulationOptions.DEFAULT);
            try (ClientFixture fixture = new ClientFixture(rig)) {
                MemorySegment whole = arena.allocate(3 * 4096, 4096);
                PendingReply pending = fixture.client.send(fixture.nullCall()
                        .target(whole.asSlice(0, 100), whole.asSlice(5000, 100))
                        .build());
                RawMessage call = fixture.call(1);
                List<Segment> chunk = call.writeList().getFirst();
                assertThat(chunk).hasSize(2);
                fixture.rig.settle();
                pending.cancel(false);
                for (int i = 0; i < steps && !pending.isDone(); i++) {
                    rig.network().step();
                }
                RawConnection server = fixture.responder.connection();
                server.sendInvalidating(
                        chunk.getLast().handle(),
                        Words.header(call.xid(), 1, 4, Words.RDMA_MSG)
                                .end()
                                .chunk(chunk.stream()
                                        .map(segment -> segment.withLength(0))
                                        .toList())
                                .end()
                                .end()
                                .add(Words.reply(call.xid(), 0))
                                .toBytes());
                fixture.rig.settle();
                assertThat(pending).isDone();
                assertThat(server.hasEnded())
                        .as("after %d steps: %s", steps, server)
                        .isFalse();
            }
        }
    }

    @Test
    void aBindingThatThrowsAtAReplyEndsTheCall() {
        UpperLayerBinding faulty = new UpperLayerBinding() {
            @Override
            public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) {}

            @Override
            public void resultItems(CallHeader call, XdrReader results, ItemSink sink) {
                throw new IndexOutOfBoundsException("on purpose");
            }

            @Override
            public ReplyBound replyBound(CallHeader call, XdrReader arguments) {
                return ReplyBound.withItem(100, 5000);
            }
        };
        Bindings bindings = Bindings.none(1 << 20).with(ClientFixture.PROGRAM, 1, 1, faulty);
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.bindings(bindings))) {
            PendingReply pending = fixture.client.send(
                    fixture.nullCall().target(arena.allocate(5000)).build());
            RawMessage call = fixture.call(1);
            fixture.responder
                    .connection()
                    .send(Words.header(call.xid(), 1, 4, Words.RDMA_MSG)
                            .end()
                            .chunk(call.writeList().getFirst().getFirst().withLength(0))
                            .end()
                            .end()
                            .add(Words.reply(call.xid(), 0)));
            assertThat(fixture.failure(pending).kind()).isEqualTo(TransportException.Kind.BAD_REPLY);
        }
    }
}
