// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.util.Objects;

/**
 * What a queue pair is created with. libibverbs: {@code struct ibv_qp_init_attr}.
 *
 * @param sendCompletions where the send queue reports
 * @param receiveCompletions where the receive queue reports; may be the same
 * @param sendDepth most outstanding work requests of the send queue
 * @param receiveDepth most outstanding Receives
 * @param maxSges most scatter/gather entries of one work request
 */
public record QueuePairOptions(
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        int sendDepth,
        int receiveDepth,
        int maxSges) {

    public QueuePairOptions {
        Objects.requireNonNull(sendCompletions, "sendCompletions");
        Objects.requireNonNull(receiveCompletions, "receiveCompletions");
        if (sendDepth < 1 || receiveDepth < 1 || maxSges < 1) {
            throw new IllegalArgumentException("sendDepth " + sendDepth + ", receiveDepth " + receiveDepth
                    + ", maxSges " + maxSges + ": each must be at least 1");
        }
    }
}
