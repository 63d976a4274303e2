// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

/**
 * How many calls one connection may have without a reply. Used inside the monitor; ends with its connection, so grants never survive it
 * (RFC 8166, Section 3.3.3).
 */
final class CreditWindow {

    private final int requested;
    private int granted = 1;
    private int unanswered;
    private int withoutCaller;

    /** A window of 1, until the first grant. RFC 8166, Section 3.3.3: before the first valid reply there is one credit. */
    CreditWindow(int requested) {
        this.requested = requested;
    }

    /** What each call asks for. */
    int requested() {
        return requested;
    }

    /** What holds now. */
    int limit() {
        return granted;
    }

    /** Calls without reply, given up ones included: their credit does not come back before a reply does. */
    int unanswered() {
        return unanswered;
    }

    /** Of {@link #unanswered}: those that were given up. */
    int withoutCaller() {
        return withoutCaller;
    }

    /** Whether a further call may be sent. RFC 8166, Section 3.3.1: min(requested, granted) less those without reply. */
    boolean isOpen() {
        return unanswered < granted;
    }

    /** A call is sent. */
    void take() {
        if (!isOpen()) {
            throw new IllegalStateException("no credit: " + unanswered + " of " + granted + " taken");
        }
        unanswered++;
    }

    /** A call that has no reply is given up. */
    void loseCaller() {
        if (withoutCaller == unanswered) {
            throw new IllegalStateException("more calls given up than sent");
        }
        withoutCaller++;
    }

    /**
     * A call has its reply.
     *
     * @param givenUp whether it had been given up
     */
    void giveBack(boolean givenUp) {
        if (unanswered == 0 || (givenUp && withoutCaller == 0)) {
            throw new IllegalStateException("more replies than calls");
        }
        unanswered--;
        withoutCaller -= givenUp ? 1 : 0;
    }

    /**
     * A valid reply brought a grant, an unsigned number. RFC 8166, Section 3.3.1, forbids a grant of 0 and leaves open what we do with
     * one: it is taken as 1, so that calls go on; one above our request counts as the request.
     */
    void grant(int credits) {
        granted = Integer.compareUnsigned(credits, requested) > 0 ? requested : Math.max(1, credits);
    }

    @Override
    public String toString() {
        return unanswered + " of " + granted + " credits taken, " + requested + " requested";
    }
}
