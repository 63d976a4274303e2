// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.rpcrdma4j.testkit.contract.DeviceContract;
import org.rpcrdma4j.testkit.contract.DeviceUnderTest;

/** A device like an iWARP card: read sinks need remote write, few reads at a time. */
class SimulatedCardContractTest extends DeviceContract {

    @Override
    protected DeviceUnderTest open() {
        return new SimulationUnderTest(
                4, SimulationOptions.DEFAULT.withReads(16, 16, true).withFastRegistration(257, false, true));
    }
}
