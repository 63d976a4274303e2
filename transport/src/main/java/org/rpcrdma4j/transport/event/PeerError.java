// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** What an RDMA_ERROR says. */
public enum PeerError {
    /** ERR_VERS: the version is not supported. */
    VERSION(ClientCounter.PEER_ERRORS_VERSION),
    /** ERR_CHUNK: the chunk lists could not be used. */
    CHUNK(ClientCounter.PEER_ERRORS_CHUNK),
    /** A code that RFC 8166 does not define. */
    UNKNOWN(ClientCounter.PEER_ERRORS_UNKNOWN);

    private final ClientCounter counter;

    PeerError(ClientCounter counter) {
        this.counter = counter;
    }

    /** Counts its receipt, also among the bad replies. */
    public void count(Counters<ClientCounter> counters) {
        counters.increment(counter);
        counters.increment(ClientCounter.BAD_REPLIES);
    }
}
