// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.testkit.Seeds;

class RandomMixTest {
    private static final int SEEDS = 10_000;
    private static final int MEMORY_BYTES = 12 << 10;

    private final MemorySegment memory0 = EndModel.allocate(MEMORY_BYTES);
    private final MemorySegment memory1 = EndModel.allocate(MEMORY_BYTES);

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void everyMixOfOperationsDoesWhatTheModelDoes() {
        Seeds.run(SEEDS, this::mix);
    }

    @Test
    void theSameSeedTakesTheSameCourse() {
        Seeds.run(20, seed -> assertThat(mix(seed)).isEqualTo(mix(seed)));
    }

    private long mix(long seed) {
        MixDriver driver = new MixDriver(seed, memory0, memory1, false);
        int steps = 40 + driver.random.nextInt(120);
        for (int i = 0; i < steps; i++) {
            driver.step();
        }
        driver.finish();
        for (EndModel model : driver.models) {
            assertThat(model.end.isRunning()).as(driver.pair.toString()).isTrue();
            assertThat(model.rules.isIdle()).as("all sent: " + driver.pair).isTrue();
            assertThat(model.rules.openReads()).isZero();
            assertThat(model.sends).as("unsignaled at the most").noneMatch(posted -> posted.signaled || !posted.done);
            assertThat(model.end.sends.isEmpty()).as("all complete").isTrue();
            assertThat(model.end.sends.outstanding())
                    .as("places of the send queue")
                    .isZero();
            assertThat(model.end.receives.outstanding()).isEqualTo(model.filling.size());
        }
        return driver.hash();
    }
}
