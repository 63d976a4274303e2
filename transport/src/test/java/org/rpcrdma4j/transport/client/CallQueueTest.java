// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.raw.Words;

/** Calls wait in the order in which they were given to the client, whatever was sent and lost meanwhile. */
class CallQueueTest {

    private static final int MANY = 16_384;

    private final BounceBuffers bounces = new BounceBuffers(new Counters<>(ClientCounter.class));
    private final CallMessage message = CallMessage.builder(
                    MemorySegment.ofArray(Words.call(1, 1, 1, 0).toBytes()))
            .build();
    private long comparisons;
    private final CallQueue queue = new CallQueue((one, other) -> {
        comparisons++;
        return ClientCall.BY_ORDER.compare(one, other);
    });

    private ClientCall call(long order) {
        ClientCall call = new ClientCall(bounces);
        call.begin(message, new PendingReply(requesterThatIsNotAsked()), order, 0, 0);
        return call;
    }

    @SuppressWarnings({"NullAway", "DataFlowIssue"}) // never asked: nothing is cancelled here
    private static Requester requesterThatIsNotAsked() {
        return null;
    }

    private static List<Long> orders(CallQueue queue) {
        List<Long> orders = new ArrayList<>();
        for (ClientCall call = queue.first(); call != null; call = call.nextInQueue) {
            orders.add(call.order());
        }
        return orders;
    }

    @Test
    void callsThatWereLostStandAmongThoseThatWaitInTheirOrder() {
        Seeds.runRandom(200, random -> {
            CallQueue any = new CallQueue(ClientCall.BY_ORDER);
            TreeSet<Long> expected = new TreeSet<>();
            List<ClientCall> lost = new ArrayList<>();
            for (long order = 0; order < 40; order++) {
                switch (random.nextInt(3)) {
                    case 0 -> lost.add(call(order));
                    case 1 -> {
                        any.addLast(call(order));
                        expected.add(order);
                    }
                    default -> {}
                }
            }
            any.addInOrder(lost);
            lost.forEach(call -> expected.add(call.order()));
            assertThat(orders(any)).isEqualTo(List.copyOf(expected));
            assertThat(any.size()).isEqualTo(expected.size());
            for (ClientCall call : lost) {
                any.remove(call);
                expected.remove(call.order());
            }
            assertThat(orders(any)).isEqualTo(List.copyOf(expected));
        });
    }

    @Test
    void manyCallsAreLinedUpAgainByComparingEachOnce() {
        List<ClientCall> lost = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            lost.add(call(i));
        }
        for (int i = 0; i < MANY; i++) {
            queue.addLast(call(MANY + i));
        }
        queue.addInOrder(lost);
        assertThat(queue.size()).isEqualTo(2 * MANY);
        assertThat(comparisons).isEqualTo(MANY);
    }

    @Test
    void manyCallsBetweenManyThatWaitAreLinedUpInOneWalk() {
        List<ClientCall> lost = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            lost.add(call(2L * i + 1));
            queue.addLast(call(2L * i));
        }
        queue.addInOrder(lost);
        assertThat(orders(queue)).isSorted().hasSize(2 * MANY);
        assertThat(comparisons).isLessThan(2 * MANY);
    }
}
