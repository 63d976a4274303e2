// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;

/** What the connections of a server have in use together is bounded, no host has all of it, and who has least goes first. */
class MemoryBudgetTest {

    private final MemoryBudget budget = new MemoryBudget(100);
    private final List<String> woken = new ArrayList<>();

    private static InetAddress host(int number) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) number});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /** A connection of the host, which is told of as the name. */
    private MemoryBudget.Share connection(int host, String name) {
        return budget.share(host(host), () -> woken.add(name));
    }

    @Test
    void reservesUpToItsLimit() {
        MemoryBudget.Share one = connection(1, "one");
        assertThat(one.reserveMore(Long.MAX_VALUE)).isFalse();
        assertThat(one.reserveMore(101)).isFalse();
        assertThat(one.reserveOrWait(100)).isTrue();
        assertThat(one.reserveMore(1)).isFalse();
        assertThat(one.release(100)).isFalse();
        assertThat(budget.reserved()).isZero();
    }

    @Test
    void aHostThatIsAloneHasThreeQuartersAndTheNextThreeQuartersOfTheRest() {
        for (int host = 1; host <= 2; host++) {
            MemoryBudget.Share one = connection(host, "one");
            int calls = 0;
            while (one.reserveOrWait(1)) {
                calls++;
            }
            assertThat(calls).isEqualTo(host == 1 ? 75 : 19);
        }
        assertThat(connection(3, "three").reserveOrWait(6)).isTrue();
    }

    @Test
    void allConnectionsOfAHostCountTogetherAlsoThoseThatHaveEnded() {
        MemoryBudget.Share one = connection(1, "one");
        assertThat(one.reserveOrWait(70)).isTrue();
        assertThat(one.leave()).isFalse();
        assertThat(connection(1, "two").reserveOrWait(10)).isFalse();
        budget.wakeWaiters();
        assertThat(woken).isEmpty();
        assertThat(one.release(70)).isTrue();
        budget.wakeWaiters();
        assertThat(woken).containsExactly("two");
    }

    @Test
    void theOnlyCallOfAHostIsLetInWheneverItFits() {
        assertThat(connection(1, "one").reserveOrWait(75)).isTrue();
        assertThat(connection(2, "two").reserveOrWait(25)).isTrue();
        assertThat(connection(3, "three").reserveOrWait(1)).isFalse();
    }

    @Test
    void callsThatHaveBegunMayGoOnBeyondWhatOthersAreLetInFor() {
        MemoryBudget.Share one = connection(1, "one");
        assertThat(one.reserveOrWait(75)).isTrue();
        assertThat(connection(1, "two").reserveOrWait(1)).isFalse();
        assertThat(one.reserveMore(13)).isTrue();
        assertThat(one.reserveMore(1)).isFalse();
        assertThat(budget.reserved()).isEqualTo(88);
    }

    @Test
    void whoseHostHasLeastGoesFirstAndAmongEqualsWhoCameFirst() {
        MemoryBudget.Share rich = connection(1, "rich");
        MemoryBudget.Share poor = connection(2, "poor");
        assertThat(rich.reserveOrWait(60)).isTrue();
        assertThat(poor.reserveOrWait(30)).isTrue();
        assertThat(rich.reserveOrWait(5)).isFalse();
        assertThat(poor.reserveOrWait(20)).isFalse();
        assertThat(connection(3, "first").reserveOrWait(15)).isFalse();
        assertThat(connection(4, "second").reserveOrWait(15)).isFalse();
        assertThat(rich.release(20)).isTrue();
        budget.wakeWaiters();
        assertThat(woken).containsExactly("first", "second");
        assertThat(rich.release(40)).isTrue();
        budget.wakeWaiters();
        assertThat(woken).containsExactly("first", "second", "rich");
        assertThat(rich.reserveOrWait(5))
                .as("it was reserved when it was woken")
                .isTrue();
        assertThat(budget.reserved()).isEqualTo(65);
    }

    @Test
    void nobodyPassesOneWhoWaitsAndHasNoMore() {
        MemoryBudget.Share one = connection(1, "one");
        assertThat(one.reserveOrWait(50)).isTrue();
        assertThat(connection(2, "large").reserveOrWait(80)).isFalse();
        assertThat(one.reserveOrWait(1)).isFalse();
        assertThat(connection(3, "small").reserveOrWait(1)).isFalse();
        assertThat(one.release(50)).isTrue();
        budget.wakeWaiters();
        assertThat(woken).containsExactly("large", "one", "small");
    }

    @Test
    void oneWhoWaitsIsWokenOnceAndNotWhenHeHasGone() {
        MemoryBudget.Share one = connection(1, "one");
        MemoryBudget.Share two = connection(2, "two");
        MemoryBudget.Share three = connection(3, "three");
        assertThat(one.reserveOrWait(100)).isTrue();
        assertThat(two.reserveOrWait(10)).isFalse();
        assertThat(two.reserveOrWait(10)).isFalse();
        assertThat(three.reserveOrWait(10)).isFalse();
        assertThat(two.leave()).isTrue();
        assertThat(one.release(100)).isTrue();
        budget.wakeWaiters();
        budget.wakeWaiters();
        assertThat(woken).containsExactly("three");
        assertThat(three.leave()).as("what it was woken for is given back").isFalse();
        assertThat(budget.reserved()).isZero();
        assertThat(one.leave()).isFalse();
        assertThat(budget.hosts()).isZero();
    }

    @Test
    void aCallThatWantsNothingNeverWaits() {
        assertThat(connection(1, "one").reserveOrWait(100)).isTrue();
        assertThat(connection(2, "two").reserveOrWait(0)).isTrue();
    }

    /** A connection of the random run: its calls go one after the other, each held for a while. */
    private static final class Client {
        private final ArrayDeque<Integer> calls = new ArrayDeque<>();
        private final ArrayDeque<Integer> held = new ArrayDeque<>();
        private final int host;
        private final MemoryBudget.Share share;

        private Client(MemoryBudget shared, int number) {
            host = number;
            share = shared.share(host(number), this::retry);
        }

        private void retry() {
            while (!calls.isEmpty() && share.reserveOrWait(calls.element())) {
                held.add(calls.remove());
            }
        }
    }

    @Test
    void everyCallIsServedInTheEndAndNoHostHasMoreThanItsPart() {
        Seeds.runRandom(300, random -> {
            MemoryBudget shared = new MemoryBudget(1000);
            List<Client> clients = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                clients.add(new Client(shared, random.nextInt(4)));
            }
            for (int step = 0; step < 400; step++) {
                Client client = clients.get(random.nextInt(clients.size()));
                if (random.nextInt(3) > 0) {
                    client.calls.add(1 + random.nextInt(random.nextBoolean() ? 20 : 1000));
                    client.retry();
                } else {
                    release(shared, client, random);
                }
                check(shared, clients);
            }
            while (clients.stream().anyMatch(client -> !client.held.isEmpty())) {
                clients.forEach(client -> release(shared, client, random));
                check(shared, clients);
            }
            assertThat(clients).allMatch(client -> client.calls.isEmpty());
            assertThat(shared.reserved()).isZero();
            clients.forEach(client -> client.share.leave());
            assertThat(shared.hosts()).isZero();
        });
    }

    private static void release(MemoryBudget shared, Client client, Random random) {
        Integer bytes = random.nextBoolean() ? client.held.pollFirst() : client.held.pollLast();
        if (bytes != null && client.share.release(bytes)) {
            shared.wakeWaiters();
        }
    }

    private static void check(MemoryBudget shared, List<Client> clients) {
        long[] bytes = new long[4];
        int[] calls = new int[4];
        for (Client client : clients) {
            client.held.forEach(held -> bytes[client.host] += held);
            calls[client.host] += client.held.size();
        }
        long sum = 0;
        for (int host = 0; host < 4; host++) {
            sum += bytes[host];
            assertThat(calls[host] <= 1 || bytes[host] <= 750).isTrue();
        }
        assertThat(sum).isEqualTo(shared.reserved()).isLessThanOrEqualTo(1000);
    }
}
