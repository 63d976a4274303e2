// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.cm.Octets;

/** Connections that are lost, refused, idle or closed, and what becomes of the calls. */
class ReconnectTest {

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private static SimulatedRig rig(FaultPlan faults) {
        return new SimulatedRig(
                Long.getLong("rpcrdma.seed", 1),
                SimulationOptions.DEFAULT.withFaults(faults),
                SimulationOptions.DEFAULT);
    }

    @ParameterizedTest
    @EnumSource
    void aLostCallIsSentAgainWithItsXidAndFreshRegistrationsOnANewConnection(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment item = arena.allocate(8192).fill((byte) 7);
            CallMessage message = fixture.nullCall().item(item).build();
            PendingReply pending = fixture.client.send(message);
            PendingReply queued = fixture.client.send(fixture.nullCall().build());
            RawMessage first = fixture.callOf(message);
            fixture.responder.connection().breakOff();
            fixture.call(2);
            RawMessage again = fixture.callOf(message);
            assertThat(again.xid()).isEqualTo(first.xid());
            assertThat(again.readList().getFirst().segment().handle())
                    .isNotEqualTo(first.readList().getFirst().segment().handle());
            assertThat(fixture.responder.connectionCount()).isEqualTo(2);
            RawConnection second = fixture.responder.connection();
            RawWork read = second.read(again.readList().getFirst().segment());
            fixture.rig.await("the Read ends", read::isDone);
            assertThat(read.data()).containsOnly(7);
            ClientFixture.answer(second, again.xid(), 4);
            fixture.reply(pending);
            ClientFixture.answer(second, fixture.call(3).xid(), 4);
            fixture.reply(queued);
            assertThat(fixture.counter(ClientCounter.RETRANSMISSIONS)).isEqualTo(1);
            assertThat(fixture.counter(ClientCounter.RECONNECTS)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void thresholdsAndCreditsHoldForOneConnectionOnly(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open()).answering(16)) {
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            int[] arguments = new int[700];
            CallMessage message = CallMessage.builder(
                            MemorySegment.ofArray(Words.call(fixture.client.nextXid(), ClientFixture.PROGRAM, 1, 1)
                                    .u32(arguments)
                                    .toBytes()))
                    .build();
            fixture.reply(fixture.client.send(message));
            assertThat(fixture.callOf(message).procedure()).isEqualTo(Words.RDMA_MSG);
            fixture.responder.options(fixture.responderOptions().withPrivateData(Octets.EMPTY));
            fixture.responder.connection().breakOff();
            fixture.rig.await("the client knows", () -> fixture.counter(ClientCounter.DISCONNECTS) == 1);
            fixture.responder.onMessage((connection, call) -> {});
            PendingReply one = fixture.client.send(message);
            PendingReply two = fixture.client.send(fixture.nullCall().build());
            fixture.call(3);
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(3);
            assertThat(fixture.callOf(message).procedure()).isEqualTo(Words.RDMA_NOMSG);
            fixture.answering(16);
            ClientFixture.answer(fixture.responder.connection(), message.xid(), 16);
            fixture.reply(one);
            fixture.reply(two);
        }
    }

    @Test
    void refusedAttemptsAreRepeatedWithGrowingDelays() {
        ScriptedFaults faults = new ScriptedFaults();
        for (int i = 1; i <= 5; i++) {
            faults.failConnect(i, i % 2 == 0 ? FaultPlan.ConnectFault.UNREACHABLE : FaultPlan.ConnectFault.REJECTED);
        }
        try (SimulatedRig rig = rig(faults);
                ClientFixture fixture = new ClientFixture(rig).answering(4)) {
            long begin = rig.time().nanoTime();
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            assertThat(Duration.ofNanos(rig.time().nanoTime() - begin))
                    .isBetween(Duration.ofMillis(3100), Duration.ofMillis(3200));
            assertThat(fixture.counter(ClientCounter.CONNECT_FAILURES)).isEqualTo(5);
        }
    }

    @Test
    void withABoundOfAttemptsTheWaitingCallsFail() {
        ScriptedFaults faults = new ScriptedFaults();
        for (int i = 1; i <= 3; i++) {
            faults.failConnect(i, FaultPlan.ConnectFault.UNREACHABLE);
        }
        try (SimulatedRig rig = rig(faults);
                ClientFixture fixture = new ClientFixture(rig, builder -> builder.connectAttempts(3)).answering(4)) {
            TransportException failure =
                    fixture.failure(fixture.client.send(fixture.nullCall().build()));
            assertThat(failure.kind()).isEqualTo(Kind.CONNECTION_LOST);
            assertThat(failure.undecided()).isFalse();
            assertThat(failure).hasMessageContaining("3 attempts").hasMessageContaining("UNREACHABLE");
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
        }
    }

    @Test
    void aServerThatSaysNothingEndsTheAttemptByItsTimeLimit() {
        ScriptedFaults faults = new ScriptedFaults().failConnect(1, FaultPlan.ConnectFault.SILENCE);
        try (SimulatedRig rig = rig(faults);
                ClientFixture fixture =
                        new ClientFixture(rig, builder -> builder.connectTimeout(Duration.ofSeconds(3))).answering(4)) {
            TransportException failure = fixture.failure(fixture.client.send(
                    fixture.nullCall().timeout(Duration.ofSeconds(2)).build()));
            assertThat(failure.kind()).isEqualTo(Kind.TIMED_OUT);
            assertThat(failure).hasMessageContaining("not sent");
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
        }
    }

