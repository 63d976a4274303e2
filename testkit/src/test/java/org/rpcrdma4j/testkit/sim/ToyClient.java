// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Opens a piece of memory for each call, and takes it back before it looks at it. */
final class ToyClient extends ToyEnd {

    private static final int GUARD = 64;
    private static final byte GUARD_BYTE = 0x6B;

    /** One call and the memory it opens. */
    private final class Call {
        private final int number;
        private final boolean serverWrites;
        private final int length;
        private final MemorySegment around;
        private @Nullable FastRegion region;
        private long invalidation;
        private boolean isReplied;
        private byte @Nullable [] frozen;

        Call(int number) {
            this.number = number;
            serverWrites = random.nextBoolean();
            length = 1 + random.nextInt(random.nextInt(3) == 0 ? DATA - 2 * GUARD : 2000);
            around = memory.asSlice(65_536L + number * (DATA + 4096L), length + 2L * GUARD);
            around.fill(GUARD_BYTE);
            if (!serverWrites) {
                ToyPattern.fill(around.asSlice(GUARD, length), number);
            }
        }

        /** The memory is ours again: from now on nobody may change it. */
        void freeze(boolean complete) {
            FastRegion opened = region;
            if (opened != null) {
                assertThat(opened.state() == FastRegion.State.INVALID).isTrue();
            }
            frozen = around.toArray(ValueLayout.JAVA_BYTE);
            if (complete) {
                assertThat(ToyPattern.matches(around.asSlice(GUARD, length), number))
                        .isTrue();
            }
        }

        void check() {
            byte[] expected = frozen;
            if (expected != null) {
                assertThat(around.mismatch(MemorySegment.ofArray(expected)))
                        .as("call %d changed after it was taken back", number)
                        .isEqualTo(-1);
            }
            for (int i = 0; i < GUARD; i++) {
                assertThat(around.get(ValueLayout.JAVA_BYTE, i)).isEqualTo(GUARD_BYTE);
                assertThat(around.get(ValueLayout.JAVA_BYTE, GUARD + length + i))
                        .isEqualTo(GUARD_BYTE);
            }
        }
    }

    private final SplittableRandom random;
    private final List<Call> calls = new ArrayList<>();
    private final List<FastRegion> idle = new ArrayList<>();
    private int open;
    int finished;

    ToyClient(SimulatedDevice device, MemorySegment memory, SplittableRandom random) {
        super(device, memory);
        this.random = random;
    }

    boolean canStart() {
        return isEstablished() && !hasEnded() && calls.size() < CALLS && open < 3;
    }

    boolean isDone() {
        return calls.size() == CALLS && open == 0;
    }

    void start() {
        Call call = new Call(calls.size());
        calls.add(call);
        open++;
        FastRegion region;
        try {
            region = idle.isEmpty() ? domain.allocateFastRegion(16) : idle.removeLast();
        } catch (IllegalStateException noRegion) {
            giveUp(call);
            return;
        }
        call.region = region;
        if (region.map(List.of(call.around.asSlice(GUARD, call.length)), random.nextLong() >>> 1) == 0) {
            giveUp(call);
            return;
        }
        send(call, region);
    }

    private void send(Call call, FastRegion region) {
        int key = region.advanceKey();
        MemorySegment message = memory.asSlice(call.number * (long) MESSAGE, MESSAGE);
        ToyPattern.writeHeader(message, call.number, call.serverWrites, key, region.remoteAddress(), call.length);
        int taken = post(List.of(
                new RegisterRequest()
                        .id(newId())
                        .signaled(random.nextInt(4) == 0)
                        .region(region, key)
                        .access(call.serverWrites ? Access.REMOTE_WRITE : Access.REMOTE_READ),
                new SendRequest().id(newId()).sge(this.region, call.number * (long) MESSAGE, MESSAGE)));
        if (taken == 0) {
            region.unmap();
            giveUp(call);
        } else if (taken == 1) {
            invalidate(call, key);
        }
    }

    /** Nothing was opened, or it was closed: the call ends without a result. */
    private void giveUp(Call call) {
        call.freeze(false);
        if (call.region != null) {
            idle.add(call.region);
            call.region = null;
        }
        open--;
    }

    private void invalidate(Call call, int key) {
        call.invalidation = newId();
        if (post(List.of(new LocalInvalidateRequest().id(call.invalidation).key(key))) == 0) {
            call.invalidation = 0;
            // The region cannot be closed by a request any more: end the connection, then close it by hand.
            queuePair.abort();
        }
    }

    @Override
    void onMessage(MemorySegment message, WorkCompletion completion) {
        Call call = calls.get(message.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
        FastRegion region = call.region;
        assertThat(region).isNotNull();
        if (region == null) {
            return;
        }
        call.isReplied = true;
        if (completion.isWithInvalidate()) {
            assertThat(completion.invalidatedKey()).isEqualTo(region.remoteKey());
            assertThat(region.state()).as("O7").isEqualTo(FastRegion.State.INVALID);
            complete(call, region);
        } else if (queuePair.state() == QueuePair.State.CONNECTED) {
            invalidate(call, region.remoteKey());
        }
    }

    private void complete(Call call, FastRegion region) {
        call.freeze(call.isReplied);
        region.unmap();
        idle.add(region);
        call.region = null;
        open--;
        finished++;
    }

    @Override
    void onSendCompletion(long id, WorkCompletion completion) {
        for (Call call : calls) {
            FastRegion region = call.region;
            if (call.invalidation == id && region != null && completion.isSuccess()) {
                complete(call, region);
            }
        }
    }

    /** After the drain: what is still open is closed by hand. */
    void takeBack() {
        for (Call call : calls) {
            FastRegion region = call.region;
            if (region != null) {
                region.close();
                call.freeze(false);
                call.region = null;
            }
        }
        idle.forEach(FastRegion::close);
        idle.clear();
    }

    void check() {
        calls.forEach(Call::check);
    }
}
