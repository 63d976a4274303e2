// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.util.Map;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;
import picocli.CommandLine.Option;

/** Which device to use. */
final class DeviceOption {
    private static final String SOFTWARE = "iwarp";

    @Option(
            names = "--device",
            paramLabel = "PROVIDER",
            defaultValue = SOFTWARE,
            description = "Provider to use, one of those that 'devices' lists (default: ${DEFAULT-VALUE}).")
    private String provider = SOFTWARE;

    DeviceOption() {}

    /** Opens it; settings are for the software provider, since adapters have none of them. */
    RdmaDevice open(Map<String, String> settings) {
        return RdmaDevices.open(provider, provider.equals(SOFTWARE) ? settings : Map.of());
    }

    String provider() {
        return provider;
    }
}
