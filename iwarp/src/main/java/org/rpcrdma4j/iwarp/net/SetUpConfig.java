// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.time.Duration;
import java.util.Objects;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.verbs.cm.Octets;

/**
 * How connections are set up.
 *
 * @param wishes what to ask for, or as responder: what to grant
 * @param privateData for the Request; a responder gives its own with each answer
 * @param deadline initiator: from the start to the complete Reply; responder: for the complete Request, and again for
 *     writing the Reply
 * @param decision responder: how long the program may take to answer; then it is rejected
 * @param drain how long an orderly end may take; see {@link OrderlyClose}
 * @param giveUpPause initiator: how long to stay quiet behind a Reply that we refuse, as some peers cannot bear an end at
 *     that very moment
 * @param retryPlain initiator: whether to try once more with revision 1 when the peer ends the connection without an answer
 */
public record SetUpConfig(
        MpaWishes wishes,
        Octets privateData,
        Duration deadline,
        Duration decision,
        Duration drain,
        Duration giveUpPause,
        boolean retryPlain) {
    /** As Linux siw: 10 seconds. */
    public static final Duration INITIATOR_DEADLINE = Duration.ofSeconds(10);

    /** As Linux siw: 5 seconds. */
    public static final Duration RESPONDER_DEADLINE = Duration.ofSeconds(5);

    /** As good as for ever, and still a number of nanoseconds; longer durations are cut to it. */
    private static final Duration LONGEST = Duration.ofDays(10_000);

    private static final Duration DRAIN = Duration.ofSeconds(2);
    private static final Duration GIVE_UP_PAUSE = Duration.ofMillis(50);

    public SetUpConfig {
        Objects.requireNonNull(wishes, "wishes");
        Objects.requireNonNull(privateData, "privateData");
        deadline = requirePositive("deadline", deadline);
        decision = requirePositive("decision", decision);
        drain = requirePositive("drain", drain);
        if (giveUpPause.isNegative()) {
            throw new IllegalArgumentException("giveUpPause " + giveUpPause + " must not be negative");
        }
        giveUpPause = atMostLongest(giveUpPause);
    }

    /** The defaults for connecting. */
    public static SetUpConfig initiator(MpaWishes wishes, Octets privateData) {
        return new SetUpConfig(
                wishes, privateData, INITIATOR_DEADLINE, INITIATOR_DEADLINE, DRAIN, GIVE_UP_PAUSE, false);
    }

    /** The defaults for listening. */
    public static SetUpConfig responder(MpaWishes wishes) {
        return new SetUpConfig(
                wishes, Octets.EMPTY, RESPONDER_DEADLINE, RESPONDER_DEADLINE, DRAIN, GIVE_UP_PAUSE, false);
    }

    /** The same with another deadline. */
    public SetUpConfig withDeadline(Duration value) {
        return new SetUpConfig(wishes, privateData, value, decision, drain, giveUpPause, retryPlain);
    }

    /** The same with another time for the program's answer. */
    public SetUpConfig withDecision(Duration value) {
        return new SetUpConfig(wishes, privateData, deadline, value, drain, giveUpPause, retryPlain);
    }

    /** The same with another time for an orderly end. */
    public SetUpConfig withDrain(Duration value) {
        return new SetUpConfig(wishes, privateData, deadline, decision, value, giveUpPause, retryPlain);
    }

    /** The same with the second attempt on or off. */
    public SetUpConfig withRetryPlain(boolean value) {
        return new SetUpConfig(wishes, privateData, deadline, decision, drain, giveUpPause, value);
    }

    private static Duration requirePositive(String what, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(what + " " + value + " must be positive");
        }
        return atMostLongest(value);
    }

    private static Duration atMostLongest(Duration value) {
        return value.compareTo(LONGEST) > 0 ? LONGEST : value;
    }
}
