// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class StatisticsTest {
    @Test
    void theMedianOfAnOddNumberIsTheMiddleOne() {
        assertThat(Statistics.median(9, 1, 5)).isEqualTo(5);
    }

    @Test
    void theMedianOfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle() {
        assertThat(Statistics.median(4, 1, 2, 9)).isEqualTo(3);
    }

    @Test
    void aQuantileIsAValueThatWasMeasured() {
        long[] values = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
        assertThat(Statistics.quantile(0, values)).isEqualTo(10);
        assertThat(Statistics.quantile(0.5, values)).isEqualTo(50);
        assertThat(Statistics.quantile(0.99, values)).isEqualTo(100);
        assertThat(Statistics.quantile(1, values)).isEqualTo(100);
    }

    @Test
    void theInputKeepsItsOrder() {
        long[] values = {3, 1, 2};
        Statistics.quantile(0.5, values);
        assertThat(values).containsExactly(3, 1, 2);
    }

    @Test
    void nothingHasNoMedian() {
        assertThatIllegalArgumentException().isThrownBy(Statistics::median);
        assertThatIllegalArgumentException().isThrownBy(() -> Statistics.quantile(2, 1));
    }

    @Test
    void aGateHoldsByItsMedian() {
        assertThat(Gate.atLeast(0.85, "x", "a", new double[] {0.1, 0.9, 2}, "").holds())
                .isTrue();
        assertThat(Gate.atMost(0.85, "x", "a", new double[] {0.1, 0.9, 2}, "").holds())
                .isFalse();
        assertThat(Gate.figure("x", "a", new double[] {1}, "").isBounded()).isFalse();
    }
}
