// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the connections of a server have in use together is bounded, and who waits is woken. */
class MemoryBudgetTest {

    private final MemoryBudget budget = new MemoryBudget(100);
    private final List<String> woken = new ArrayList<>();

    @Test
    void reservesUpToItsLimit() {
        assertThat(budget.tryReserve(60)).isTrue();
        assertThat(budget.tryReserve(41)).isFalse();
        assertThat(budget.tryReserve(40)).isTrue();
        assertThat(budget.tryReserve(Long.MAX_VALUE)).isFalse();
        assertThat(budget.release(100)).isFalse();
        assertThat(budget.reserved()).isZero();
    }

    @Test
    void wakesWhoWaitsOnceAndNotWhoHasGone() {
        Runnable one = () -> woken.add("one");
        Runnable two = () -> woken.add("two");
        assertThat(budget.reserveOrWait(100, one)).isTrue();
        assertThat(budget.reserveOrWait(10, one)).isFalse();
        assertThat(budget.reserveOrWait(10, one)).isFalse();
        assertThat(budget.reserveOrWait(10, two)).isFalse();
        budget.forget(two);
        assertThat(budget.release(50)).isTrue();
        budget.wakeWaiters();
        assertThat(woken).containsExactly("one");
        budget.wakeWaiters();
        assertThat(woken).hasSize(1);
    }
}
