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

/** RFC 8166, Section 3: calls in every form, to the byte. */
class ServerCallFormsTest {

    /** All eight sets of lists, and Reply chunks of 1, 2 and 16 segments: the RPC message begins right behind them. */
    @ParameterizedTest
    @EnumSource
    void theMessageBeginsRightBehindTheListsWhateverIsPresent(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            byte[] item = Toy.pattern(1, 64);
            RawConnection.Exposed source = client.expose(64, Access.REMOTE_READ).fill(item);
            RawConnection.Exposed sink = client.expose(4096, Access.REMOTE_WRITE);
            for (int replySegments : new int[] {0, 1, 2, 16}) {
                for (int lists = 0; lists < 4; lists++) {
                    boolean reads = (lists & 1) != 0;
                    boolean writes = (lists & 2) != 0;
                    List<Segment> reply = new ArrayList<>();
                    for (int i = 0; i < replySegments; i++) {
                        reply.add(sink.part(100 * i, 100));
                    }
                    List<Segment> returned =
                            reply.stream().map(segment -> segment.withLength(0)).toList();
                    int xid = server.newXid();
                    Words call = Words.header(xid, 1, 8, 0);
                    Words expected = Words.header(xid, 1, 0, 0).end();
                    if (reads) {
                        call.readSegment(52, source.segment());
                    }
                    call.end();
                    if (writes) {
                        call.chunk(sink.part(2000, 50));
                        expected.chunk(sink.part(2000, 0));
                    }
                    call.end();
                    expected.end();
                    if (reply.isEmpty()) {
                        call.end();
                        expected.end();
                    } else {
                        call.chunk(reply);
                        expected.chunk(returned);
                    }
                    call.add(Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, 64));
                    if (!reads) {
                        call.raw(item);
                    }
                    call.u32(0xbbbb);
                    expected.add(Words.reply(xid, 0).u32(1, 0xaaaa, 64, Toy.crc(item), 0xbbbb));
                    expect(server.exchange(client, call), expected);
                }
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void itemsOfAnyLengthAreTheSameInlineAndByChunkAndWhatFollowsThemToo(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            RawConnection.Exposed source = client.expose(4096, Access.REMOTE_READ);
            List<Integer> lengths = new ArrayList<>();
            for (int i = 0; i <= 67; i++) {
                lengths.add(i);
            }
            for (int i = 3700; i <= 4012; i += network == Network.IWARP ? 7 : 1) {
                lengths.add(i);
            }
            for (int length : lengths) {
                int xid = server.newXid();
                byte[] item = Toy.pattern(length, length);
                Words expected =
                        Words.inline(xid, 0).add(Words.reply(xid, 0).u32(1, 0xaaaa, length, Toy.crc(item), 0xbbbb));
                Words inline = Words.inline(xid, 8)
                        .add(Toy.call(xid, Toy.STORE)
                                .u32(1, 0xaaaa)
                                .opaque(item)
                                .u32(0xbbbb));
                expect(server.exchange(client, inline), expected);
                if (length > 0) {
                    source.fill(item);
                    Words chunked = Words.header(xid, 1, 8, 0)
                            .readSegment(52, source.part(0, length))
                            .end()
                            .end()
                            .end()
                            .add(Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, length, 0xbbbb));
                    expect(server.exchange(client, chunked), expected);
                }
            }
            server.finish(client);
        }
    }

    /** Position-Zero chunks of 1, 3 and 40 segments, with and without a chunk of its own for the item, with a Reply chunk. */
    @ParameterizedTest
    @EnumSource
    void aLongCallIsServedWhateverItsSegmentsAre(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            byte[] item = Toy.pattern(9, 5001);
            for (int segments : new int[] {1, 3, 16, 40}) {
                for (boolean chunked : new boolean[] {false, true}) {
                    int xid = server.newXid();
                    Words rpc = Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, item.length);
                    if (!chunked) {
                        rpc.padded(item);
                    }
                    rpc.u32(0xbbbb);
                    RawConnection.Exposed whole =
                            client.expose(rpc.length(), Access.REMOTE_READ).fill(rpc.toBytes());
                    RawConnection.Exposed part =
                            client.expose(item.length, Access.REMOTE_READ).fill(item);
                    RawConnection.Exposed sink = client.expose(4096, Access.REMOTE_WRITE);
                    Words call = Words.header(xid, 1, 8, Words.RDMA_NOMSG);
                    for (int i = 0; i < segments; i++) {
                        int from = rpc.length() * i / segments;
                        call.readSegment(0, whole.part(from, rpc.length() * (i + 1) / segments - from));
                    }
                    if (chunked) {
                        call.readSegment(52, part.segment());
                    }
                    boolean withReplyChunk = segments == 3;
                    call.end().end();
                    Words expected = Words.header(xid, 1, 0, 0).end().end();
                    if (withReplyChunk) {
                        call.chunk(sink.segment());
                        expected.chunk(sink.part(0, 0));
                    } else {
                        call.end();
                        expected.end();
                    }
                    expected.add(Words.reply(xid, 0).u32(1, 0xaaaa, item.length, Toy.crc(item), 0xbbbb));
                    expect(server.exchange(client, call), expected);
                }
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSmallCallMayBeALongCall(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            int xid = server.newXid();
            Words rpc = Toy.call(xid, Toy.NULL);
            RawConnection.Exposed whole = client.expose(40, Access.REMOTE_READ).fill(rpc.toBytes());
            expect(
                    server.exchange(
                            client,
                            Words.header(xid, 1, 8, 1)
                                    .readSegment(0, whole.segment())
                                    .end()
                                    .end()
                                    .end()),
                    Words.inline(xid, 0).add(Words.reply(xid, 0)));
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    /** The client forgot the pad at the end, or 1 to 3 bytes of the RPC message: an error or an answer, never something misread. */
    @ParameterizedTest
    @EnumSource
    void aLongCallWhoseLengthIsNoMultipleOfFourIsNeverMisread(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int missing = 1; missing <= 3; missing++) {
                int xid = server.newXid();
                byte[] item = Toy.pattern(missing, 5000 - missing);
                Words rpc = Toy.call(xid, Toy.ECHO).opaque(item);
                RawConnection.Exposed whole =
                        client.expose(8192, Access.REMOTE_READ).fill(rpc.toBytes());
                RawConnection.Exposed sink = client.expose(8192, Access.REMOTE_WRITE);
                RawMessage answer = server.exchange(
                        client,
                        Words.header(xid, 1, 8, 1)
                                .readSegment(0, whole.part(0, rpc.length() - missing))
                                .end()
                                .end()
                                .chunk(sink.segment()));
                if (answer.procedure() == Words.RDMA_NOMSG) {
                    byte[] reply = Words.reply(xid, 0).opaque(item).toBytes();
                    expect(answer, Words.header(xid, 1, 0, 1).end().end().chunk(sink.part(0, reply.length)));
                    assertThat(Arrays.copyOf(sink.bytes(), reply.length)).isEqualTo(reply);
                } else if (answer.procedure() == Words.RDMA_MSG) {
                    assertThat(answer.rpc().word(5)).isEqualTo(Toy.GARBAGE_ARGS);
                } else {
                    expect(answer, Words.errorChunk(xid, 1, 0));
                }
                assertThat(server.toy().executed())
                        .filteredOn(executed -> executed.xid() == xid && executed.isSuccess())
                        .hasSizeLessThanOrEqualTo(answer.procedure() == Words.RDMA_NOMSG ? 1 : 0);
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    /** Arguments between, in front of and behind chunks are decoded at their places, with the pads in the chunks and without. */
    @ParameterizedTest
    @EnumSource
    void argumentsAroundSeveralChunksAreReadAtTheirPlaces(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int length : new int[] {4096, 4097, 4098, 4099}) {
                for (boolean padded : new boolean[] {false, true}) {
                    int padLength = (length + 3) & ~3;
                    byte[] item = Toy.pattern(length, length);
                    byte[] inline = Toy.pattern(5, 13);
                    RawConnection.Exposed one =
                            client.expose(8192, Access.REMOTE_READ).fill(item);
                    int chunk = padded ? padLength : length;
                    int xid = server.newXid();
                    // Item 1 by chunk, item 2 inline, item 3 by chunk.
                    int third = 52 + padLength + 4 + 4 + 16 + 4 + 4;
                    Words call = Words.header(xid, 1, 8, 0)
                            .readSegment(52, one.part(0, chunk))
                            .readSegment(third, one.part(0, chunk))
                            .end()
                            .end()
                            .end()
                            .add(Toy.call(xid, Toy.STORE)
                                    .u32(3, 0x11, length, 0x22)
                                    .opaque(inline)
                                    .u32(0x33, length, 0x44));
                    expect(
                            server.exchange(client, call),
                            Words.inline(xid, 0)
                                    .add(Words.reply(xid, 0)
                                            .u32(3, 0x11, length, Toy.crc(item))
                                            .u32(0x22, 13, Toy.crc(inline))
                                            .u32(0x33, length, Toy.crc(item), 0x44)));
                }
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }
}
