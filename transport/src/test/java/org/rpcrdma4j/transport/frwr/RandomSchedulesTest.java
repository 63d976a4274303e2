// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.testkit.sim.RandomFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SilentLog;
import org.rpcrdma4j.transport.raw.SimulatedRig;

/**
 * Thousands of schedules with every fault the simulation has, cancels at any moment, a peer that invalidates this or that and goes on
 * writing after its reply. Before each step: every region is in one custody, and INVALID means that the device has shut it. At each
 * fence: nothing is open, and from then on no byte changes. At the end: each fence was told once, and all is given back.
 *
 * <p>{@code -Drpcrdma.seed} replays one schedule, {@code -Drpcrdma.seeds} sets how many there are.
 */
@ExtendWith(SilentLog.class)
class RandomSchedulesTest {

    private static final int CALLS = 12;
    private static final int SLOTS = 4;

    private static final class Sum {
        private int fenced;
        private int lost;
        private long recovered;
        private long orphaned;
        private long remote;
        private long disconnects;

        @Override
        public String toString() {
            return fenced + " fenced, " + lost + " lost, " + recovered + " regions recovered, " + orphaned
                    + " orphaned, " + remote + " invalidated by the peer, " + disconnects + " disconnects";
        }
    }

    @Test
    void everyCallIsShutOnceAndEveryRegionIsInOneCustody() {
        Sum sum = new Sum();
        int runs = Seeds.run(2000, seed -> new Schedule(seed).run(sum));
        if (runs >= 500) {
            assertThat(sum.fenced).as("%s", sum).isGreaterThan(runs);
            assertThat(sum.lost).as("%s", sum).isPositive();
            assertThat(sum.recovered).as("%s", sum).isPositive();
            assertThat(sum.orphaned).as("%s", sum).isPositive();
            assertThat(sum.remote).as("%s", sum).isPositive();
        }
    }

    /** One run. */
    private static final class Schedule {

        private final SplittableRandom random;
        private final SimulatedRig rig;
        private final RandomFaults faults;
        private final Caller caller;
        private final List<RegionList> lists = new ArrayList<>();
        private final TestCall[] running = new TestCall[SLOTS];
        private final List<TestCall> ended = new ArrayList<>();
        private final List<Runnable> replies = new ArrayList<>();
        private final Arena arena = Arena.ofShared();
        private final int trouble;
        private int nextXid = 1;

        Schedule(long seed) {
            random = new SplittableRandom(seed * 31);
            boolean gaps = random.nextInt(3) > 0;
            trouble = random.nextInt(4);
            faults = new RandomFaults(seed, trouble == 0 ? 0 : 12, trouble == 3 ? 400 : 0, trouble == 0 ? 0 : 20, 0);
            if (trouble >= 2) {
                faults.withFailures(300).withLostCompletions(200).withFailedDeregistrations(10);
            }
            faults.enable(false);
            SimulationOptions options = SimulationOptions.DEFAULT
                    .withFastRegistration(16, gaps, random.nextBoolean())
                    .withMergedPieces(random.nextBoolean());
            rig = new SimulatedRig(seed, options.withFaults(faults), SimulationOptions.DEFAULT).withoutLedgerCheck();
            SendQueuePlan.Supported plan = Caller.plan(rig, 4);
            caller = new Caller(
                    rig,
                    plan,
                    new RegionPool.Options(4, random.nextInt(7, 30), random.nextInt(1, 9), 1_000_000, 8_000_000));
        }

        void run(Sum sum) {
            caller.connected(0);
            caller.server.onMessage(this::serve);
            for (int i = 0; i < SLOTS; i++) {
                TestCall call = caller.newCall(0);
                lists.add(call.list);
            }
            faults.enable(true);
            for (int i = 0; i < 4000 && !isDone(); i++) {
                act();
                caller.checkInvariants();
                if (!rig.network().step()) {
                    break;
                }
            }
            finish(sum);
        }

        private boolean isDone() {
            return ended.size() >= CALLS || caller.disconnects > 0;
        }

