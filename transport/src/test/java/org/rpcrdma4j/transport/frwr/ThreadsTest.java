// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Segment;

/** Many threads on the real software device: replies, cancels and posts cross each other as they like. F13. */
@Timeout(120)
class ThreadsTest {

    private static final int THREADS = 6;
    private static final int CALLS = 400;
    private static final long LIMIT_SECONDS = 30;

    @Test
    void everyCallOfEveryThreadIsShutOnce() throws InterruptedException {
        try (Rig rig = Network.IWARP.open();
                Arena arena = Arena.ofShared()) {
            SendQueuePlan.Supported plan = Caller.plan(rig, 4);
            Caller caller = new Caller(rig, plan, new RegionPool.Options(4, 24, 5, 1_000_000, 8_000_000)).connected(0);
            caller.server.onMessage((connection, message) -> {
                List<Segment> segments = Scene.segments(message, PeerAccess.WRITE);
                if (mayBeCancelled(message.xid())) {
                    connection.send(Scene.xidOf(message));
                    return;
                }
                segments.forEach(segment -> connection.write(segment, Scene.pattern(segment.length())));
                if (message.xid() % 3 == 0) {
                    connection.sendInvalidating(segments.getFirst().handle(), Scene.xidOf(message));
                } else {
                    connection.send(Scene.xidOf(message));
                }
            });
            AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int number = i;
                Thread thread = new Thread(() -> callRepeatedly(caller, number, arena.allocate(6 * 16_384, 4096)));
                thread.setUncaughtExceptionHandler((which, thrown) -> failure.compareAndSet(null, thrown));
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failure.get()).isNull();
            caller.monitor.run(caller::checkInvariants);
            assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
            assertThat(caller.count(ClientCounter.POST_ERRORS)).isZero();
            assertThat(caller.disconnects).isZero();
            caller.close();
        }
    }

    /** The peer does not write for these: a write that comes after the fence would end the connection. */
    private static boolean mayBeCancelled(int xid) {
        return xid % 5 == 0;
    }

    private static void cancel(Caller caller, TestCall call) {
        caller.monitor.run(() -> {
            if (call.sent && !call.isOver() && !call.list.isFencing()) {
                call.giveUp();
            }
        });
    }

    private static void callRepeatedly(Caller caller, int number, MemorySegment memory) {
        SplittableRandom random = new SplittableRandom(number);
        RegionList[] list = new RegionList[1];
        caller.monitor.run(() -> list[0] = caller.newCall(-1 - number).list);
        for (int i = 0; i < CALLS; i++) {
            int regions = random.nextInt(1, 6);
            Semaphore over = new Semaphore(0);
            TestCall[] call = new TestCall[1];
            int xid = number * CALLS + i;
            caller.monitor.run(() -> {
                call[0] = caller.newCallOn(list[0], xid);
                call[0].whenOver = over::release;
                call[0].send(List.of(), List.of(memory.asSlice(0, regions * 16_384L)));
            });
            if (mayBeCancelled(xid) && random.nextInt(3) > 0) {
                LockSupport.parkNanos(random.nextInt(200_000));
                cancel(caller, call[0]);
            }
            await(over, call[0]);
            call[0].checkUnchanged();
            memory.fill((byte) 0);
        }
    }

    private static void await(Semaphore over, TestCall call) {
        try {
            if (!over.tryAcquire(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("not over: " + call.caller.rig.describe());
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
