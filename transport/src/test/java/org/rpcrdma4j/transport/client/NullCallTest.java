// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Words;

/** Calls without chunks, from connect to close. */
class NullCallTest {

    @ParameterizedTest
    @EnumSource
    void aCallArrivesByteForByteAndItsReplyComesBack(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open()).answering(32)) {
            CallMessage message = fixture.nullCall().build();
            Reply reply = fixture.reply(fixture.client.send(message));
            RawMessage call = fixture.call(1);
            assertThat(call.bytes())
                    .isEqualTo(Words.inline(message.xid(), 128)
                            .add(Words.call(message.xid(), ClientFixture.PROGRAM, 1, 0))
                            .toBytes());
            assertThat(reply.xid()).isEqualTo(message.xid());
            assertThat(ClientFixture.bytes(reply.message()))
                    .isEqualTo(Words.reply(message.xid(), 0).toBytes());
            assertThat(fixture.counter(ClientCounter.CONNECTS)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theFirstCallIsAloneUntilItsReplyThenTheGrantHolds(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            List<PendingReply> pending = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                pending.add(fixture.client.send(fixture.nullCall().build()));
            }
            fixture.call(1);
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
            ClientFixture.answer(fixture.responder.connection(), fixture.call(1).xid(), 3);
            fixture.call(4);
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount()).isEqualTo(4);
            for (int i = 2; i <= 10; i++) {
                ClientFixture.answer(
                        fixture.responder.connection(), fixture.call(i).xid(), 3);
            }
            pending.forEach(fixture::reply);
        }
    }
}
