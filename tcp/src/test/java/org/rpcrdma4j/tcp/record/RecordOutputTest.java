// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecordOutputTest {

    /** Takes a few bytes at a time, up to a limit. */
    private static final class Slow implements GatheringByteChannel {
        private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
        private final int step;
        private final int limit;

        Slow(int step, int limit) {
            this.step = step;
            this.limit = limit;
        }

        @Override
        public long write(ByteBuffer[] all, int offset, int length) throws IOException {
            if (taken.size() >= limit) {
                throw new IOException("broken");
            }
            int left = step;
            for (int i = offset; i < offset + length; i++) {
                while (all[i].hasRemaining() && left > 0) {
                    taken.write(all[i].get());
                    left--;
                }
            }
            return (long) step - left;
        }

        @Override
        public long write(ByteBuffer[] all) throws IOException {
            return write(all, 0, all.length);
        }

        @Override
        public int write(ByteBuffer one) throws IOException {
            return (int) write(new ByteBuffer[] {one});
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    private static final class Sent implements OutboundRecord {
        private final List<MemorySegment> pieces;
        private final boolean isWanted;
        private final List<String> events;
        private final CountDownLatch end = new CountDownLatch(1);

        Sent(List<String> events, boolean isWanted, MemorySegment... pieces) {
            this.events = events;
            this.isWanted = isWanted;
            this.pieces = List.of(pieces);
        }

        @Override
        public List<MemorySegment> pieces() {
            return pieces;
        }

        @Override
        public boolean begin() {
            events.add("begin");
            return isWanted;
        }

        @Override
        public void onWritten() {
            events.add("written");
            end.countDown();
        }

        @Override
        public void onFailed() {
            events.add("failed");
            end.countDown();
        }
    }

    private static MemorySegment bytes(int... values) {
        byte[] array = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            array[i] = (byte) values[i];
        }
        return MemorySegment.ofArray(array);
    }

    @Test
    void aRecordIsOneFragmentOfAllItsPiecesWhateverMemoryTheyLieIn() {
        for (int step = 1; step < 30; step++) {
            Slow channel = new Slow(step, Integer.MAX_VALUE);
            RecordOutput output = new RecordOutput(channel, () -> {});
            List<String> events = new ArrayList<>();
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment words = MemorySegment.ofArray(new long[] {-1});
                Sent record =
                        new Sent(events, true, bytes(1, 2), arena.allocate(3).fill((byte) 9), words, bytes());
                assertThat(output.submitAndWrite(record)).isTrue();
                assertThat(output.submitAndWrite(new Sent(events, false, bytes(5))))
                        .isTrue();
                assertThat(output.submitAndWrite(
                                new Sent(events, true, bytes(6, 7, 8, 9).asReadOnly())))
                        .isTrue();
            }
            assertThat(HexFormat.of().formatHex(channel.taken.toByteArray()))
                    .isEqualTo("8000000d" + "0102" + "090909" + "ffffffffffffffff" + "80000004" + "06070809");
            assertThat(events).containsExactly("begin", "written", "begin", "begin", "written");
            assertThat(output.sentBytes()).isEqualTo(25);
        }
    }

    @Test
    void aBrokenChannelFailsWhatWasBegunAndWhatWaits() throws InterruptedException {
        AtomicInteger broken = new AtomicInteger();
        RecordOutput output = new RecordOutput(new Slow(3, 3), broken::incrementAndGet);
        List<String> events = new ArrayList<>();
        Sent first = new Sent(events, true, bytes(1, 2, 3, 4));
        Sent second = new Sent(events, true, bytes(1, 2, 3, 4));
        assertThat(output.submit(first)).isTrue();
        assertThat(output.submit(second)).isTrue();
        Thread writer = Thread.ofVirtual().start(output);
        assertThat(first.end.await(20, TimeUnit.SECONDS)).as("%s", events).isTrue();
        assertThat(second.end.await(20, TimeUnit.SECONDS)).as("%s", events).isTrue();
        assertThat(writer.join(java.time.Duration.ofSeconds(20))).isTrue();
        assertThat(events).containsExactly("begin", "begin", "failed", "failed");
        assertThat(broken).hasPositiveValue();
        assertThat(output.submit(new Sent(events, true, bytes(1)))).isFalse();
    }
}
