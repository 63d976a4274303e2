// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

/**
 * Why a connection did not come about.
 *
 * @param reason the kind
 * @param detail in words: what was expected and what was found
 * @param privateData what the peer sent with its rejection; empty otherwise
 * @param peerInboundReads with a rejection: the peer's IRD; else 0
 * @param peerOutboundReads with a rejection: the reads that the peer needs; else 0
 */
public record ConnectRefusal(
        Reason reason, String detail, Octets privateData, int peerInboundReads, int peerOutboundReads) {

    /** Kinds of refusal. */
    public enum Reason {
        /** The peer's program said no. */
        REJECTED,
        /** No way to the address, or nobody listens there. */
        UNREACHABLE,
        /** No complete answer in time. */
        TIMED_OUT,
        /** The peer ended the connection before it was set up. */
        CLOSED_BY_PEER,
        /** The peer's answer breaks the protocol, or asks for what this device does not do. */
        PROTOCOL_ERROR,
        /** Our side gave up: closed, or short of resources. */
        LOCAL
    }

    /** A refusal without word from the peer's program. */
    public ConnectRefusal(Reason reason, String detail) {
        this(reason, detail, Octets.EMPTY, 0, 0);
    }
}
