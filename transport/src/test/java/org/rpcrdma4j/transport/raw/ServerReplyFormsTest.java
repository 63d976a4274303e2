// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ServerUnderTest.expect;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.verbs.Access;

/** RFC 8166, Section 3: replies in every form, to the byte, and what they invalidate. */
class ServerReplyFormsTest {

    private static final int[] TRICKY_LENGTHS = {
        0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 66, 67, 1023, 1024, 1025, 1029
    };

    /** Lengths come back as written, segments filled in order, pads never written; the words behind the item stay inline. */
    @ParameterizedTest
    @EnumSource
    void aResultFillsItsWriteChunkInOrderAndWithoutPad(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            int[] capacities = {100, 7, 5000};
            RawConnection.Exposed sink = client.expose(8192, Access.REMOTE_WRITE);
            for (int length : new int[] {1, 2, 3, 4, 10, 99, 100, 101, 106, 107, 108, 109, 4097, 5105, 5106, 5107}) {
                sink.memory().fill((byte) 0xEE);
                byte[] item = Toy.pattern(0, length);
                List<Segment> offered = new ArrayList<>();
                List<Segment> returned = new ArrayList<>();
                byte[] expectedMemory = new byte[8192];
                Arrays.fill(expectedMemory, (byte) 0xEE);
                int done = 0;
                for (int i = 0; i < capacities.length; i++) {
                    int at = 200 * i;
                    int used = Math.min(capacities[i], length - done);
                    offered.add(sink.part(at, capacities[i]));
                    returned.add(sink.part(at, used));
                    System.arraycopy(item, done, expectedMemory, at, used);
                    done += used;
                }
                int xid = server.newXid();
                Words call = Words.header(xid, 1, 8, 0)
                        .end()
                        .chunk(offered)
                        .end()
                        .end()
                        .add(Toy.call(xid, Toy.FETCH).u32(1, length));
                RawMessage answer = server.exchange(client, call);
                byte[] wanted = Words.header(xid, 1, answer.credits(), 0)
                        .end()
                        .chunk(returned)
                        .end()
                        .end()
                        .add(Words.reply(xid, 0).u32(1, length, Toy.CLOSING_WORD))
                        .toBytes();
                assertThat(Words.format(answer.bytes())).isEqualTo(Words.format(wanted));
                assertThat(sink.bytes()).isEqualTo(expectedMemory);
                if (answer.invalidatedKey() != null) {
                    assertThat(answer.invalidatedKey()).isEqualTo(sink.segment().handle());
                    sink = client.expose(8192, Access.REMOTE_WRITE);
                }
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    /** Results 1 of 0 bytes, 2 and 3 with bytes, into one, two and three Write chunks, one of them without segments. */
    @ParameterizedTest
    @EnumSource
    void severalResultsTakeTheChunksInOrderAndTheRestGoesInline(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed sink = client.expose(4096, Access.REMOTE_WRITE);
            byte[] one = Toy.pattern(0, 50);
            byte[] two = Toy.pattern(1, 21);
            byte[] three = Toy.pattern(2, 7);
            int xid = server.newXid();
            // Fewer chunks than results.
            expectAnyInvalidation(
                    server.exchange(
                            client,
                            Words.header(xid, 1, 8, 0)
                                    .end()
                                    .chunk(sink.part(0, 100))
                                    .end()
                                    .end()
                                    .add(Toy.call(xid, Toy.FETCH).u32(3, 50, 21, 7))),
                    Words.header(xid, 1, 0, 0)
                            .end()
                            .chunk(sink.part(0, 50))
                            .end()
                            .end()
                            .add(Words.reply(xid, 0)
                                    .u32(3, 50)
                                    .opaque(two)
                                    .opaque(three)
                                    .u32(Toy.CLOSING_WORD)));
            assertThat(Arrays.copyOf(sink.bytes(), 50)).isEqualTo(one);
            // The second chunk asks for its result inline; one chunk more than results.
            sink = client.expose(4096, Access.REMOTE_WRITE);
            expectAnyInvalidation(
                    server.exchange(
                            client,
                            Words.header(xid, 1, 8, 0)
                                    .end()
                                    .chunk(sink.part(0, 100))
                                    .chunk()
                                    .chunk(sink.part(200, 100))
                                    .chunk(sink.part(300, 100))
                                    .end()
                                    .end()
                                    .add(Toy.call(xid, Toy.FETCH).u32(3, 50, 21, 7))),
                    Words.header(xid, 1, 0, 0)
                            .end()
                            .chunk(sink.part(0, 50))
                            .chunk()
                            .chunk(sink.part(200, 7))
                            .chunk(sink.part(300, 0))
                            .end()
                            .end()
                            .add(Words.reply(xid, 0).u32(3, 50).opaque(two).u32(7, Toy.CLOSING_WORD)));
            assertThat(Arrays.copyOfRange(sink.bytes(), 200, 207)).isEqualTo(three);
            // A result without bytes leaves the chunk to the next one (RFC 8166, Section 4.3.2.2).
            sink = client.expose(4096, Access.REMOTE_WRITE);
            expectAnyInvalidation(
                    server.exchange(
                            client,
                            Words.header(xid, 1, 8, 0)
                                    .end()
                                    .chunk(sink.part(0, 100))
                                    .end()
                                    .end()
                                    .add(Toy.call(xid, Toy.FETCH).u32(2, 0, 21))),
                    Words.header(xid, 1, 0, 0)
                            .end()
                            .chunk(sink.part(0, 21))
                            .end()
                            .end()
                            .add(Words.reply(xid, 0).u32(2, 0, 21, Toy.CLOSING_WORD)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    private static void expectAnyInvalidation(RawMessage message, Words expected) {
        expect(RawMessage.of(message.bytes()), expected);
    }

    /** Write chunk first, then the form of the rest; both at once; offered memory far beyond what a reply needs. */
    @ParameterizedTest
    @EnumSource
    void theReplyChunkIsUsedWhenTheRestDoesNotFitAndReturnedEitherWay(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed sink = client.expose(1 << 16, Access.REMOTE_WRITE);
            int xid = server.newXid();
            // 28 + 20 bytes of header with a Reply chunk of one segment; 28 bytes of RPC in front of the data.
            for (int bytes : new int[] {4, 4012, 4016, 4020, 4024, 4028, 20000}) {
                Words call = Words.header(xid, 1, 8, 0)
                        .end()
                        .end()
                        .chunk(sink.part(0, 32768))
                        .add(Toy.call(xid, Toy.BIG).u32(bytes));
                Words rpc = Words.reply(xid, 0).opaque(Toy.pattern(xid, bytes));
                RawMessage answer = server.exchange(client, call);
                if (48 + rpc.length() <= 4096) {
                    expectAnyInvalidation(
                            answer,
                            Words.header(xid, 1, 0, 0)
                                    .end()
                                    .end()
                                    .chunk(sink.part(0, 0))
                                    .add(rpc));
                } else {
                    expectAnyInvalidation(
                            answer, Words.header(xid, 1, 0, 1).end().end().chunk(sink.part(0, rpc.length())));
                    assertThat(Arrays.copyOf(sink.bytes(), rpc.length())).isEqualTo(rpc.toBytes());
                }
                if (answer.invalidatedKey() != null) {
                    sink = client.expose(1 << 16, Access.REMOTE_WRITE);
                }
            }
            // Two results, one chunk: 100 bytes reduced, 9001 left for the Reply chunk of two segments.
            Words rest =
                    Words.reply(xid, 0).u32(2, 100).opaque(Toy.pattern(1, 9001)).u32(Toy.CLOSING_WORD);
            Words call = Words.header(xid, 1, 8, 0)
                    .end()
                    .chunk(sink.part(40_000, 100))
                    .end()
                    .chunk(sink.part(0, 9000), sink.part(20_000, 9000))
                    .add(Toy.call(xid, Toy.FETCH).u32(2, 100, 9001));
            expectAnyInvalidation(
                    server.exchange(client, call),
                    Words.header(xid, 1, 0, 1)
                            .end()
                            .chunk(sink.part(40_000, 100))
                            .end()
                            .chunk(sink.part(0, 9000), sink.part(20_000, rest.length() - 9000)));
            assertThat(Arrays.copyOfRange(sink.bytes(), 40_000, 40_100)).isEqualTo(Toy.pattern(0, 100));
            assertThat(Arrays.copyOf(sink.bytes(), 9000)).isEqualTo(rest.cut(9000));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReplyChunkOfAnyOfferedLengthIsOnlyAnUpperLimit(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int offered : new int[] {(1 << 20) + 4096, 16 << 20, 0x8000_0000, 0xffff_ffff}) {
                for (int bytes : new int[] {200, 5000}) {
                    // Registered is only what a reply of this length needs.
                    RawConnection.Exposed sink = client.expose(8192, Access.REMOTE_WRITE);
                    Segment segment = sink.segment().withLength(offered);
                    int xid = server.newXid();
                    Words rpc = Words.reply(xid, 0).opaque(Toy.pattern(xid, bytes));
                    for (Segment[] segments :
                            List.of(new Segment[] {segment}, new Segment[] {segment, segment, segment})) {
                        RawMessage answer = server.exchange(
                                client,
                                Words.header(xid, 1, 8, 0)
                                        .end()
                                        .end()
                                        .chunk(segments)
                                        .add(Toy.call(xid, Toy.BIG).u32(bytes)));
                        List<Segment> returned = new ArrayList<>();
                        for (int i = 0; i < segments.length; i++) {
                            returned.add(segment.withLength(i == 0 && bytes == 5000 ? rpc.length() : 0));
                        }
                        Words expected = Words.header(xid, 1, 0, bytes == 5000 ? 1 : 0)
                                .end()
                                .end()
                                .chunk(returned);
                        expectAnyInvalidation(answer, bytes == 5000 ? expected : expected.add(rpc));
                        if (answer.invalidatedKey() != null) {
                            sink = client.expose(8192, Access.REMOTE_WRITE);
                            segment = sink.segment().withLength(offered);
                        }
                    }
                }
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    /** Only a handle of the very call is named, only if both sides agreed to it, and never with an error. */
    @ParameterizedTest
    @EnumSource
    void repliesInvalidateOnlyWhatTheirCallOfferedAndOnlyByAgreement(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            for (String privateData : List.of("", "f6ab0e18 01000303", "f6ab0e18 01010303", "f6ab0e18 01ff0303")) {
                RawConnection client =
                        new RawRequester(rig).privateData(privateData).connect(server.address());
                boolean agreed = privateData.contains("0101") || privateData.contains("01ff");
                for (int i = 0; i < 10; i++) {
                    int xid = server.newXid();
                    RawConnection.Exposed sink = client.expose(4096, Access.REMOTE_WRITE);
                    RawMessage answer = server.exchange(
                            client,
                            Words.header(xid, 1, 8, 0)
                                    .end()
                                    .chunk(sink.segment())
                                    .end()
                                    .end()
                                    .add(Toy.call(xid, Toy.FETCH).u32(1, 4000)));
                    if (answer.invalidatedKey() != null) {
                        assertThat(agreed).as(privateData).isTrue();
                        assertThat(answer.invalidatedKey())
                                .isEqualTo(sink.segment().handle());
                    }
                    assertThat(Arrays.copyOf(sink.bytes(), 4000)).isEqualTo(Toy.pattern(0, 4000));
                    server.answersNull(client);
                }
                server.finish(client);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void itemsOfTrickyLengthsComeBackWithTheCountWordThatTheirChunkHas(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int length : TRICKY_LENGTHS) {
                RawConnection.Exposed sink = client.expose(2048, Access.REMOTE_WRITE);
                sink.memory().fill((byte) 0x5A);
                int xid = server.newXid();
                RawMessage answer = server.exchange(
                        client,
                        Words.header(xid, 1, 8, 0)
                                .end()
                                .chunk(sink.part(0, length + 4))
                                .end()
                                .end()
                                .add(Toy.call(xid, Toy.FETCH).u32(1, length)));
                assertThat(answer.writeList().getFirst().getFirst().length()).isEqualTo(length);
                assertThat(answer.rpc().word(7)).isEqualTo(length);
                assertThat(sink.bytes()[length]).as("no pad").isEqualTo((byte) 0x5A);
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }
}
