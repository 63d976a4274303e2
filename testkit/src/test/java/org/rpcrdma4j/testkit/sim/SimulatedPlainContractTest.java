// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.rpcrdma4j.testkit.contract.DeviceContract;
import org.rpcrdma4j.testkit.contract.DeviceUnderTest;

/** A device without fast registration. */
class SimulatedPlainContractTest extends DeviceContract {

    @Override
    protected DeviceUnderTest open() {
        return new SimulationUnderTest(
                5, SimulationOptions.DEFAULT.withFastRegistration(0, true, true).withLimits(16, 4, 4096, 8192));
    }
}
