// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;

/**
 * Shows messages to a program's listener for as long as that does not throw. What it throws would come up in the middle of a change of
 * state: it is logged once, and the listener is left alone from then on.
 */
final class GuardedWireListener implements WireListener {

    private static final System.Logger LOG = System.getLogger(WireListener.class.getName());

    private final WireListener listener;
    private volatile boolean failed;

    GuardedWireListener(WireListener listener) {
        this.listener = listener;
    }

    @Override
    public void onMessage(Direction direction, long connectionId, MemorySegment message, long offset, int length) {
        if (failed) {
            return;
        }
        try {
            listener.onMessage(direction, connectionId, message, offset, length);
        } catch (RuntimeException | Error e) {
            failed = true;
            LOG.log(Level.WARNING, "a wire listener failed and is shown nothing any more", e);
        }
    }
}
