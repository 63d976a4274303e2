// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.TerminateError;

/**
 * How a set-up with well-formed frames ended. Malformed frames end it with an exception instead.
 *
 * <p>RFC 6581, Section 9.1: each outcome carries the peer's IRD and ORD as the peer stated them, for the ULP;
 * {@link #NOT_STATED} when its frame had no control words, {@link EnhancedSetup#NO_NEGOTIATION} when it left them open.
 */
public sealed interface MpaOutcome {
    /** The peer's frame had no control words. */
    int NOT_STATED = -1;

    int peerIrd();

    int peerOrd();

    /** The ULP's part of the peer's private data; the array belongs to the caller. */
    byte[] privateData();

    /**
     * Full operation: everything behind the start-up frames is FPDUs.
     *
     * @param revision the MPA revision both frames carry
     * @param crc both directions use CRCs
     * @param ird Reads this side serves at a time
     * @param ord Reads this side may have outstanding
     * @param rtr initiator: the RTR it must send before anything else; responder: the RTR it named, but any valid
     *     first FPDU will do; null in the client-server model
     */
    @SuppressWarnings("ArrayRecordComponent") // copied on the way in and out; identity is all that is compared
    record Established(
            int revision,
            boolean crc,
            int ird,
            int ord,
            int peerIrd,
            int peerOrd,
            byte[] privateData,
            @Nullable Rtr rtr)
            implements MpaOutcome {
        public Established {
            privateData = privateData.clone();
        }

        @Override
        public byte[] privateData() {
            return privateData.clone();
        }
    }

    /** The responder's ULP said no (R=1). MPA is over; the connection is to be closed. */
    @SuppressWarnings("ArrayRecordComponent") // as above
    record Rejected(int peerIrd, int peerOrd, byte[] privateData) implements MpaOutcome {
        public Rejected {
            privateData = privateData.clone();
        }

        @Override
        public byte[] privateData() {
            return privateData.clone();
        }
    }

    /**
     * The Reply is well-formed but this initiator cannot live with it.
     *
     * @param terminate the error to send in a Terminate before the close; null: only close
     * @param reason what was expected and what was found
     */
    @SuppressWarnings("ArrayRecordComponent") // as above
    record Refused(@Nullable TerminateError terminate, String reason, int peerIrd, int peerOrd, byte[] privateData)
            implements MpaOutcome {
        public Refused {
            privateData = privateData.clone();
        }

        @Override
        public byte[] privateData() {
            return privateData.clone();
        }
    }
}
