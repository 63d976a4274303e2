// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.contract;

import java.util.Map;
import org.rpcrdma4j.testkit.contract.DeviceContract;
import org.rpcrdma4j.testkit.contract.DeviceUnderTest;
import org.rpcrdma4j.testkit.contract.PolledDevices;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The contract of the verbs on the software iWARP device, as it is opened by default. */
class IwarpContractTest extends DeviceContract {
    @Override
    protected DeviceUnderTest open() {
        return new PolledDevices(
                RdmaDevices.open("iwarp", Map.of("name", "client")),
                RdmaDevices.open("iwarp", Map.of("name", "server")));
    }
}
