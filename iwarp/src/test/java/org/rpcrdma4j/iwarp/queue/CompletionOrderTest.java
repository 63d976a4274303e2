// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.mem.CountingDomain;
import org.rpcrdma4j.iwarp.mem.Leases;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.iwarp.mem.StagTable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** Send and receive queue without a device: posting, order, places, flush. */
class CompletionOrderTest {
    private static final int QUEUE_PAIR = 4;

    private final Arena arena = Arena.ofShared();
    private final CountingDomain domain = new CountingDomain();
    private final Leases leases = new Leases();
    private final StagTable table = new StagTable(new SplittableRandom(1)::nextInt, 16);
    private final PlainRegion region =
            PlainRegion.register(domain, table, leases, arena.allocate(100), Access.REMOTE_READ_WRITE);
    private final SoftCompletionQueue completions = new SoftCompletionQueue(64, () -> {}, () -> {});
    private final AtomicInteger emptied = new AtomicInteger();

    @AfterEach
    void freeMemory() {
        region.close();
        arena.close();
    }

    private SendQueue sends(int depth, int ord) {
        SendQueue queue = new SendQueue(QUEUE_PAIR, depth, 2, completions, emptied::incrementAndGet);
        completions.attach(depth);
        queue.setMaxReads(ord);
        return queue;
    }

    private SendRequest send(long id) {
        return new SendRequest().id(id).sge(region, 0, 10);
    }

    private RdmaReadRequest read(long id) {
        return new RdmaReadRequest().id(id).sge(region, 0, 10).source(0x100, 0);
    }

    private List<String> poll() {
        List<String> found = new ArrayList<>();
        WorkCompletion[] into = {new WorkCompletion()};
        while (completions.poll(into) == 1) {
            found.add(into[0].id() + " " + into[0].status());
        }
        return found;
    }

    private static SendSlot start(SendQueue queue) {
        SendSlot slot = requireNonNull(queue.executable());
        queue.started(slot);
        return slot;
    }

    private static void assertRefused(@Nullable Refused found, Reason reason, String detail) {
        Refused refused = requireNonNull(found);
        assertThat(refused.reason()).isEqualTo(reason);
        assertThat(refused.detail()).contains(detail);
        assertThat(refused.firstBad()).isEqualTo(3);
    }

