// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.ReverseCall;

/** RFC 8167: calls of a raw server to our client. */
class ReverseDirectionTest {

    private static final int XID = 0x55aa0010;

    /** The vector: CB_NULL of program 0x40000000, 2 credits. */
    private static final Words REVERSE_NULL = Words.hex("55aa0010 00000001 00000002 00000000 00000000 00000000 00000000"
            + "55aa0010 00000000 00000002 40000000 00000001 00000000 00000000 00000000 00000000 00000000");

    private static final List<Words> CHUNKS = List.of(
            new Words().readSegment(40, new Segment(1, 64, 0)).end().end().end(),
            new Words().end().chunk(new Segment(1, 64, 0)).end().end(),
            new Words().end().end().chunk(new Segment(1, 64, 0)));

    private static RawResponder responder(Rig rig) {
        return new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA).onMessage((connection, message) -> {
            if (RawReplies.procedureOf(message) == Toy.NULL && message.rpc().word(1) == 0) {
                connection.send(RawReplies.plain(message, CREDITS));
            }
        });
    }

    private static ClientUnderTest serving(Rig rig, RawResponder responder, List<ReverseCall> seen) {
        return ClientUnderTest.start(
                rig,
                responder,
                builder -> builder.reverseHandler(
                        call -> {
                            seen.add(call);
                            call.reply(MemorySegment.ofArray(
                                    Words.reply(call.xid(), 0).toBytes()));
                        },
                        2));
    }

    @ParameterizedTest
    @EnumSource
    void aReverseCallIsServedUnderItsOwnXidAlsoIfACallOfOursHasTheSame(Network network) {
        List<ReverseCall> seen = new CopyOnWriteArrayList<>();
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = serving(rig, responder, seen)) {
            client.works();
            // Ours of the same XID is out meanwhile.
            ClientUnderTest.Call ours = client.send(XID, Toy.HOLD);
            rig.await("our call arrives", () -> responder.messageCount() == 2);
            RawConnection server = responder.connection();
            server.send(REVERSE_NULL);
            rig.await("the reverse reply comes", () -> responder.messageCount() == 3);
            RawMessage reply = server.message(2);
            assertThat(reply.credits()).as("grant").isBetween(1, 2);
            assertThat(Words.format(reply.bytes()))
                    .isEqualTo(Words.inline(XID, reply.credits())
                            .add(Words.reply(XID, 0))
                            .toString());
            assertThat(ours.isDone()).isFalse();
            server.send(Words.inline(XID, CREDITS).add(Words.reply(XID, 0)));
            client.awaitSuccess(ours);
            assertThat(seen).hasSize(1);
            client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReverseCallWithChunksIsAnsweredWithErrChunk(Network network) {
        List<ReverseCall> seen = new CopyOnWriteArrayList<>();
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = serving(rig, responder, seen)) {
            client.works();
            RawConnection server = responder.connection();
            for (Words lists : CHUNKS) {
                int before = server.messageCount();
                server.send(Words.header(XID, 1, 2, Words.RDMA_MSG).add(lists).add(Words.call(XID, 0x4000_0000, 1, 0)));
                rig.await("the client answers", () -> server.messageCount() > before);
                RawMessage error = server.message(before);
                assertThat(error.isErrorChunk()).as("%s", error).isTrue();
                assertThat(error.xid()).isEqualTo(XID);
                assertThat(error.version()).isEqualTo(1);
            }
            assertThat(seen).isEmpty();
            client.works();
            assertThat(responder.connectionCount()).isEqualTo(1);
            client.finish();
        }
    }

    /** 3, 15, 27, 31 and 35 bytes of a reverse call: nothing behind them is looked at. */
    @ParameterizedTest
    @EnumSource
    void aReverseCallThatIsCutIsDropped(Network network) {
        for (boolean enabled : new boolean[] {false, true}) {
            List<ReverseCall> seen = new CopyOnWriteArrayList<>();
            try (Rig rig = network.open();
                    RawResponder responder = responder(rig);
                    ClientUnderTest client =
                            enabled ? serving(rig, responder, seen) : ClientUnderTest.start(rig, responder)) {
                client.works();
                RawConnection server = responder.connection();
                for (int length : new int[] {3, 15, 27, 28, 31, 32, 35}) {
                    // Receive buffers that once held a whole one.
                    for (int i = 0; i < 3; i++) {
                        client.works();
                    }
                    int before = server.messageCount();
                    server.send(REVERSE_NULL.cut(length));
                    rig.settle();
                    assertThat(server.messageCount()).as("%d bytes", length).isEqualTo(before);
                }
                assertThat(seen).isEmpty();
                client.works();
                assertThat(responder.connectionCount()).isEqualTo(1);
                client.finish();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatServesNoReverseCallsIsNotHarmedByThem(Network network) {
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = ClientUnderTest.start(rig, responder)) {
            client.works();
            ClientUnderTest.Call ours = client.send(XID, Toy.HOLD);
            rig.await("our call arrives", () -> responder.messageCount() == 2);
            RawConnection server = responder.connection();
            server.send(REVERSE_NULL);
            rig.settle();
            assertThat(ours.isDone())
                    .as("a call is no reply to ours of the same XID")
                    .isFalse();
            server.send(Words.inline(XID, CREDITS).add(Words.reply(XID, 0)));
            client.awaitSuccess(ours);
            client.works();
            client.finish();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUnknownDirectionIsNeverTakenForAReply(Network network) {
        List<ReverseCall> seen = new CopyOnWriteArrayList<>();
        try (Rig rig = network.open();
                RawResponder responder = responder(rig);
                ClientUnderTest client = serving(rig, responder, seen)) {
            client.works();
            ClientUnderTest.Call ours = client.send(XID, Toy.HOLD);
            rig.await("our call arrives", () -> responder.messageCount() == 2);
            RawConnection server = responder.connection();
            for (int direction : new int[] {2, 0x0100_0000, 0xffff_ffff}) {
                server.send(Words.inline(XID, CREDITS).u32(XID, direction, 0, 0, 0, 0));
                rig.settle();
                assertThat(ours.isSuccess()).isFalse();
            }
            server.send(Words.inline(XID, CREDITS).add(Words.reply(XID, 0)));
            client.await(ours);
            assertThat(seen).isEmpty();
            client.works();
            client.finish();
        }
    }
}
