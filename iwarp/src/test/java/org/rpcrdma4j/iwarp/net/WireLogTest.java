// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WireLogTest {
    private final Counters counters = new Counters();
    private final RecordingLogger logger = new RecordingLogger();
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final WireLog log = new WireLog(logger, counters, now::get, 2);

    @Test
    void tellsWhereWhatWasExpectedAndWhatWasFound() {
        log.badInput("connection 7", "{0} or 1", "3");
        assertThat(logger.lines()).containsExactly("connection 7: expected {0} or 1, found 3");
    }

    @Test
    void leavesOutWhatIsTooMuchAndTellsHowMuch() {
        for (int i = 0; i < 5; i++) {
            log.badInput("here", "line " + i);
        }
        assertThat(logger.lines()).containsExactly("here: line 0", "here: line 1");
        assertThat(counters.value(Counter.LOG_SUPPRESSED)).isEqualTo(3);
        now.addAndGet(1_000_000_000);
        log.badInput("here", "line 5");
        log.badInput("here", "line 6");
        log.badInput("here", "line 7");
        assertThat(logger.lines())
                .containsExactly(
                        "here: line 0", "here: line 1", "here: line 5 (and 3 lines left out before)", "here: line 6");
        assertThat(counters.value(Counter.LOG_SUPPRESSED)).isEqualTo(4);
    }

    @Test
    void aSnapshotHasEveryCounterByItsName() {
        counters.increment(Counter.ACCEPTED);
        counters.add(Counter.ACCEPTED, 2);
        assertThat(counters.snapshot())
                .hasSize(Counter.values().length)
                .containsEntry("accept.sockets", 3L)
                .containsEntry("log.suppressed", 0L);
        assertThat(Arrays.stream(Counter.values()).map(Counter::publicName))
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("[a-z]+(\\.[a-z0-9_]+)+"));
    }
}
