// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.rpcrdma4j.testkit.contract.DeviceContract;
import org.rpcrdma4j.testkit.contract.DeviceUnderTest;

/** A device like libibverbs' memory windows: no gaps, and it chooses the remote address. */
class SimulatedWindowContractTest extends DeviceContract {

    @Override
    protected DeviceUnderTest open() {
        return new SimulationUnderTest(2, SimulationOptions.DEFAULT.withFastRegistration(128, false, false));
    }
}
