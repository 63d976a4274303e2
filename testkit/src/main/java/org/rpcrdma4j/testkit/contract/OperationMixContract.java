// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;

/** Random mixes of all operations on several queue pairs, compared byte by byte with what they must lead to. */
abstract class OperationMixContract extends ContractCase {

    private static final int QUEUE_PAIRS = 3;
    private static final int OPERATIONS = 40;

    @Test
    void randomMixesOfAllOperationsLeaveTheRightBytes() {
        Seeds.run(
                device.firstMixSeed(),
                device.mixSeeds(),
                seed -> new OperationMix(this, seed, QUEUE_PAIRS).run(OPERATIONS));
    }
}
