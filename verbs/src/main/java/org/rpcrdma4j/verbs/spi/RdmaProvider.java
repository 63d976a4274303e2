// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.spi;

import java.util.Map;
import java.util.Optional;
import org.rpcrdma4j.verbs.RdmaDevice;

/** A kind of RDMA device, found through {@link java.util.ServiceLoader}. */
public interface RdmaProvider {

    /** The name to ask for, for example {@code iwarp}. */
    String name();

    /** One sentence on what it is. */
    String description();

    /** Empty if a device can be opened here; else one sentence on what is missing. */
    Optional<String> unavailable();

    /**
     * Opens a device.
     *
     * @param settings by name; the provider documents them and refuses unknown ones
     * @throws IllegalArgumentException if a setting is unknown or out of bounds
     * @throws IllegalStateException if the provider is not available
     */
    RdmaDevice open(Map<String, String> settings);
}
