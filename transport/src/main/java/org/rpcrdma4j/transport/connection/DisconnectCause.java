// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import org.rpcrdma4j.verbs.cm.Disconnect;

/** Why a connection ends. The first cause found is the one that is told. */
public enum DisconnectCause {
    /** Our program closed it. */
    LOCAL_CLOSE,
    /** Nothing went over it for the configured time. */
    IDLE,
    /** The peer closed it in order. */
    REMOTE_CLOSE,
    /** The peer's device found an error and said so. */
    REMOTE_ERROR,
    /** Our device found an error of the peer. */
    LOCAL_ERROR,
    /** It broke without a word. */
    CONNECTION_LOST,
    /** The peer broke the RPC-over-RDMA protocol. */
    PROTOCOL_VIOLATION,
    /** A work request failed, or could not be posted. */
    WORK_REQUEST_FAILED,
    /** The peer did not answer in time. */
    TIMED_OUT,
    /** Memory could not be shut to the peer in any other way. */
    FENCE;

    /** What the device said. */
    static DisconnectCause of(Disconnect disconnect) {
        return switch (disconnect.cause()) {
            case LOCAL_CLOSE -> LOCAL_CLOSE;
            case REMOTE_CLOSE -> REMOTE_CLOSE;
            case LOCAL_ERROR -> LOCAL_ERROR;
            case REMOTE_ERROR -> REMOTE_ERROR;
            case CONNECTION_LOST -> CONNECTION_LOST;
        };
    }
}
