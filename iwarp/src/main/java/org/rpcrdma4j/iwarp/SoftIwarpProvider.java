// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp;

import java.util.Map;
import java.util.Optional;
import org.rpcrdma4j.iwarp.device.IwarpSettings;
import org.rpcrdma4j.iwarp.device.SoftIwarpDevice;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaProvider;

/** Provides the software iWARP device; its settings are those of {@link IwarpSettings}, in words. */
public final class SoftIwarpProvider implements RdmaProvider {

    /** For {@link java.util.ServiceLoader}. */
    public SoftIwarpProvider() {}

    @Override
    public String name() {
        return "iwarp";
    }

    @Override
    public String description() {
        return "software iWARP over TCP in pure Java: works everywhere, speaks to Linux siw and to iWARP cards";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public RdmaDevice open(Map<String, String> settings) {
        return new SoftIwarpDevice(IwarpSettings.of(settings));
    }
}
