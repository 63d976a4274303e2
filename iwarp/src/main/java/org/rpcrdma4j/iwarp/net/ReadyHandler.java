// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

/** Told of the readiness of one registered channel. Called on the thread of its loop only; must not block. */
@FunctionalInterface
public interface ReadyHandler {

    /**
     * The channel is ready for some of the operations of interest. Readiness is a level: what is not taken now is reported
     * again in the next turn, as long as the interest lasts.
     *
     * @param readyOps bits of {@link java.nio.channels.SelectionKey}
     */
    void onReady(int readyOps);

    /** The loop ends; this handler will not be called again, and the loop closes the channel after this call. */
    default void onLoopClosed() {}
}
