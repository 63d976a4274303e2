// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

/** What a slot keeps from one call to the next. */
class RequestSlotTest {

    /** A slot of some connection. */
    private static RequestSlot slot(ServerFixture fixture, HeldRequests held) {
        RawConnection client = fixture.connect();
        client.send(ServerFixture.nullCall(1));
        fixture.await("the call is there", () -> held.size() == 1);
        ServerRequest request = held.take();
        HeldRequests.answer(request);
        fixture.await("the reply is there", () -> client.messageCount() == 1);
        return request.slot();
    }

    /** The thread that posts a chain may not have left the post when the reply's completion frees the slot for the next call. */
    @Test
    void twoRepliesInTurnHaveWorkRequestsOfTheirOwn() {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = new ServerFixture(Network.SIMULATION.open(), ServerOptions.DEFAULT, held)) {
            RequestSlot slot = slot(fixture, held);
            List<SendQueueRequest> chain = slot.chain;
            SendRequest send = slot.send;
            RdmaWriteRequest write = slot.nextWrite();
            chain.add(write);
            chain.add(send);
            slot.nextUse();
            slot.resetReply();
            assertThat(slot.chain()).isNotSameAs(chain).isEmpty();
            assertThat(chain).containsExactly(write, send);
            assertThat(slot.send).isNotSameAs(send);
            assertThat(slot.nextWrite()).isNotSameAs(write);
            slot.nextUse();
            slot.resetReply();
            assertThat(slot.chain()).isSameAs(chain).isEmpty();
            assertThat(slot.send).isSameAs(send);
            assertThat(slot.nextWrite()).isSameAs(write);
        }
    }

    /** An error that takes the place of a reply is of the same use: it must not take the requests of the reply before. */
    @Test
    void anErrorAfterAReplyThatWasNotPostedStaysWithItsUse() {
        HeldRequests held = new HeldRequests();
        try (ServerFixture fixture = new ServerFixture(Network.SIMULATION.open(), ServerOptions.DEFAULT, held)) {
            RequestSlot slot = slot(fixture, held);
            slot.resetReply();
            List<? extends SendQueueRequest> before = slot.chain();
            slot.nextUse();
            slot.resetReply();
            slot.resetReply();
            assertThat(slot.chain()).isNotSameAs(before);
        }
    }
}
