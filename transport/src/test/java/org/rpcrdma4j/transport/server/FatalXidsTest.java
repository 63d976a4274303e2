// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.WorkCompletion;

/** RFC 8166, Section 4.5.3: a call that broke its connection is known when it comes again. */
class FatalXidsTest {

    private final FatalXids xids = new FatalXids(3, 1000);

    private static InetSocketAddress client(int host, int port) {
        return new InetSocketAddress("127.0.0." + host, port);
    }

    @Test
    void knowsACallByHostAndXidOnce() {
        xids.add(client(1, 1000), 7, 0);
        assertThat(xids.take(client(2, 1000), 7, 1)).isFalse();
        assertThat(xids.take(client(1, 1000), 8, 1)).isFalse();
        assertThat(xids.take(client(1, 2000), 7, 1)).isTrue();
        assertThat(xids.take(client(1, 2000), 7, 1)).isFalse();
    }

    @Test
    void forgetsTheOldestBeyondItsBoundAndAllAfterTheirTime() {
        for (int xid = 0; xid < 4; xid++) {
            xids.add(client(1, 1), xid, xid);
        }
        assertThat(xids.take(client(1, 1), 0, 4)).isFalse();
        assertThat(xids.take(client(1, 1), 1, 4)).isTrue();
        assertThat(xids.take(client(1, 1), 2, 1003)).isFalse();
        assertThat(xids.take(client(1, 1), 3, 1003)).isTrue();
    }

    @Test
    void blamesACallForWhatThePeerRefusedNotForALostConnection() {
        assertThat(FatalXids.blames(WorkCompletion.Status.REMOTE_ACCESS_ERROR)).isTrue();
        assertThat(FatalXids.blames(WorkCompletion.Status.FLUSHED)).isFalse();
        assertThat(FatalXids.blames(WorkCompletion.Status.GENERAL_ERROR)).isFalse();
    }
}
