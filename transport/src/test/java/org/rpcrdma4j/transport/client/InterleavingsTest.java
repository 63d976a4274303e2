// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.testkit.sim.RandomFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;

/**
 * Calls of all forms while replies, cancels, deadlines, lost connections, failing posts and a hostile server interleave as a seed says.
 * Whatever happens: each call ends once, what it reads and writes is right, and from its end on nobody reaches its memory.
 *
 * <p>Replay one with {@code -Drpcrdma.seed=N}; {@code -Drpcrdma.seeds=N} runs so many.
 */
class InterleavingsTest {

    private static final int CALLS = 40;

    /** With so many calls each: 100,000 interleavings. */
    private static final int SEEDS = 2500;

    private static final byte OWN_AGAIN = 0x5A;

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void eachCallEndsOnceAndItsMemoryIsShutByThen() {
        Seeds.run(SEEDS, seed -> {
            try (Run run = new Run(seed)) {
                run.play();
            }
        });
    }

    /** One call and all that is known of it. */
    private static final class Tried {

        private final CallMessage message;
        private final @Nullable MemorySegment item;
        private final @Nullable MemorySegment target;
        private final @Nullable MemorySegment replyBuffer;
        private @Nullable PendingReply pending;
        private @Nullable CompletableFuture<Reply> told;
        private int ends;
        private @Nullable AssertionError wrong;

        Tried(
                CallMessage message,
                @Nullable MemorySegment item,
                @Nullable MemorySegment target,
                @Nullable MemorySegment replyBuffer) {
            this.message = message;
            this.item = item;
            this.target = target;
            this.replyBuffer = replyBuffer;
        }

        void ended(@Nullable Reply reply) {
            ends++;
            try {
                check(reply);
            } catch (AssertionError e) {
                // A future keeps what its dependents throw.
                wrong = e;
            }
            takeBack(item);
            takeBack(target);
            takeBack(replyBuffer);
        }

        private void check(@Nullable Reply reply) {
            if (reply != null) {
                assertThat(reply.xid()).isEqualTo(message.xid());
                if (target != null) {
                    byte[] placed = ClientFixture.bytes(target.asSlice(0, reply.placedBytes()));
                    assertThat(Arrays.mismatch(placed, ClientFixture.pattern(placed.length, message.xid())))
                            .isEqualTo(-1);
                }
                byte[] rpc = ClientFixture.bytes(reply.message());
                assertThat(Arrays.mismatch(rpc, replyBytes(message.xid(), (rpc.length - 28) / 4)))
                        .isEqualTo(-1);
            }
        }

        private static void takeBack(@Nullable MemorySegment memory) {
            if (memory != null) {
                memory.fill(OWN_AGAIN);
            }
        }

        void requireRightAndUntouched() {
            if (wrong != null) {
                throw wrong;
            }
            for (MemorySegment memory : Arrays.asList(item, target, replyBuffer)) {
                if (memory != null) {
                    MemorySegment expected = MemorySegment.ofArray(new byte[(int) memory.byteSize()])
                            .fill(OWN_AGAIN);
                    assertThat(memory.mismatch(expected)).isEqualTo(-1);
                }
            }
        }
    }

    private static byte[] replyBytes(int xid, int words) {
        int[] results = new int[words];
        Arrays.setAll(results, i -> xid + i);
        return Words.reply(xid, 0).u32(words).u32(results).toBytes();
    }

    /** One seed. */
    private static final class Run implements AutoCloseable {

        private final SplittableRandom random;
        private final RandomFaults faults;
        private final Arena arena = Arena.ofShared();
        private final SimulatedRig rig;
        private final ClientFixture fixture;
        private final List<Tried> calls = new ArrayList<>();
        private final List<Segment> segments = new ArrayList<>();
        private boolean isHostile = true;
        private int nextXid;

        Run(long seed) {
            random = new SplittableRandom(seed);
            nextXid = random.nextInt();
            int kind = random.nextInt(7);
            faults = new RandomFaults(
                            seed,
                            kind == 1 ? 30 : 0,
                            kind == 2 ? 400 : 0,
                            kind == 3 ? 20 : 0,
                            random.nextInt(2) == 0 ? 3 : 0)
                    .withFailures(kind == 4 ? 60 : 0)
                    .withLostCompletions(kind == 5 ? 60 : 0);
            SimulationOptions options = SimulationOptions.DEFAULT.withFaults(faults);
            if (random.nextInt(3) == 0) {
                options = options.withFastRegistration(64, random.nextBoolean(), random.nextBoolean());
            }
            rig = new SimulatedRig(seed, options, SimulationOptions.DEFAULT);
            fixture = new ClientFixture(
                    rig,
                    builder -> builder.maxInFlight(1 + random.nextInt(12))
                            .maxPayloadBytes(100_000)
                            .remoteInvalidation(random.nextInt(4) > 0)
                            .maxTransmissions(1 + random.nextInt(6))
                            .callTimeout(Duration.ofSeconds(20))
                            .reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(50)));
            fixture.responder.onMessage(this::onCall);
        }

        void play() {
            for (int i = 0; i < CALLS; i++) {
                send();
                int steps = random.nextInt(120);
                for (int step = 0; step < steps; step++) {
                    rig.network().step();
                }
                if (random.nextInt(4) == 0) {
                    PendingReply some = calls.get(random.nextInt(calls.size())).pending;
                    if (some != null) {
                        some.cancel(false);
                    }
                }
            }
            isHostile = random.nextBoolean();
            faults.enable(false);
            rig.await("all calls end", () -> calls.stream().allMatch(call -> call.told != null && call.told.isDone()));
            var closed = fixture.client.closeAsync();
            rig.await("the client is closed", closed::isDone);
            rig.settle();
            calls.forEach(Tried::requireRightAndUntouched);
            assertThat(calls).allMatch(call -> call.ends == 1);
            assertThat(fixture.client.bounceBytesTaken()).isZero();
        }

