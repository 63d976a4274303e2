// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import org.rpcrdma4j.verbs.ReceiveRequest;

/** A posted Receive: the device's copy. Written under the queue pair's lock while posting, then constant. */
public final class ReceiveSlot {
    private final Sges sges = new Sges();
    private long id;

    ReceiveSlot() {}

    void copy(ReceiveRequest request) {
        id = request.id();
        sges.copy(request.sges());
    }

    public long id() {
        return id;
    }

    public Sges sges() {
        return sges;
    }
}
