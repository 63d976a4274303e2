// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import org.junit.jupiter.api.Test;

/** Random mixes of all operations on several queue pairs, compared byte by byte with what they must lead to. */
abstract class OperationMixContract extends ContractCase {

    private static final int QUEUE_PAIRS = 3;
    private static final int OPERATIONS = 40;

    @Test
    void randomMixesOfAllOperationsLeaveTheRightBytes() throws Exception {
        Long only = Long.getLong("rpcrdma.seed");
        long first = only == null ? device.firstMixSeed() : only;
        int seeds = only == null ? device.mixSeeds() : 1;
        for (long seed = first; seed < first + seeds; seed++) {
            try {
                new OperationMix(this, seed, QUEUE_PAIRS).run(OPERATIONS);
            } catch (AssertionError | RuntimeException failure) {
                throw new AssertionError("replay with -Drpcrdma.seed=" + seed, failure);
            }
        }
    }
}