    @Test
    void aDeviceShortOfObjectsIsTriedAgain() {
        for (FaultPlan.Resource resource : List.of(
                FaultPlan.Resource.QUEUE_PAIR, FaultPlan.Resource.COMPLETION_QUEUE, FaultPlan.Resource.REGION)) {
            try (SimulatedRig rig = rig(new ScriptedFaults().refuse(resource, 1));
                    ClientFixture fixture = new ClientFixture(rig).answering(4)) {
                fixture.reply(fixture.client.send(fixture.nullCall().build()));
                assertThat(fixture.counter(ClientCounter.CONNECT_FAILURES)).isEqualTo(1);
            }
        }
    }

    @Test
    void onePoisonousCallFailsAfterABoundAndTheOthersGoOn() {
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.maxTransmissions(3))) {
            CallMessage poison = fixture.nullCall().build();
            fixture.responder.onMessage((connection, call) -> {
                if (call.xid() == poison.xid()) {
                    connection.breakOff();
                } else {
                    ClientFixture.answer(connection, call.xid(), 8);
                }
            });
            List<PendingReply> others = new ArrayList<>();
            others.add(fixture.client.send(fixture.nullCall().build()));
            PendingReply poisonous = fixture.client.send(poison);
            for (int i = 0; i < 10; i++) {
                others.add(fixture.client.send(fixture.nullCall().build()));
            }
            others.forEach(fixture::reply);
            TransportException failure = fixture.failure(poisonous);
            assertThat(failure.kind()).isEqualTo(Kind.CONNECTION_LOST);
            assertThat(failure.undecided()).isTrue();
            assertThat(fixture.responder.messages().stream().filter(call -> call.xid() == poison.xid()))
                    .hasSize(3);
        }
    }

    @Test
    void anIdleConnectionIsEndedAndMadeAgainAtOnce() {
        try (ClientFixture fixture = new ClientFixture(
                        Network.SIMULATION.open(), builder -> builder.idleTimeout(Duration.ofSeconds(1)))
                .answering(4)) {
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.rig.advance(Duration.ofMillis(800));
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.rig.advance(Duration.ofMillis(800));
            assertThat(fixture.responder.connection().hasEnded()).isFalse();
            fixture.rig.advance(Duration.ofMillis(300));
            assertThat(fixture.responder.connection().hasEnded()).isTrue();
            long begin = fixture.rig.time().nanoTime();
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            assertThat(fixture.rig.time().nanoTime() - begin).isLessThan(50_000_000);
        }
    }

    @Test
    void aCallThatIsOutIsNotIdle() {
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.idleTimeout(Duration.ofSeconds(1)))) {
            PendingReply pending = fixture.client.send(fixture.nullCall().build());
            RawMessage call = fixture.call(1);
            fixture.rig.advance(Duration.ofSeconds(10));
            assertThat(fixture.responder.connection().hasEnded()).isFalse();
            ClientFixture.answer(fixture.responder.connection(), call.xid(), 4);
            fixture.reply(pending);
        }
    }

    @ParameterizedTest
    @EnumSource
    void closeFailsWhatWaitsAndWhatIsSent(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            PendingReply sent = fixture.client.send(
                    fixture.nullCall().target(arena.allocate(5000)).build());
            PendingReply waiting = fixture.client.send(fixture.nullCall().build());
            fixture.call(1);
            var closed = fixture.client.closeAsync();
            assertThat(fixture.failure(waiting).kind()).isEqualTo(Kind.CLOSED);
            TransportException failure = fixture.failure(sent);
            assertThat(failure.kind()).isEqualTo(Kind.CLOSED);
            assertThat(failure.undecided()).isTrue();
            fixture.rig.await("the client is closed", closed::isDone);
            assertThat(fixture.failure(fixture.client.send(fixture.nullCall().build()))
                            .kind())
                    .isEqualTo(Kind.CLOSED);
        }
    }

    @Test
    void closeWhileConnectingOrWaitingLeavesNothing() {
        for (int steps = 0; steps < 40; steps++) {
            try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open())) {
                PendingReply pending = fixture.client.send(fixture.nullCall().build());
                for (int i = 0; i < steps && fixture.responder.messageCount() == 0; i++) {
                    ((SimulatedRig) fixture.rig).network().step();
                }
                var closed = fixture.client.closeAsync();
                assertThat(fixture.failure(pending).kind()).isEqualTo(Kind.CLOSED);
                fixture.rig.await("the client is closed", closed::isDone);
            }
        }
    }

    @Test
    void aDeviceWithoutFastRegistrationIsRefusedInASentence() {
        SimulationOptions options = SimulationOptions.DEFAULT.withFastRegistration(0, true, true);
        try (SimulatedRig rig = new SimulatedRig(1, options, SimulationOptions.DEFAULT)) {
            assertThatThrownBy(() -> RpcRdmaClient.builder(rig.clientDevice(), rig.deadAddress())
                            .time(rig.time())
                            .worker(rig.worker())
                            .build())
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("fast registration");
        }
    }

    @Test
    void moreWaitingCallsThanAllowedFailAtOnce() {
        try (ClientFixture fixture = new ClientFixture(Network.SIMULATION.open(), builder -> builder.maxQueued(2))) {
            PendingReply one = fixture.client.send(fixture.nullCall().build());
            PendingReply two = fixture.client.send(fixture.nullCall().build());
            assertThat(one.isDone() || two.isDone()).isFalse();
            assertThat(fixture.failure(fixture.client.send(fixture.nullCall().build()))
                            .kind())
                    .isEqualTo(Kind.TOO_MANY_CALLS);
        }
    }
}
