// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The delays between attempts to connect. */
class BackoffTest {

    @Test
    void doublesUpToTheLongest() {
        Backoff backoff = new Backoff(100, 1000);
        assertThat(new long[] {
                    backoff.next(), backoff.next(), backoff.next(), backoff.next(), backoff.next(), backoff.next()
                })
                .containsExactly(100, 200, 400, 800, 1000, 1000);
        assertThat(backoff.attempts()).isEqualTo(6);
    }

    @Test
    void beginsAnewAfterAReply() {
        Backoff backoff = new Backoff(100, 1000);
        backoff.next();
        backoff.next();
        backoff.reset();
        assertThat(backoff.next()).isEqualTo(100);
    }

    @Test
    void doesNotOverflow() {
        Backoff backoff = new Backoff(Long.MAX_VALUE / 3, Long.MAX_VALUE);
        for (int i = 0; i < 10; i++) {
            assertThat(backoff.next()).isPositive();
        }
        assertThat(new Backoff(500, 100).next()).isEqualTo(100);
    }
}
