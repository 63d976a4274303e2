// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.rpcrdma4j.testkit.contract.DeviceContract;
import org.rpcrdma4j.testkit.contract.DeviceUnderTest;

/** The simulated device as it is by default. */
class SimulatedContractTest extends DeviceContract {

    @Override
    protected DeviceUnderTest open() {
        return new SimulationUnderTest(1, SimulationOptions.DEFAULT);
    }
}
