// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Is shown each message that is sent or received, with its transport header first. A null reference stands for none. */
@FunctionalInterface
public interface WireListener {

    /**
     * A message is about to be posted, or was received. Called inside the connection's monitor: be quick, do not block, do not keep the
     * memory. One that throws is shown nothing any more.
     *
     * @param connectionId the connection, as in the events
     * @param message where the message lies
     * @param offset where it begins there
     * @param length its length in bytes; what arrived, well-formed or not
     */
    void onMessage(Direction direction, long connectionId, MemorySegment message, long offset, int length);

    /** One that may throw made one that does not, for those who call it; null if there is none. */
    static @Nullable WireListener guarded(@Nullable WireListener listener) {
        return listener == null ? null : new GuardedWireListener(listener);
    }

    /**
     * A listener that writes each header as a line, with an indented line for each segment; never throws, whatever comes, and writes a
     * bounded text for each message, in one piece. May be used for several connections.
     */
    static WireListener printing(Appendable target) {
        return new HeaderPrinter(target);
    }
}
