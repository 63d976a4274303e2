// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.util.Arrays;

/** Order statistics of what was measured. */
public final class Statistics {
    private Statistics() {}

    /** The middle value; of an even number of values the mean of the two in the middle. */
    public static double median(double... values) {
        requireSome(values.length);
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The least value that is not exceeded by this share of all values. */
    public static long quantile(double share, long... values) {
        requireSome(values.length);
        if (share < 0 || share > 1) {
            throw new IllegalArgumentException("share " + share + ": must lie in 0..1");
        }
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
    }

    private static void requireSome(int count) {
        if (count == 0) {
            throw new IllegalArgumentException("no values");
        }
    }
}
