// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.time;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class DeadlinesTest {

    /** An entry with a name; the names tell equal deadlines apart in the model. */
    private static final class Named extends Deadlines.Entry {
        private final int name;

        Named(int name) {
            this.name = name;
        }

        @Override
        public String toString() {
            return name + " at " + deadlineNanos();
        }
    }

    /** The clock runs over from the largest long to the smallest in the middle of the deadlines. */
    @Property
    void givesTheSameAsASortedMapWhileTheClockRunsOver(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int names) {
        SplittableRandom random = new SplittableRandom(seed);
        long origin = Long.MAX_VALUE - 500;
        Deadlines<Named> heap = new Deadlines<>();
        // Keyed by the distance from the origin, which does not run over; all names of one deadline together.
        NavigableMap<Long, List<Named>> model = new TreeMap<>();
        List<Named> entries = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            entries.add(new Named(i));
        }
        for (int step = 0; step < 400; step++) {
            Named entry = entries.get(random.nextInt(names));
            if (entry.isWaiting()) {
                assertThat(heap.remove(entry)).isTrue();
                removeFrom(model, entry, origin);
            } else if (random.nextInt(4) == 0) {
                assertThat(heap.remove(entry)).isFalse();
            } else {
                long distance = random.nextInt(1000);
                heap.add(entry, origin + distance);
                model.computeIfAbsent(distance, ignored -> new ArrayList<>()).add(entry);
            }
            assertSameEarliest(heap, model, origin);
        }
        assertDrainsInOrder(heap, model, origin);
        assertThat(entries).noneMatch(Deadlines.Entry::isWaiting);
    }

    private static void removeFrom(NavigableMap<Long, List<Named>> model, Named entry, long origin) {
        long distance = entry.deadlineNanos() - origin;
        List<Named> same = requireNonNull(model.get(distance));
        assertThat(same.remove(entry)).isTrue();
        if (same.isEmpty()) {
            model.remove(distance);
        }
    }

    private static void assertSameEarliest(Deadlines<Named> heap, NavigableMap<Long, List<Named>> model, long origin) {
        assertThat(heap.size())
                .isEqualTo(model.values().stream().mapToInt(List::size).sum());
        assertThat(heap.isEmpty()).isEqualTo(model.isEmpty());
        Map.Entry<Long, List<Named>> first = model.firstEntry();
        if (first == null) {
            assertThat(heap.earliest()).isNull();
        } else {
            Named earliest = requireNonNull(heap.earliest());
            assertThat(earliest.deadlineNanos() - origin).isEqualTo(first.getKey());
            assertThat(first.getValue()).contains(earliest);
        }
    }

    private static void assertDrainsInOrder(Deadlines<Named> heap, NavigableMap<Long, List<Named>> model, long origin) {
        for (long now = 0; now < 1007; now += 7) {
            Named expired;
            while ((expired = heap.pollExpired(origin + now)) != null) {
                assertThat(expired.deadlineNanos() - origin)
                        .isEqualTo(model.firstKey())
                        .isLessThanOrEqualTo(now);
                assertThat(expired.isWaiting()).isFalse();
                removeFrom(model, expired, origin);
            }
            assertThat(model.headMap(now, true)).isEmpty();
        }
        assertThat(heap.isEmpty()).isTrue();
    }

    @Test
    void expiresAtItsDeadlineNotBefore() {
        Deadlines<Named> heap = new Deadlines<>();
        Named entry = new Named(1);
        heap.add(entry, Long.MIN_VALUE + 3);

        assertThat(heap.pollExpired(Long.MAX_VALUE)).isNull();
        assertThat(heap.pollExpired(Long.MIN_VALUE + 2)).isNull();
        assertThat(heap.pollExpired(Long.MIN_VALUE + 3)).isSameAs(entry);
        assertThat(heap.pollExpired(Long.MIN_VALUE + 3)).isNull();
    }

    @Test
    void refusesAnEntryThatWaitsAndOneOfAnotherHeap() {
        Deadlines<Named> one = new Deadlines<>();
        Deadlines<Named> other = new Deadlines<>();
        Named entry = new Named(1);
        one.add(entry, 5);
        other.add(new Named(2), 5);

        assertThatThrownBy(() -> other.add(entry, 6)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> other.remove(entry)).isInstanceOf(IllegalArgumentException.class);
        assertThat(one.remove(entry)).isTrue();
        assertThat(other.size()).isEqualTo(1);
    }

    @Test
    void keepsNoReferenceToWhatWasTakenOut() {
        Deadlines<Named> heap = new Deadlines<>();
        List<Named> entries = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Named entry = new Named(i);
            entries.add(entry);
            heap.add(entry, -i);
        }
        entries.forEach(heap::remove);

        assertThat(heap)
                .extracting("heap")
                .asInstanceOf(InstanceOfAssertFactories.ARRAY)
                .containsOnlyNulls();
    }
}
