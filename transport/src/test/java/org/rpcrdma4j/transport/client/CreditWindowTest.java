// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** How many calls may be out. */
class CreditWindowTest {

    private static int room(CreditWindow window) {
        int taken = 0;
        while (window.isOpen()) {
            window.take();
            taken++;
        }
        return taken;
    }

    @Test
    void beginsWithOneCredit() {
        assertThat(room(new CreditWindow(64))).isEqualTo(1);
    }

    @Test
    void allowsTheSmallerOfRequestAndGrant() {
        CreditWindow window = new CreditWindow(8);
        window.grant(5);
        assertThat(room(window)).isEqualTo(5);
        window.grant(100);
        assertThat(room(window)).isEqualTo(3);
    }

    @Test
    void takesGrantsAsUnsignedAndZeroAsOne() {
        CreditWindow window = new CreditWindow(8);
        window.grant(-1);
        assertThat(window.limit()).isEqualTo(8);
        window.grant(Integer.MIN_VALUE);
        assertThat(window.limit()).isEqualTo(8);
        window.grant(0);
        assertThat(window.limit()).isEqualTo(1);
    }

    @Test
    void waitsForRepliesWhenTheGrantFalls() {
        CreditWindow window = new CreditWindow(8);
        window.grant(4);
        assertThat(room(window)).isEqualTo(4);
        window.grant(2);
        window.giveBack(false);
        window.giveBack(false);
        assertThat(window.isOpen()).isFalse();
        window.giveBack(false);
        assertThat(room(window)).isEqualTo(1);
    }

    @Test
    void knowsHowManyOfTheCallsThatHoldCreditsWereGivenUp() {
        CreditWindow window = new CreditWindow(8);
        window.grant(8);
        assertThat(room(window)).isEqualTo(8);
        window.loseCaller();
        window.loseCaller();
        assertThat(window.withoutCaller()).isEqualTo(2);
        window.giveBack(false);
        assertThat(window.withoutCaller()).isEqualTo(2);
        window.giveBack(true);
        assertThat(window.withoutCaller()).isEqualTo(1);
        assertThat(window.unanswered()).isEqualTo(6);
        window.giveBack(true);
        assertThatThrownBy(() -> window.giveBack(true)).isInstanceOf(IllegalStateException.class);
        for (int i = 0; i < 5; i++) {
            window.loseCaller();
        }
        assertThatThrownBy(window::loseCaller).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void refusesWhatCannotBe() {
        CreditWindow window = new CreditWindow(8);
        assertThatThrownBy(() -> window.giveBack(false)).isInstanceOf(IllegalStateException.class);
        window.take();
        assertThatThrownBy(window::take).isInstanceOf(IllegalStateException.class);
        assertThat(window).hasToString("1 of 1 credits taken, 8 requested");
    }
}
