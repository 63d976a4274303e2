// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** What is wrong with a received message. */
public enum BadMessage {
    /** Shorter than its header must be. */
    SHORT(ClientCounter.BAD_REPLIES_SHORT, ServerCounter.BAD_CALLS_SHORT),
    /** Not version 1. */
    VERSION(ClientCounter.BAD_REPLIES_VERSION, ServerCounter.BAD_CALLS_VERSION),
    /** An unknown procedure, or one that the receiver does not take. */
    PROCEDURE(ClientCounter.BAD_REPLIES_PROCEDURE, ServerCounter.BAD_CALLS_PROCEDURE),
    /** A known procedure that is to be ignored, such as RDMA_DONE. */
    DROPPED(ClientCounter.BAD_REPLIES_PROCEDURE, ServerCounter.BAD_CALLS_DROPPED),
    /** Chunk lists that cannot be read, are beyond the limits, leave no room for a reply, or are not those that were offered. */
    CHUNKS(ClientCounter.BAD_REPLIES_CHUNKS, ServerCounter.BAD_CALLS_CHUNKS),
    /** An RPC message that does not fit the header. */
    MESSAGE(ClientCounter.BAD_REPLIES_MESSAGE, ServerCounter.BAD_CALLS_MESSAGE);

    private final ClientCounter clientCounter;
    private final ServerCounter serverCounter;

    BadMessage(ClientCounter clientCounter, ServerCounter serverCounter) {
        this.clientCounter = clientCounter;
        this.serverCounter = serverCounter;
    }

    /** Counts it at a client, and in the sum. */
    public void count(Counters<ClientCounter> counters) {
        counters.increment(clientCounter);
        counters.increment(ClientCounter.BAD_REPLIES);
    }

    /** Counts it at a server, and in the sum. */
    public void countAtServer(Counters<ServerCounter> counters) {
        counters.increment(serverCounter);
        counters.increment(ServerCounter.BAD_CALLS);
    }
}
