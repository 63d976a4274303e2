// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.TransportException.Kind;

/** The memory of a client's calls: which kinds are taken, and that nobody shuts that of another call. */
class ClientMemoryTest {

    @ParameterizedTest
    @EnumSource
    void aHandleOfAnotherCallThatIsInvalidatedEndsTheConnection(Network network) {
        try (Rig rig = network.open();
                Arena arena = Arena.ofShared();
                RawResponder responder = new RawResponder(rig).privateData("f6ab0e18 01010303");
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> connection.send(RawReplies.plain(call, CREDITS)));
            client.works();
            responder.onMessage((connection, call) -> {});
            MemorySegment target = arena.allocate(20_000, 4096);
            List<ClientUnderTest.Call> calls = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                MemorySegment part = target.asSlice(10_000L * i, 8000);
                calls.add(client.send(ClientUnderTest.message(
                        Toy.call(client.newXid(), Toy.FETCH).u32(1, 8000),
                        builder -> builder.target(part).maxReplyBytes(200))));
            }
            rig.await("both calls arrive", () -> responder.messageCount() == 3);
            RawConnection server = responder.connection();
            RawMessage one = server.message(1);
            RawMessage two = server.message(2);
            responder.onMessage((connection, call) -> connection.send(RawReplies.withoutResults(call, CREDITS)));
            server.sendInvalidating(
                    two.writeList().getFirst().getFirst().handle(),
                    RawReplies.withoutResults(one, CREDITS).toBytes());
            rig.await("the connection is given up", server::hasEnded);
            calls.forEach(client::await);
            for (ClientUnderTest.Call call : calls) {
                assertThat(call.isSuccess() || call.kind() == Kind.BAD_REPLY || call.kind() == Kind.CONNECTION_LOST)
                        .as("%s", call)
                        .isTrue();
            }
            client.finish();
        }
    }

    /** Heap memory is copied, pieces of no length left out; what cannot be registered is refused before anything is on the wire. */
    @ParameterizedTest
    @EnumSource
    void memoryOfAnyKindIsCarriedOrRefusedBeforeAnythingIsSent(Network network) {
        try (Rig rig = network.open();
                Arena shared = Arena.ofShared();
                Arena confined = Arena.ofConfined();
                RawResponder responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            responder.onMessage((connection, call) -> connection.send(RawReplies.withoutResults(call, CREDITS)));
            client.works();
            byte[] item = Toy.pattern(4, 9000);
            MemorySegment freed;
            try (Arena brief = Arena.ofShared()) {
                freed = brief.allocate(9000);
            }
            for (MemorySegment memory : List.of(
                    MemorySegment.ofArray(item),
                    Toy.memory(shared, item),
                    Toy.memory(shared, item).asReadOnly(),
                    Toy.memory(confined, item),
                    freed)) {
                for (boolean asTarget : new boolean[] {false, true}) {
                    int before = responder.messageCount();
                    ClientUnderTest.Call call;
                    try {
                        call = client.await(client.send(ClientUnderTest.message(
                                Toy.call(client.newXid(), Toy.STORE).u32(1, 1, asTarget ? 0 : 9000), builder -> {
                                    if (asTarget) {
                                        builder.target(memory).maxReplyBytes(100);
                                    } else {
                                        builder.item(memory);
                                    }
                                })));
                    } catch (IllegalArgumentException | IllegalStateException | UnsupportedOperationException refused) {
                        assertThat(responder.messageCount()).isEqualTo(before);
                        continue;
                    }
                    if (call.isSuccess()) {
                        assertThat(memory.scope().isAlive()).isTrue();
                        assertThat(responder.connection().messages().getLast().readList().stream()
                                        .map(entry -> entry.segment().handle()))
                                .doesNotContain(0, -1);
                    } else {
                        assertThat(call.kind()).isEqualTo(Kind.REGISTRATION_FAILED);
                        assertThat(responder.messageCount()).isEqualTo(before);
                    }
                }
            }
            client.works();
            assertThat(responder.connectionCount()).isEqualTo(1);
            client.finish();
        }
    }
}
