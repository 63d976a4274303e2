// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

/** Takes the records of one connection. Methods are called one after the other. */
public interface RecordHandler {

    /**
     * A record is there. Called on the thread that reads the connection: as long as it blocks, nothing more is read. The record is ended
     * exactly once, now or later, from any thread, by {@link InboundRecord#reply} or {@link InboundRecord#drop}. A RuntimeException ends the
     * connection.
     */
    void onRecord(InboundRecord record);

    /** The connection has ended, and no record comes any more. Replies to records that came before go nowhere. Must not block. */
    default void onClosed() {}
}