    @Test
    void aSendStaysBehindTheReadBeforeIt() {
        SendQueue queue = sends(8, 2);
        queue.post(read(0), 0);
        queue.post(send(1), 0);
        queue.post(read(2), 0);
        queue.post(send(3).signaled(false), 0);
        queue.post(send(4), 0);
        SendSlot first = start(queue);
        SendSlot sent = start(queue);
        SendSlot second = start(queue);
        queue.finish(sent, Status.SUCCESS);
        queue.finish(start(queue), Status.SUCCESS);
        assertThat(poll()).isEmpty();
        assertThat(queue.oldestRead()).isSameAs(first);
        queue.readAnswered(first);
        assertThat(poll()).containsExactly("0 SUCCESS", "1 SUCCESS");
        queue.readAnswered(second);
        queue.finish(start(queue), Status.SUCCESS);
        assertThat(poll()).containsExactly("2 SUCCESS", "4 SUCCESS");
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.outstanding()).isZero();
    }

    @Test
    void aPlaceIsHeldUntilItsCompletionWasPolled() {
        SendQueue queue = sends(2, 0);
        assertThat(queue.post(send(0), 0)).isNull();
        assertThat(queue.post(send(1).signaled(false), 0)).isNull();
        assertRefused(queue.post(send(2), 3), Reason.QUEUE_FULL, "all 2 places");
        queue.finish(start(queue), Status.SUCCESS);
        assertRefused(queue.post(send(2), 3), Reason.QUEUE_FULL, "send queue");
        queue.finish(start(queue), Status.SUCCESS);
        assertThat(queue.post(send(2), 0))
                .as("the unsignaled one holds none once it is done")
                .isNull();
        assertThat(queue.post(send(3), 0)).isNotNull();
        assertThat(poll()).containsExactly("0 SUCCESS");
        assertThat(queue.post(send(3), 0)).isNull();
    }

    @Test
    void aQueueFullOfUnsignaledRequestsRecovers() {
        SendQueue queue = sends(4, 0);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 4; i++) {
                assertThat(queue.post(send(i).signaled(false), 0)).isNull();
            }
            for (int i = 0; i < 4; i++) {
                queue.finish(start(queue), Status.SUCCESS);
            }
        }
        assertThat(poll()).isEmpty();
        assertThat(emptied).hasValue(10);
    }

    @Test
    void whatCanNeverBeExecutedIsRefused() {
        SendQueue queue = sends(8, 0);
        assertRefused(queue.post(read(1), 3), Reason.INVALID_REQUEST, "ORD 0");
        assertRefused(queue.post(read(1).clearSges(), 3), Reason.INVALID_REQUEST, "not 0");
        assertRefused(queue.post(read(1).sge(region, 0, 1), 3), Reason.INVALID_REQUEST, "not 2");
        SendRequest long3 = send(1).sge(region, 0, 1).sge(region, 0, 1);
        assertRefused(queue.post(long3, 3), Reason.INVALID_REQUEST, "3 entries, at most 2");
        SendRequest huge = new SendRequest().sge(region, 0, 0xFFFF_FFFFL);
        assertThat(queue.post(huge, 3)).as("2^32 - 1 bytes").isNull();
        assertRefused(queue.post(huge.sge(region, 0, 1), 3), Reason.INVALID_REQUEST, "4294967296 bytes");
        assertRefused(queue.post(send(1).invalidate(0xFF), 3), Reason.INVALID_REQUEST, "no key to invalidate");
        RdmaWriteRequest write = new RdmaWriteRequest().sge(region, 0, 1);
        assertRefused(queue.post(write, 3), Reason.INVALID_REQUEST, "no region of the peer");
        assertThat(queue.post(write.clearSges(), 3))
                .as("a Write of nothing goes anywhere")
                .isNull();
        assertRefused(queue.post(new RegisterRequest(), 3), Reason.INVALID_REQUEST, "no region of this device");
        assertThat(queue.outstanding()).isEqualTo(2);
    }

    @Test
    void aFenceWaitsForAllReadsAndAParkedReadHoldsUpWhatIsBehind() {
        SendQueue queue = sends(8, 2);
        for (int i = 0; i < 3; i++) {
            queue.post(read(i), 0);
        }
        queue.post(send(3), 0);
        queue.post(new LocalInvalidateRequest().id(4).fence(true), 0);
        SendSlot first = start(queue);
        SendSlot second = start(queue);
        assertThat(queue.executable()).as("ORD 2").isNull();
        queue.readAnswered(first);
        SendSlot third = start(queue);
        queue.finish(start(queue), Status.SUCCESS);
        assertThat(queue.executable()).as("two Reads are open").isNull();
        queue.readAnswered(second);
        assertThat(queue.executable()).as("one Read is open").isNull();
        queue.readAnswered(third);
        queue.finish(start(queue), Status.SUCCESS);
        assertThat(poll()).hasSize(5);
    }

    @Test
    void aFlushReportsAllInOrderWithTheFailedOneByItsOwnStatus() {
        SendQueue queue = sends(8, 2);
        SoftFastRegion fast = SoftFastRegion.allocate(domain, table, leases, 1, 4096);
        fast.map(List.of(arena.allocate(8)), 0);
        queue.post(read(0).signaled(false), 0);
        queue.post(send(1).signaled(false), 0);
        queue.post(send(2), 0);
        queue.post(new RegisterRequest().id(3).region(fast, fast.advanceKey()), 0);
        queue.post(send(4).signaled(false), 0);
        start(queue);
        queue.finish(start(queue), Status.SUCCESS);
        queue.finish(start(queue), Status.LOCAL_PROTECTION_ERROR);
        queue.flush();
        assertThat(poll())
                .containsExactly("0 FLUSHED", "1 FLUSHED", "2 LOCAL_PROTECTION_ERROR", "3 FLUSHED", "4 FLUSHED");
        fast.unmap();
        fast.close();
        queue.flush();
        assertThat(poll()).isEmpty();
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.executable()).isNull();
        assertThat(emptied).hasValue(1);
    }

    @Test
    void receivesAreUsedInOrderAndTheFailedOneKeepsItsStatus() {
        ReceiveQueue queue = new ReceiveQueue(QUEUE_PAIR, 4, 2, completions, emptied::incrementAndGet);
        completions.attach(4);
        for (int i = 0; i < 4; i++) {
            assertThat(queue.post(new ReceiveRequest().id(i).sge(region, i, 1), 0))
                    .isNull();
        }
        assertRefused(queue.post(new ReceiveRequest(), 3), Reason.QUEUE_FULL, "receive queue");
        queue.delivered(1, false);
        queue.deliveredWithInvalidate(0, true, 0x1234_5678);
        WorkCompletion[] into = {new WorkCompletion(), new WorkCompletion(), new WorkCompletion()};
        assertThat(completions.poll(into)).isEqualTo(2);
        assertThat(into[0].isWithInvalidate()).isFalse();
        assertThat(into[1].invalidatedKey()).isEqualTo(0x1234_5678);
        assertThat(into[1].operation()).isEqualTo(Operation.RECEIVE);
        assertThat(into[1].queuePairNumber()).isEqualTo(QUEUE_PAIR);
        queue.failOldest(Status.LOCAL_LENGTH_ERROR);
        queue.flush();
        assertThat(poll()).containsExactly("2 LOCAL_LENGTH_ERROR", "3 FLUSHED");
        assertThat(queue.oldest()).isNull();
    }

    @Property(tries = 300)
    void anyMixtureCompletesOnceAndInOrder(@ForAll long seed, @ForAll @IntRange(min = 1, max = 9) int depth) {
        SplittableRandom random = new SplittableRandom(seed);
        SendQueue queue = sends(depth, 1 + random.nextInt(3));
        List<String> wanted = new ArrayList<>();
        List<String> found = new ArrayList<>();
        ArrayDeque<SendSlot> sent = new ArrayDeque<>();
        boolean[] signaled = new boolean[200];
        int posted = 0;
        while (posted < signaled.length) {
            switch (random.nextInt(5)) {
                case 0 -> found.addAll(poll());
                case 1 -> {
                    SendSlot slot = queue.executable();
                    if (slot != null) {
                        queue.started(slot);
                        if (slot.operation() != Operation.RDMA_READ) {
                            sent.add(slot);
                        }
                    }
                }
                case 2 -> {
                    if (!sent.isEmpty()) {
                        queue.finish(sent.remove(), Status.SUCCESS);
                    }
                }
                case 3 -> {
                    SendSlot open = queue.oldestRead();
                    if (open != null) {
                        queue.readAnswered(open);
                    }
                }
                default -> posted = post(random, queue, signaled, posted);
            }
            assertThat(queue.outstanding()).isLessThanOrEqualTo(depth);
        }
        found.addAll(poll());
        queue.flush();
        found.addAll(poll());
        long done = found.stream().filter(entry -> entry.endsWith("SUCCESS")).count();
        assertThat(found.stream().map(entry -> Integer.parseInt(entry.split(" ", 2)[0])))
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(found.stream().skip(done)).allMatch(entry -> entry.endsWith("FLUSHED"));
        for (int i = 0; i < posted; i++) {
            if (signaled[i]) {
                wanted.add(i + "");
            }
        }
        assertThat(found.stream().map(entry -> entry.split(" ", 2)[0]).toList()).containsAll(wanted);
        completions.detach(queue);
    }

    private int post(SplittableRandom random, SendQueue queue, boolean[] signaled, int posted) {
        signaled[posted] = random.nextInt(3) > 0;
        SendQueueRequest request = random.nextInt(3) == 0
                ? read(posted).signaled(signaled[posted]).fence(random.nextInt(4) == 0)
                : send(posted).signaled(signaled[posted]).fence(random.nextInt(4) == 0);
        return queue.post(request, 0) == null ? posted + 1 : posted;
    }

    @Test
    void inboundReadsHoldTheAgreedNumberOfSlots() {
        InboundReads reads = new InboundReads(64);
        assertThat(reads.free()).as("before the connection").isNull();
        reads.setLimit(2);
        for (int msn = 1; msn < 500; msn++) {
            InboundRead slot = requireNonNull(reads.free());
            slot.set(msn, 1, 2, 3, 4, 5);
            reads.arrived();
            if (msn > 1) {
                assertThat(reads.free()).as("two wait").isNull();
                assertThat(requireNonNull(reads.oldest()).msn()).isEqualTo(msn - 1);
                reads.built();
                assertThat(reads.isEmpty()).isFalse();
                reads.accepted();
            }
        }
    }
}
