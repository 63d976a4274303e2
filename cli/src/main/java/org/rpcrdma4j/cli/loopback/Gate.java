// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A bound for what was measured in several rounds; the median counts.
 *
 * @param subject what was measured, and beside what
 * @param unit of the values
 * @param atLeast whether the bound is the least value allowed, else the most
 * @param bound the bound; NaN for a figure without one
 * @param values one for each round
 * @param note absolute figures, for the reader
 */
public record Gate(String subject, String unit, boolean atLeast, double bound, List<Double> values, String note) {

    public Gate {
        values = List.copyOf(values);
    }

    static Gate atLeast(double bound, String unit, String subject, double[] values, String note) {
        return new Gate(subject, unit, true, bound, listed(values), note);
    }

    static Gate atMost(double bound, String unit, String subject, double[] values, String note) {
        return new Gate(subject, unit, false, bound, listed(values), note);
    }

    static Gate figure(String unit, String subject, double[] values, String note) {
        return new Gate(subject, unit, false, Double.NaN, listed(values), note);
    }

    private static List<Double> listed(double[] values) {
        return Arrays.stream(values).boxed().toList();
    }

    /** The value that counts. */
    public double median() {
        return Statistics.median(
                values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** The least value. */
    public double least() {
        return Collections.min(values);
    }

    /** The greatest value. */
    public double most() {
        return Collections.max(values);
    }

    /** Whether there is a bound. */
    public boolean isBounded() {
        return !Double.isNaN(bound);
    }

    /** Whether the median is within the bound. */
    public boolean holds() {
        return isBounded() && (atLeast ? median() >= bound : median() <= bound);
    }
}
