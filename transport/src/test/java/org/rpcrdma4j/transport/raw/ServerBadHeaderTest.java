// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ServerUnderTest.expect;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.verbs.Access;

/** RFC 8166, Sections 4.2 to 4.6: what our server does with headers that are wrong. */
class ServerBadHeaderTest {

    private static final Words REVERSE_NULL = Words.hex("55aa0010 00000001 00000002 00000000 00000000 00000000 00000000"
            + "55aa0010 00000000 00000002 40000000 00000001 00000000 00000000 00000000 00000000 00000000");
    private static final Segment SOME = new Segment(0x1a01, 8192, 0x0a000001_00010000L);

    private static Words nullCall(int xid, int version, int procedure) {
        return Words.header(xid, version, 8, procedure).noChunks().add(Toy.call(xid, Toy.NULL));
    }

    @ParameterizedTest
    @EnumSource
    void messagesBelow28BytesAreDroppedSilently(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            int sent = 0;
            for (Words whole :
                    List.of(REVERSE_NULL, nullCall(server.newXid(), 2, 0), nullCall(server.newXid(), 1, 4))) {
                for (int length : new int[] {0, 1, 3, 15, 16, 20, 27}) {
                    server.expectSilence(client, whole.cut(length));
                    sent++;
                    server.answersNull(client);
                }
            }
            assertThat(server.count(ServerCounter.BAD_CALLS_SHORT)).isPositive();
            assertThat(server.count(ServerCounter.BAD_CALLS)).isEqualTo(sent);
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void messagesThatAreTooShortAgainAndAgainEndTheConnection(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server =
                        ServerUnderTest.start(rig, ServerUnderTest.options().maxBadMessages(4));
                RawConnection client = server.connect()) {
            for (int i = 0; i < 4; i++) {
                client.send(REVERSE_NULL.cut(12));
            }
            server.checkEnded(client);
            assertThat(client.messageCount()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anotherVersionIsAnsweredWithErrVersWhateverTheBodyIs(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            int sent = 0;
            for (int version : new int[] {0, 2, 7, 0x7fff_ffff, 0xffff_ffff}) {
                int xid = server.newXid();
                Words nonsense = Words.header(xid, version, 8, 77).u32(9, 9, 9, 9);
                Words smallest = Words.header(xid, version, 8, 0xffff_ffff).u32(-1, -1, -1);
                for (Words call : List.of(nullCall(xid, version, 0), nonsense, smallest)) {
                    expect(server.exchange(client, call), Words.errorVersion(xid, version, 0, 1, 1));
                    sent++;
                }
                assertThat(server.toy().timesExecuted(xid)).isZero();
            }
            assertThat(server.count(ServerCounter.ERRORS_SENT_VERSION)).isEqualTo(sent);
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theErrorForAnotherVersionIsTheVectorToTheByte(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server =
                        ServerUnderTest.start(rig, ServerUnderTest.options().credits(64));
                RawConnection client = server.connect()) {
            RawMessage error = server.exchange(client, nullCall(0x7b3f1c20, 2, 0));
            assertThat(Words.format(error.bytes()))
                    .isEqualTo("7b3f1c20 00000002 00000040 00000004 00000001 00000001 00000001");
            // The Long Call of the vectors names memory that is not there, so its procedure is made a wrong one.
            Words longCall = Words.hex("0a000004 00000001 00000080 00000002 00000001 00000000 00004e31 00001000"
                    + "0a000004 00000000 00000000 00000000 00000000");
            assertThat(Words.format(server.exchange(client, longCall).bytes()))
                    .isEqualTo("0a000004 00000001 00000040 00000004 00000002");
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void rdmaDoneIsDroppedSilently(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            server.expectSilence(
                    client, Words.header(server.newXid(), 1, 8, Words.RDMA_DONE).toBytes());
            server.expectSilence(
                    client,
                    Words.header(server.newXid(), 1, 8, Words.RDMA_DONE)
                            .noChunks()
                            .toBytes());
            server.expectSilence(
                    client, nullCall(server.newXid(), 1, Words.RDMA_DONE).toBytes());
            assertThat(server.count(ServerCounter.BAD_CALLS)).isEqualTo(3);
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void rdmaErrorIsDroppedSilently(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            server.expectSilence(client, Words.errorChunk(server.newXid(), 1, 8).toBytes());
            server.expectSilence(
                    client, Words.errorVersion(server.newXid(), 1, 8, 1, 1).toBytes());
            server.expectSilence(
                    client,
                    Words.header(server.newXid(), 1, 8, Words.RDMA_ERROR)
                            .u32(3, 0, 0)
                            .toBytes());
            server.expectSilence(
                    client, nullCall(server.newXid(), 1, Words.RDMA_ERROR).toBytes());
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void rdmaMsgpAndUnknownProceduresAreAnsweredWithErrChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int procedure : new int[] {Words.RDMA_MSGP, 5, 6, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff}) {
                int xid = server.newXid();
                server.expectErrorChunk(client, xid, nullCall(xid, 1, procedure));
            }
            int xid = server.newXid();
            Words padded = Words.header(xid, 1, 8, Words.RDMA_MSGP)
                    .u32(4, 64)
                    .noChunks()
                    .add(Toy.call(xid, Toy.NULL));
            server.expectErrorChunk(client, xid, padded);
            assertThat(server.count(ServerCounter.ERRORS_SENT_CHUNK)).isEqualTo(7);
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    /** Old bytes of the receive buffer look like the rest of the list. */
    @ParameterizedTest
    @EnumSource
    void aListThatIsCutIsAnsweredWithErrChunkAndNothingBehindItIsRead(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(8192, Access.REMOTE_READ_WRITE);
            Segment segment = exposed.part(0, 4);
            for (int kind = 0; kind < 3; kind++) {
                int xid = server.newXid();
                Words lists = Words.header(xid, 1, 8, Words.RDMA_MSG);
                switch (kind) {
                    case 0 ->
                        lists.readSegment(0, segment)
                                .readSegment(0, segment)
                                .end()
                                .end()
                                .end();
                    case 1 ->
                        lists.end().chunk(segment, segment).chunk(segment).end().end();
                    default -> lists.end().end().chunk(segment, segment, segment);
                }
                for (int length = 28; length < lists.length(); length += 4) {
                    fillReceives(server, client, segment);
                    server.expectErrorChunk(client, xid, new Words().raw(lists.cut(length)));
                }
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    /** Each receive buffer once holds a message full of segments that look legal. */
    private static void fillReceives(ServerUnderTest server, RawConnection client, Segment segment) {
        if (server.count(ServerCounter.RECEIVES) > 200) {
            return;
        }
        for (int i = 0; i < ServerUnderTest.CREDITS + 2; i++) {
            int xid = server.newXid();
            Words full = Words.header(xid, 1, 8, 9);
            while (full.length() < 1000) {
                full.u32(1, 0).u32(segment.handle(), segment.length()).u64(segment.offset());
            }
            server.expectErrorChunk(client, xid, full);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aDiscriminatorThatIsNoBoolIsAnsweredWithErrChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int word : new int[] {2, 0x100, 0x8000_0000, 0xffff_ffff}) {
                for (int list = 0; list < 3; list++) {
                    int xid = server.newXid();
                    Words call = Words.header(xid, 1, 8, Words.RDMA_MSG);
                    for (int i = 0; i < 3; i++) {
                        call.u32(i == list ? word : 0);
                    }
                    server.expectErrorChunk(client, xid, call.add(Toy.call(xid, Toy.NULL)));
                }
                int xid = server.newXid();
                // A WRITE call whose Read list begins with the word, and one whose list goes on with it.
                server.expectErrorChunk(
                        client,
                        xid,
                        Words.header(xid, 1, 8, 0)
                                .u32(word, 140, 0x1a01, 8192, 0x0a000001, 0x00010000)
                                .noChunks());
                server.expectErrorChunk(
                        client,
                        xid,
                        Words.header(xid, 1, 8, 0)
                                .readSegment(140, SOME)
                                .u32(word, 140, 0x1a01, 8192, 0x0a000001, 0x00010000)
                                .noChunks());
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theXidOfTheHeaderMustBeThatOfTheRpcMessage(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            int pending = server.newXid();
            client.send(Words.inline(pending, 8).add(Toy.call(pending, Toy.HOLD)));
            rig.await("the call is held", () -> server.toy().heldCount() == 1);
            int other = server.newXid();
            // Ours in the header, that of the pending call behind it; and the reverse.
            server.expectErrorChunk(client, other, Words.inline(other, 8).add(Toy.call(pending, Toy.NULL)));
            expect(
                    server.exchange(client, Words.inline(pending, 8).add(Toy.call(other, Toy.NULL))),
                    Words.errorChunk(pending, 1, 0));
            server.toy().answerAllHeld();
            rig.await("the held call is answered", () -> client.messageCount() == 3);
            expect(client.message(2), Words.inline(pending, 0).add(Words.reply(pending, 0)));
            assertThat(server.toy().timesExecuted(pending)).isEqualTo(1);
            assertThat(server.toy().timesExecuted(other)).isZero();
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void rdmaNomsgWithoutAPositionZeroChunkIsAnsweredWithErrChunk(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed exposed = client.expose(4096, Access.REMOTE_READ_WRITE);
            Segment segment = exposed.part(0, 64);
            int xid = server.newXid();
            for (Words lists : List.of(
                    new Words().noChunks(),
                    new Words().end().chunk(segment).end().end(),
                    new Words().end().end().chunk(segment),
                    new Words().end().chunk(segment).end().chunk(segment),
                    new Words().readSegment(4, segment).end().end().end())) {
                server.expectErrorChunk(
                        client, xid, Words.header(xid, 1, 8, Words.RDMA_NOMSG).add(lists));
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatIsNoCallIsNeverExecutedNorHarmful(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            // Direction REPLY for nobody, an unknown direction, and RPC messages cut before their direction.
            for (int direction : new int[] {1, 2, 0xffff_ffff}) {
                int xid = server.newXid();
                client.send(Words.inline(xid, 8).u32(xid, direction, 0, 0, 0, 0));
                server.answersNullAmongOthers(client);
                assertThat(server.toy().timesExecuted(xid)).isZero();
            }
            for (int bytes : new int[] {0, 4}) {
                int xid = server.newXid();
                client.send(
                        Words.inline(xid, 8).raw(Words.inline(xid, 8).u32(xid).cut(bytes)));
                server.answersNullAmongOthers(client);
                assertThat(server.toy().timesExecuted(xid)).isZero();
            }
            server.finish(client);
        }
    }
}
