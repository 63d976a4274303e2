// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import org.rpcrdma4j.testkit.sim.SimulationOptions;

/** The networks that a test runs on, as a source of parameters. */
public enum Network {
    /** Deterministic, on virtual time. */
    SIMULATION {
        @Override
        public Rig open() {
            return new SimulatedRig(
                    Long.getLong("rpcrdma.seed", 1), SimulationOptions.DEFAULT, SimulationOptions.DEFAULT);
        }
    },
    /** The software iWARP device over loopback sockets. */
    IWARP {
        @Override
        public Rig open() {
            return new IwarpRig();
        }
    };

    /** A fresh network. */
    public abstract Rig open();
}
