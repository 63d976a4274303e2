// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/** What became of a post. Success is one shared object, so a successful post allocates nothing. */
public sealed interface PostResult {

    /** All of the chain was posted. */
    record Posted() implements PostResult {
        static final Posted INSTANCE = new Posted();
    }

    /**
     * The chain was posted up to, not including, the request at {@code firstBad}.
     *
     * @param firstBad index of the first request that was not posted, 0 for a single one
     * @param reason why
     * @param detail the value found and the bound, for a log line
     */
    record Refused(int firstBad, Reason reason, String detail) implements PostResult {}

    /** Why a work request was refused. */
    enum Reason {
        /** All places of the queue are taken: poll completions, then post the rest. The connection is well. */
        QUEUE_FULL,
        /** The queue pair's state does not take this request. */
        WRONG_STATE,
        /** The request can never be posted here: too many entries, no key to invalidate, too long. */
        INVALID_REQUEST,
        /** The device is short of something else. */
        NO_RESOURCES
    }

    /** The shared success. */
    static PostResult posted() {
        return Posted.INSTANCE;
    }

    /** Whether all was posted. */
    default boolean isPosted() {
        return this instanceof Posted;
    }

    /**
     * For callers that hold a free place and rule out every other reason.
     *
     * @throws IllegalStateException if anything was refused
     */
    default void orThrow() {
        if (this instanceof Refused refused) {
            throw new IllegalStateException(
                    "work request " + refused.firstBad + " refused: " + refused.reason + ", " + refused.detail);
        }
    }
}