        private void send() {
            int xid = nextXid++;
            int form = random.nextInt(8);
            CallMessage.Builder builder = CallMessage.builder(ClientFixture.head(xid, form));
            MemorySegment item = null;
            MemorySegment target = null;
            MemorySegment replyBuffer = null;
            if ((form & 1) != 0) {
                item = memory(1 + random.nextInt(random.nextBoolean() ? 3000 : 60_000));
                item.copyFrom(MemorySegment.ofArray(ClientFixture.pattern((int) item.byteSize(), xid)));
                builder.item(item);
            }
            if ((form & 2) != 0) {
                target = memory(1 + random.nextInt(60_000));
                builder.target(target);
            }
            if ((form & 4) != 0) {
                builder.maxReplyBytes(20_000);
                if (random.nextBoolean()) {
                    replyBuffer = memory(20_000);
                    builder.replyBuffer(replyBuffer);
                }
            }
            if (random.nextInt(3) == 0) {
                builder.timeout(Duration.ofNanos(random.nextLong(3_000_000)));
            }
            Tried tried = new Tried(builder.build(), item, target, replyBuffer);
            calls.add(tried);
            tried.pending = fixture.client.send(tried.message);
            tried.told = tried.pending.whenComplete((reply, failure) -> tried.ended(reply));
        }

        private MemorySegment memory(int bytes) {
            return random.nextInt(3) == 0 ? MemorySegment.ofArray(new byte[bytes]) : arena.allocate(bytes);
        }

        /** The XID is the upper half of an offset, where the device lets the client choose; else no call is found. */
        private boolean hasEnded(int xid) {
            return calls.stream().anyMatch(call -> call.message.xid() == xid && call.ends > 0);
        }

        private void onCall(RawConnection server, RawMessage call) {
            call.writeList().forEach(segments::addAll);
            if (call.replyChunk() != null) {
                segments.addAll(call.replyChunk());
            }
            int action = isHostile ? random.nextInt(14) : 0;
            switch (action) {
                case 1 -> {}
                case 2 -> server.send(Words.errorChunk(call.xid(), 1, 4));
                case 3 -> server.send(Words.header(call.xid(), 3, 4, 0).noChunks());
                case 4 -> server.breakOff();
                case 5 -> server.end();
                case 6 -> {
                    Segment old = segments.isEmpty() ? null : segments.get(random.nextInt(segments.size()));
                    if (old != null && hasEnded((int) (old.offset() >>> 32)) && random.nextInt(3) == 0) {
                        server.write(old.withLength(1), (byte) 0x11);
                    }
                }
                case 7 -> {
                    answer(server, call);
                    answer(server, call);
                }
                default -> {
                    long delay = random.nextInt(3) == 0 ? random.nextLong(2_000_000) : 0;
                    rig.time().schedule(delay, () -> answer(server, call));
                }
            }
        }

        private void answer(RawConnection server, RawMessage call) {
            if (server.hasEnded()) {
                return;
            }
            if (call.procedure() == Words.RDMA_MSG && !call.readList().isEmpty() && random.nextBoolean()) {
                read(server, call);
            }
            Words lists = new Words().end();
            int key = 0;
            for (List<Segment> chunk : call.writeList()) {
                int room = chunk.stream().mapToInt(Segment::length).sum();
                lists.chunk(server.fill(chunk, ClientFixture.pattern(random.nextInt(room + 1), call.xid())));
                key = chunk.getFirst().handle();
            }
            lists.end();
            // The same each time, since a second answer may be written over the first.
            byte[] rpc = replyBytes(call.xid(), (call.xid() & 0xFFFF) % (call.replyChunk() == null ? 100 : 4900));
            boolean isLong = call.replyChunk() != null && (rpc.length > 900 || random.nextBoolean());
            if (call.replyChunk() == null) {
                lists.end();
            } else {
                lists.chunk(server.fill(call.replyChunk(), isLong ? rpc : new byte[0]));
                key = call.replyChunk().getFirst().handle();
            }
            Words message = Words.header(call.xid(), 1, random.nextInt(20), isLong ? Words.RDMA_NOMSG : Words.RDMA_MSG)
                    .add(lists);
            byte[] bytes = isLong ? message.toBytes() : message.raw(rpc).toBytes();
            if (key != 0 && random.nextInt(3) == 0) {
                server.sendInvalidating(key, bytes);
            } else {
                server.send(bytes);
            }
        }

        /** Whatever a Read brings is the call's item: never what its caller has put there afterwards. */
        private void read(RawConnection server, RawMessage call) {
            byte[] expected = ClientFixture.pattern(60_000, call.xid());
            int at = 0;
            for (RawMessage.ReadSegment segment : call.readList()) {
                int from = at;
                RawWork read = server.read(segment.segment());
                rig.time().schedule(0, () -> check(read, expected, from));
                at += segment.segment().length();
            }
        }

        private void check(RawWork read, byte[] expected, int from) {
            if (!read.isDone()) {
                rig.time().schedule(20_000, () -> check(read, expected, from));
            } else if (read.isSuccess()) {
                byte[] data = read.data();
                assertThat(Arrays.mismatch(data, Arrays.copyOfRange(expected, from, from + data.length)))
                        .isEqualTo(-1);
            }
        }

        @Override
        public void close() {
            fixture.close();
            arena.close();
        }
    }
}
