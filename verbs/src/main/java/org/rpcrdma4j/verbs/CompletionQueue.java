// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * Collects completions of one or more queues of queue pairs.
 *
 * <p>It cannot overflow: a queue pair is refused at creation if the depths of all queues that report here exceed the capacity.
 *
 * <p>Without a stranded entry, a consumer goes: poll until empty, {@link #requestNotify}, poll once more, then wait for the handler.
 *
 * <p>libibverbs: {@code ibv_create_cq}, {@code ibv_poll_cq}, {@code ibv_req_notify_cq}; the handler stands for the completion
 * channel.
 */
public interface CompletionQueue extends AutoCloseable {

    /** Which entries wake the handler. */
    enum Notify {
        /** The next entry. */
        ANY,
        /** The next Receive of a message sent as solicited event, or the next entry that is not a success. */
        SOLICITED
    }

    /** Most entries. */
    int capacity();

    /**
     * Takes the oldest entries.
     *
     * @param into filled from index 0; its elements must not be null
     * @return how many were filled, 0 if the queue is empty
     */
    int poll(WorkCompletion[] into);

    /**
     * Arms the handler for one call: it is called after the next entry of the kind that arrives <i>after</i> this. Arming for
     * ANY outlives arming for SOLICITED, not the reverse.
     */
    void requestNotify(Notify kind);

    /**
     * Gives the queue back; the handler is not called any more.
     *
     * @throws IllegalStateException if a queue pair still reports to it
     */
    @Override
    void close();
}
