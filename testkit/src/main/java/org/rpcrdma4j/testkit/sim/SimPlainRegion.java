// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rpcrdma4j.verbs.Access;

/** Registered for as long as it lives. */
final class SimPlainRegion extends SimRegion {

    SimPlainRegion(SimProtectionDomain domain, int index, int key, MemorySegment memory, Access rights) {
        super(domain, index, key);
        pieces = new Pieces(List.of(memory));
        access = rights;
        remoteAddress = device.freeAddress(memory.byteSize());
        isValid = true;
        device.leased(pieces);
    }
}
