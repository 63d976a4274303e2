// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.rpcrdma4j.verbs.RdmaDevice;

/** Finds the providers that this process can see. */
public final class RdmaDevices {

    private RdmaDevices() {}

    /** All providers, available or not. */
    public static List<RdmaProvider> providers() {
        List<RdmaProvider> found = new ArrayList<>();
        ServiceLoader.load(RdmaProvider.class).forEach(found::add);
        return found;
    }

    /**
     * Opens a device of the named provider.
     *
     * @throws IllegalArgumentException if there is no such provider, or a setting is wrong
     * @throws IllegalStateException if the provider is not available here
     */
    public static RdmaDevice open(String provider, Map<String, String> settings) {
        for (RdmaProvider candidate : providers()) {
            if (candidate.name().equals(provider)) {
                return candidate.open(settings);
            }
        }
        throw new IllegalArgumentException("no RDMA provider named " + provider + "; there are: "
                + providers().stream().map(RdmaProvider::name).collect(Collectors.joining(", ", "[", "]")));
    }
}