        private void act() {
            int slot = random.nextInt(SLOTS);
            TestCall call = running[slot];
            if (call == null || call.isOver()) {
                start(slot);
            } else if (random.nextInt(100) == 0 && !call.list.isFencing()) {
                call.giveUp();
            }
            if (!replies.isEmpty() && random.nextInt(8) == 0) {
                replies.remove(random.nextInt(replies.size())).run();
            }
            if (random.nextInt(3000) == 0) {
                caller.monitor.run(() -> caller.endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "random"));
            }
        }

        private void start(int slot) {
            TestCall before = running[slot];
            if (before != null) {
                ended.add(before);
                before.checkUnchanged();
            }
            TestCall call = caller.newCallOn(lists.get(slot), nextXid++);
            running[slot] = call;
            call.send(randomMemory(), randomMemory());
            boolean waits = call.list.isWaiting() && random.nextInt(4) > 0;
            if (!call.sent && !waits) {
                call.giveUp();
            }
        }

        private List<MemorySegment> randomMemory() {
            List<MemorySegment> pieces = new ArrayList<>();
            for (int i = random.nextInt(3); i > 0; i--) {
                long begin = random.nextBoolean() ? 0 : random.nextInt(Scene.PAGE);
                long bytes = random.nextInt(1, 3 * Scene.PAGE);
                pieces.add(arena.allocate(begin + bytes, Scene.PAGE).asSlice(begin, bytes));
            }
            return pieces;
        }

        /** Writes, answers at some time, and sometimes writes again when it may no longer. */
        private void serve(RawConnection connection, RawMessage message) {
            List<Segment> writable = Scene.segments(message, PeerAccess.WRITE);
            List<Segment> readable = Scene.segments(message, PeerAccess.READ);
            List<RawWork> reads = readable.stream().map(connection::read).toList();
            writable.forEach(segment -> connection.write(segment, Scene.pattern(segment.length())));
            int choice = random.nextInt(20);
            replies.add(() -> {
                if (choice > 0 && reads.stream().anyMatch(read -> !read.isDone())) {
                    serveLater(connection, message, reads);
                    return;
                }
                reply(connection, message, choice);
            });
        }

        private void serveLater(RawConnection connection, RawMessage message, List<RawWork> reads) {
            replies.add(() -> {
                if (reads.stream().allMatch(RawWork::isDone)) {
                    reply(connection, message, 10);
                } else {
                    serveLater(connection, message, reads);
                }
            });
        }

        private void reply(RawConnection connection, RawMessage message, int choice) {
            List<Segment> all = new ArrayList<>(Scene.segments(message, PeerAccess.WRITE));
            all.addAll(Scene.segments(message, PeerAccess.READ));
            if (choice >= 8 && choice < 16 && !all.isEmpty()) {
                connection.sendInvalidating(all.get(random.nextInt(all.size())).handle(), Scene.xidOf(message));
            } else {
                connection.send(Scene.xidOf(message));
            }
            if (choice == 1 && !all.isEmpty()) {
                Segment late = all.getFirst();
                connection.write(late, Scene.pattern(late.length()));
            }
        }

        private void finish(Sum sum) {
            caller.close();
            for (TestCall call : running) {
                if (call != null) {
                    ended.add(call);
                }
            }
            for (TestCall call : ended) {
                call.checkUnchanged();
                boolean told = call.fencedCount + call.lostCount == 1;
                assertThat(told || !call.sent).as("told once: %s", call).isTrue();
                sum.fenced += call.fencedCount;
                sum.lost += call.lostCount;
            }
            long orphaned = caller.count(ClientCounter.REGIONS_ORPHANED);
            sum.recovered += caller.count(ClientCounter.REGIONS_RECOVERED);
            sum.orphaned += orphaned;
            sum.remote += caller.count(ClientCounter.REMOTE_INVALIDATIONS);
            sum.disconnects += caller.disconnects;
            assertThat(caller.disconnects).as("disconnects").isLessThanOrEqualTo(1);
            // The endpoint has two regions of its own that the device may not take back.
            assertThat(rig.clientDevice().ledger().regions()).as("regions left").isLessThanOrEqualTo(orphaned + 2);
            if (trouble < 2) {
                assertThat(rig.clientDevice().ledger().isBalanced())
                        .as("%s", rig.describe())
                        .isTrue();
            }
            rig.close();
            arena.close();
        }
    }
}
