// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ErrorReport;

/** What travels between two queue pairs, in order in each direction. */
@SuppressWarnings("ArrayRecordComponent") // packets are handed on once and never compared
sealed interface Packet {

    /** A piece of a message that takes a Receive. */
    record Send(byte[] payload, long offset, boolean isLast, boolean solicited, boolean invalidates, int invalidateKey)
            implements Packet {}

    /** A piece of an RDMA Write. */
    record Write(byte[] payload, int key, long address) implements Packet {}

    /** The wish to read. */
    record ReadRequest(int key, long address, long length) implements Packet {}

    /** A piece of the answer to the oldest wish. */
    record ReadResponse(byte[] payload, long offset, boolean isLast) implements Packet {}

    /** The accepting side's answer: always its first packet. */
    record Accept(SimQueuePair from, ConnectOptions options) implements Packet {}

    /** An orderly end. */
    record Fin() implements Packet {}

    /** The connection broke. */
    record Reset() implements Packet {}

    /** An error report; {@code refusesRead} if the oldest RDMA Read of the receiver caused it. */
    record Terminate(
            ErrorReport report,
            boolean refusesRead,
            @Nullable String detail) implements Packet {}
}
