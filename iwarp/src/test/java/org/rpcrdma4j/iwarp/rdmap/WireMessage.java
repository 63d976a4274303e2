// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;

/**
 * A message that is to be seen on the wire.
 *
 * @param stag of a tagged message the target; of a Send the STag to invalidate or 0
 * @param onSent run when its last segment was seen
 * @param onDelivered run when the other end has taken it
 */
record WireMessage(
        int opcode, int stag, long to, boolean fence, ByteBuffer payload, Runnable onSent, Runnable onDelivered) {
    @Override
    public String toString() {
        return "opcode %d STag %08x TO %016x, %d bytes".formatted(opcode, stag, to, payload.remaining());
    }
}
