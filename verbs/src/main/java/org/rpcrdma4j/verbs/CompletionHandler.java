// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/** Told that an armed completion queue has an entry. */
@FunctionalInterface
public interface CompletionHandler {

    /**
     * Called on a thread of the device, with no lock held, once for each {@link CompletionQueue#requestNotify}. May poll, arm and
     * post; must not block. An exception is logged and counted, nothing else.
     */
    void onCompletion(CompletionQueue queue);
}
