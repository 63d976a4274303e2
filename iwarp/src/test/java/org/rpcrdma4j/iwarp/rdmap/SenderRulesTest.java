// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.mem.AccessFault;
import org.rpcrdma4j.iwarp.mem.AccessKind;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.iwarp.queue.InboundRead;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Rules of the sending side where its batch, the regions behind it and the send queue meet. */
@SuppressWarnings("MustBeClosedChecker") // arenas are closed in the middle of a test on purpose
class SenderRulesTest {
    private static final byte A = 0x0A;
    private static final byte B = 0x0B;
    private static final byte C = 0x0C;

    private static byte[] drain(FpduBatch batch, int most) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int left = most;
        for (int i = batch.firstEntry(); i < batch.firstEntry() + batch.entriesLeft() && left > 0; i++) {
            ByteBuffer entry = batch.entries()[i];
            byte[] part = new byte[Math.min(left, entry.remaining())];
            entry.get(part);
            out.writeBytes(part);
            left -= part.length;
        }
        return out.toByteArray();
    }

    private static SenderBench threePieces(Arena arena) {
        SenderBench bench = new SenderBench(8, new ReentrantLock());
        MemorySegment memory = arena.allocate(3000);
        memory.asSlice(0, 1000).fill(A);
        memory.asSlice(1000, 1000).fill(B);
        memory.asSlice(2000, 1000).fill(C);
        PlainRegion region = bench.region(memory, Access.LOCAL_READ);
        assertNull(bench.sends.post(
                new SendRequest().sge(region, 0, 1000).sge(region, 1000, 100).sge(region, 2000, 1000), 0));
        return bench;
    }

    @Test
    void theBytesOfAnFpduKeepTheirOrderWhenAWriteIsCutInItsFirstPiece() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            SenderBench whole = threePieces(arena);
            assertTrue(whole.outbound.fill());
            byte[] expected = drain(whole.batch, Integer.MAX_VALUE);

            SenderBench cut = threePieces(arena);
            assertTrue(cut.outbound.fill());
            ByteArrayOutputStream found = new ByteArrayOutputStream();
            found.writeBytes(drain(cut.batch, 500));
            // As Transmitter.write does it.
            cut.batch.accepted(500);
            cut.batch.copyOutBegun();
            cut.batch.leaveAll();
            assertNull(cut.batch.nextCompleted());
            assertTrue(cut.batch.reenter());
            found.writeBytes(drain(cut.batch, Integer.MAX_VALUE));

            assertArrayEquals(expected, found.toByteArray());
        }
    }

    @Test
    void memoryIsNotReadAfterItsRegionWasClosedBetweenTwoWrites() throws Exception {
        Arena arena = Arena.ofShared();
        SenderBench bench = new SenderBench(8, new ReentrantLock());
        PlainRegion region = bench.region(arena.allocate(3000), Access.LOCAL_READ);
        assertNull(bench.sends.post(new SendRequest().sge(region, 0, 3000), 0));
        assertTrue(bench.outbound.fill());
        assertEquals(500, drain(bench.batch, 500).length);
        // As Transmitter.write does it; the owner's thread comes in as soon as it can.
        bench.batch.accepted(500);
        bench.batch.copyOutBegun();
        bench.batch.leaveAll();
        region.close();
        arena.close();
        assertNull(bench.batch.nextCompleted());
        assertTrue(bench.batch.reenter());
        assertDoesNotThrow(() -> drain(bench.batch, Integer.MAX_VALUE), "reads memory of a closed region");
    }

    @Test
    void aSendIsNotReportedBeforeItWasSentAlthoughAReadOfTheSamePlaceWasAnsweredEarly() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            SenderBench bench = new SenderBench(2, new ReentrantLock());
            PlainRegion sink = bench.region(arena.allocate(4096), Access.LOCAL_WRITE);
            PlainRegion source = bench.region(arena.allocate(1 << 20), Access.LOCAL_READ);
            assertNull(bench.sends.post(
                    new RdmaReadRequest().id(1).sge(sink, 0, 4096).source(0x12345600, 0), 0));
            assertTrue(bench.outbound.fill());
            int length = drain(bench.batch, Integer.MAX_VALUE).length;
            // The socket took it; the writing thread loses its processor here, the peer answers, the loop handles it.
            bench.sends.readAnswered(Objects.requireNonNull(bench.sends.oldestRead()));
            WorkCompletion[] polled = {new WorkCompletion(), new WorkCompletion(), new WorkCompletion()};
            assertEquals(1, bench.completions.poll(polled));
            assertNull(bench.sends.post(new SendRequest().id(2).sge(source, 0, 100), 0));
            assertNull(bench.sends.post(new SendRequest().id(3).sge(source, 0, 1 << 20), 0));
            // The writing thread goes on.
            bench.batch.leaveAll();
            bench.batch.accepted(length);
            for (Object o = bench.batch.nextCompleted(); o != null; o = bench.batch.nextCompleted()) {
                bench.outbound.accepted(o);
            }
            assertTrue(bench.outbound.fill());
            drain(bench.batch, 1000);
            bench.batch.accepted(1000);
            bench.batch.copyOutBegun();
            bench.batch.leaveAll();
            for (Object o = bench.batch.nextCompleted(); o != null; o = bench.batch.nextCompleted()) {
                bench.outbound.accepted(o);
            }
            int done = bench.completions.poll(polled);
            assertEquals(1, done, "of Send 3 only a few hundred of 1048576 bytes have left, yet: " + List.of(polled));
        }
    }

    @Test
    void aRegionCanBeClosedAfterAResponseFailedOnDeadMemory() throws Exception {
        Arena arena = Arena.ofShared();
        SenderBench bench = new SenderBench(8, new ReentrantLock());
        PlainRegion region = bench.region(arena.allocate(100), Access.REMOTE_READ);
        InboundRead read = Objects.requireNonNull(bench.inboundReads.free());
        read.set(1, 0x11100, 0, 100, region.remoteKey(), region.remoteAddress());
        bench.inboundReads.arrived();
        arena.close();
        assertThrows(StreamFault.class, bench.outbound::fill);
        bench.batch.leaveAll();
        assertEnds("region.close", region::close);
    }

    @Test
    void anEmptySegmentIsNotSentInTheMiddleOfAMessage() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            for (int last = 0; last < 256; last++) {
                SenderBench bench = new SenderBench(8, new ReentrantLock());
                PlainRegion region = bench.region(arena.allocate(1 << 16), Access.LOCAL_READ);
                for (int i = 0; i < 3; i++) {
                    SendRequest send = new SendRequest();
                    for (int k = 0; k < (i < 2 ? 32 : 30); k++) {
                        send.sge(region, 0, 256);
                    }
                    if (i == 2) {
                        send.sge(region, 0, last);
                    }
                    assertNull(bench.sends.post(send, 0));
                }
                assertNull(bench.sends.post(new SendRequest().sge(region, 0, 60_000), 0));
                assertTrue(bench.outbound.fill());
                ByteBuffer sent = ByteBuffer.wrap(drain(bench.batch, Integer.MAX_VALUE));
                while (sent.hasRemaining()) {
                    int at = sent.position();
                    int ulpdu = Short.toUnsignedInt(sent.getShort(at));
                    assertTrue(
                            ulpdu > 18 || (sent.get(at + 2) & 0x40) != 0,
                            "an empty segment with L=0, last piece " + last);
                    sent.position(at + 2 + ulpdu + (-(2 + ulpdu) & 3) + 4);
                }
            }
        }
    }

    @Test
    void registeringWhileThePeerInvalidatesDoesNotHang() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            AtomicInteger calls = new AtomicInteger();
            CountDownLatch shut = new CountDownLatch(1);
            Thread[] filler = new Thread[1];
            Runnable[] hook = {() -> {}};
            ReentrantLock lock = new ReentrantLock() {
                private static final long serialVersionUID = 1;

                @Override
                public void lock() {
                    if (Thread.currentThread() == filler[0] && calls.incrementAndGet() == 2) {
                        hook[0].run();
                    }
                    super.lock();
                }
            };
            SenderBench bench = new SenderBench(8, lock);
            SoftFastRegion region = (SoftFastRegion) bench.domain.allocateFastRegion(16);
            region.map(List.of(arena.allocate(4096)), 0);
            int key = region.advanceKey();
            region.claim();
            assertNull(region.open(key, Access.REMOTE_READ, bench.domain, SenderBench.QP));
            assertNull(bench.sends.post(new SendRequest().sge(region, 0, 4096), 0));
            assertNull(bench.sends.post(new RegisterRequest().region(region, region.advanceKey()), 1));
            hook[0] = () -> {
                Thread loop = daemon(() -> region.invalidateByPeer(key, bench.domain, SenderBench.QP));
                loop.start();
                while (region.isValid()) {
                    Thread.onSpinWait();
                }
                shut.countDown();
            };
            filler[0] = daemon(() -> {
                try {
                    bench.outbound.fill();
                } catch (Exception e) {
                    // A fault would be right.
                }
                bench.batch.leaveAll();
            });
            filler[0].start();
            assertTrue(shut.await(5, TimeUnit.SECONDS));
            filler[0].join(3000);
            assertFalse(filler[0].isAlive(), "fill waits for its own guard; the loop waits with it");
        }
    }

    @Test
    void postingARegistrationWhileTheRegionIsClosedDoesNotBlockTheQueuePair() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            SenderBench bench = new SenderBench(8, new ReentrantLock());
            SoftFastRegion region = (SoftFastRegion) bench.domain.allocateFastRegion(16);
            region.map(List.of(arena.allocate(4096)), 0);
            int key = region.advanceKey();
            region.claim();
            assertNull(region.open(key, Access.REMOTE_READ, bench.domain, SenderBench.QP));
            // The transmitter has a segment of a Response in its batch ...
            assertEquals(
                    AccessFault.NONE, region.enter(key, AccessKind.REMOTE_READ, bench.domain, SenderBench.QP, 0, 4096));
            // ... one thread closes the region, another posts.
            daemon(region::close).start();
            while (region.isValid()) {
                Thread.onSpinWait();
            }
            Thread poster = daemon(() -> {
                bench.lock.lock();
                try {
                    bench.sends.post(new RegisterRequest().region(region, key), 0);
                } finally {
                    bench.lock.unlock();
                }
            });
            poster.start();
            poster.join(500);
            // The transmitter takes up the next message before it leaves.
            boolean got = bench.lock.tryLock(3, TimeUnit.SECONDS);
            region.leave();
            assertTrue(got, "poster holds the lock and waits for the closer, which waits for the transmitter");
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private static void assertEnds(String what, Runnable work) throws InterruptedException {
        Thread thread = daemon(work);
        thread.start();
        thread.join(3000);
        assertFalse(thread.isAlive(), what + " does not return");
    }
}
