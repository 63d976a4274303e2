// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.verbs.WorkCompletion;

/** An endpoint on a device that fails, by script and by seed. */
class EndpointFaultsTest {

    private static final long FIRST_SEED = Long.getLong("rpcrdma.seed", 1);
    private static final long SEEDS = Long.getLong("rpcrdma.seeds", 100);

    private static SimulatedRig rig(long seed, FaultPlan clientFaults) {
        return new SimulatedRig(seed, SimulationOptions.DEFAULT.withFaults(clientFaults), SimulationOptions.DEFAULT);
    }

    private static SimulatedRig rig(FaultPlan clientFaults) {
        return rig(FIRST_SEED, clientFaults);
    }

    /** F3: a completion that never comes does not keep the connection from ending. */
    @ParameterizedTest
    @EnumSource(names = {"SEND", "RECEIVE"})
    void aLostCompletionIsNotWaitedForWithoutEnd(WorkCompletion.Operation operation) throws IOException {
        ScriptedFaults faults = new ScriptedFaults().loseCompletion(operation, 1);
        try (SimulatedRig rig = rig(faults);
                EndpointPair pair = EndpointPair.connected(rig)) {
            pair.client.sendFromOutside(1);
            pair.server().sendFromOutside(1);
            rig.await("the message has come", () -> pair.server().receivedCount() == 1);
            rig.settle();
            long begin = rig.time().nanoTime();
            pair.client.monitor.run(() -> pair.client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "done"));
            pair.awaitClosed();

            assertThat(rig.time().nanoTime() - begin)
                    .isBetween(
                            TestEnd.DRAIN_NANOS,
                            TestEnd.DRAIN_NANOS + Duration.ofSeconds(1).toNanos());
            assertThat(pair.client.course())
                    .containsExactly("established", "disconnecting LOCAL_CLOSE", "queue pair closed", "closed");
        }
    }

    @Test
    void noTimerIsLeftWhenTheEndWasInTime() throws IOException {
        try (SimulatedRig rig = rig(FaultPlan.none());
                EndpointPair pair = EndpointPair.connected(rig)) {
            pair.client.monitor.run(() -> pair.client.endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "done"));
            pair.awaitClosed();

            assertThat(rig.time().pending()).isZero();
        }
    }

    /** The watchdog comes first, and the device's word that the attempt has failed during the release. */
    @Test
    void isReleasedOnceIfTheRefusalComesDuringTheRelease() throws IOException {
        ScriptedFaults faults = new ScriptedFaults().delayFlushes(10 * TestEnd.DRAIN_NANOS);
        try (SimulatedRig rig = rig(faults);
                EndpointPair pair = EndpointPair.prepare(rig, end -> {}, end -> {})) {
            pair.connect();
            pair.client.monitor.run(() -> pair.client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "done"));
            rig.await("it is closed", pair.client::isClosed);
            rig.advance(Duration.ofMinutes(2));

            assertThat(pair.client.told).containsExactly("disconnecting LOCAL_CLOSE", "queue pair closed", "closed");
        }
    }

    @Test
    void isClosedAlsoIfItsBuffersCannotBeDeregistered() throws IOException {
        for (int n = 1; n <= 2; n++) {
            ScriptedFaults faults = new ScriptedFaults().failDeregistration(n);
            try (SimulatedRig rig = rig(faults).withoutLedgerCheck();
                    EndpointPair pair = EndpointPair.connected(rig)) {
                pair.client.monitor.run(() -> pair.client.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "done"));
                pair.awaitClosed();

                assertThat(pair.client.course()).endsWith("queue pair closed", "closed");
                // Only the one that failed is lost.
                assertThat(rig.clientDevice().ledger().regions()).isEqualTo(1);
            }
        }
    }

    @Test
    void leavesNothingBehindIfTheDeviceIsShortOfSomething() {
        List<ScriptedFaults> shortages = List.of(
                new ScriptedFaults().refuse(FaultPlan.Resource.COMPLETION_QUEUE, 1),
                new ScriptedFaults().refuse(FaultPlan.Resource.REGION, 1),
                new ScriptedFaults().refuse(FaultPlan.Resource.REGION, 2),
                new ScriptedFaults().refuse(FaultPlan.Resource.QUEUE_PAIR, 1));
        for (ScriptedFaults faults : shortages) {
            try (SimulatedRig rig = rig(faults)) {
                assertThatThrownBy(() -> new TestEnd(rig, rig.clientDevice(), "client"))
                        .isInstanceOf(IllegalStateException.class);
                assertThat(rig.clientDevice().ledger().isBalanced()).isTrue();
                assertThat(rig.describe()).doesNotContain("QP ");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void isToldOnceOfEachWayInWhichAnAttemptFails(FaultPlan.ConnectFault fault) throws IOException {
        try (SimulatedRig rig = rig(new ScriptedFaults().failConnect(1, fault));
                EndpointPair pair = EndpointPair.prepare(rig, end -> {}, end -> {})) {
            pair.connect();
            pair.awaitClosed();

            String reason = fault == FaultPlan.ConnectFault.SILENCE ? "TIMED_OUT" : fault.name();
            assertThat(pair.client.told).containsExactly("refused " + reason, "queue pair closed", "closed");
        }
    }

    /** What the peer sends at once may overtake the word that the connection is there; the listener does not notice. */
    @Test
    void toldOfNoMessageBeforeTheConnection() throws IOException {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            try (SimulatedRig rig = rig(seed, FaultPlan.none());
                    EndpointPair pair = EndpointPair.prepare(
                            rig,
                            end -> end.onEstablished = () -> sendSome(end),
                            end -> end.onEstablished = () -> sendSome(end))) {
                pair.connect();
                rig.await(
                        "all messages have come",
                        () -> pair.client.receivedCount() == 5
                                && pair.hasServer()
                                && pair.server().receivedCount() == 5);
            }
        }
    }

    private static void sendSome(TestEnd end) {
        IntStream.range(0, 5).forEach(end::send);
    }

    /** Wherever it breaks: each request is accounted for, each end is released once, the devices have all of their own back. */
    @Test
    void theConnectionMayBreakAtAnyStep() throws IOException {
        AtomicInteger established = new AtomicInteger();
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            // 20 places in all, others for each seed.
            for (long step = seed % 7; step < 140; step += 7) {
                breakAt(seed, step, established);
            }
        }
        assertThat(established).as("runs that were connected before").hasPositiveValue();
    }

    private static void breakAt(long seed, long step, AtomicInteger established) throws IOException {
        ScriptedFaults faults = new ScriptedFaults();
        for (long i = step; i < step + 200; i += 50) {
            faults.loseConnectionAtStep(i);
        }
        try (SimulatedRig rig = rig(seed, faults);
                EndpointPair pair = EndpointPair.prepare(
                        rig,
                        end -> {
                            end.onEstablished = () -> sendSome(end);
                            end.onReceive = buffer -> end.send(1);
                            end.onDisconnecting = () -> end.send(2);
                        },
                        end -> {
                            end.onEstablished = () -> sendSome(end);
                            end.onReceive = buffer -> end.send(1);
                            end.onQueuePairClosed = () -> end.send(3);
                        })) {
            pair.connect();
            rig.awaitWithin(Duration.ofMillis(1), pair.client::isClosed);
            pair.client.monitor.run(() -> pair.client.endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "done"));
            rig.await("the client is closed", pair.client::isClosed);
            if (pair.hasServer()) {
                rig.await("the server is closed", pair.server()::isClosed);
                assertThat(pair.server().isSettled())
                        .as("seed %d step %d: %s", seed, step, pair.server())
                        .isTrue();
            }
            assertThat(pair.client.isSettled())
                    .as("seed %d step %d: %s", seed, step, pair.client)
                    .isTrue();
            established.addAndGet(pair.client.told.contains("established") ? 1 : 0);
        }
    }
}
