// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.rpcrdma4j.testkit.contract.DeviceContract;
import org.rpcrdma4j.testkit.contract.DeviceUnderTest;

/** A device that merges adjacent pieces and has room for few of anything. */
class SimulatedMergingContractTest extends DeviceContract {

    @Override
    protected DeviceUnderTest open() {
        return new SimulationUnderTest(
                3, SimulationOptions.DEFAULT.withMergedPieces(true).withLimits(4, 1, 64, 64));
    }
}
