// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import org.jspecify.annotations.Nullable;

/**
 * How a call ended, on its way to the caller: set inside the monitor, told outside it. A carrier of its {@link ClientCall}, which may serve
 * the next call, and end it, while this end is still being told: {@link #isUnderWay} says so, and another carrier is taken then.
 */
final class CallEnd implements Runnable {

    private final @Nullable EligibilityCheck check;
    private volatile boolean underWay;
    private @Nullable PendingReply pending;
    private @Nullable Reply reply;
    private @Nullable TransportException failure;
    private @Nullable Landing landing;
    private @Nullable CallMessage message;

    /** A carrier; with a check, replies whose results were placed are held against their bindings. */
    CallEnd(@Nullable EligibilityCheck check) {
        this.check = check;
    }

    /** Whether an end is set that was not taken out yet. */
    boolean isUnderWay() {
        return underWay;
    }

    /** Sets it: the call ended with a reply, whose last way may lie before it, or with a failure. */
    CallEnd set(
            PendingReply newPending,
            @Nullable CallMessage newMessage,
            @Nullable Reply newReply,
            @Nullable Landing newLanding,
            @Nullable TransportException newFailure) {
        pending = newPending;
        message = newMessage;
        reply = newReply;
        landing = newLanding;
        failure = newFailure;
        underWay = true;
        return this;
    }

    /** Tells whoever waits, outside the monitor. */
    @Override
    public void run() {
        PendingReply told = pending;
        TransportException end = failure;
        Reply answer = reply;
        Landing last = landing;
        CallMessage asked = message;
        pending = null;
        failure = null;
        reply = null;
        landing = null;
        message = null;
        // ORDER: free once all is taken out, and before the caller's code runs, which may make the next call.
        underWay = false;
        if (told == null) {
            throw new IllegalStateException("no end is set");
        }
        if (end != null) {
            told.fail(end);
        } else if (answer != null && asked != null) {
            succeed(told, asked, answer, last);
        }
    }

    private void succeed(PendingReply told, CallMessage asked, Reply answer, @Nullable Landing last) {
        try {
            Reply landed = last == null ? answer : last.land(answer);
            String fault = check == null || asked.target() == null ? null : check.faultOf(asked, landed);
            if (fault == null) {
                told.succeed(landed);
            } else {
                told.fail(failure(TransportException.Kind.BAD_REPLY, landed, fault));
            }
        } catch (IllegalStateException | IllegalArgumentException | WrongThreadException e) {
            told.fail(failure(
                    TransportException.Kind.REGISTRATION_FAILED,
                    answer,
                    "the reply cannot be copied: " + e.getMessage()));
        } catch (RuntimeException | Error e) {
            // The binding is the program's own; a reply that it cannot bear must not leave its call without an end.
            told.fail(failure(TransportException.Kind.BAD_REPLY, answer, "the reply cannot be looked at: " + e));
        }
    }

    private static TransportException failure(TransportException.Kind kind, Reply answer, String detail) {
        return new TransportException(kind, true, "call 0x" + Integer.toHexString(answer.xid()) + ": " + detail);
    }
}
