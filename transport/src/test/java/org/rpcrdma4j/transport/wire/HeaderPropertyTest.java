// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;
import org.rpcrdma4j.transport.wire.ReferenceHeader.ReadSegment;
import org.rpcrdma4j.transport.wire.ReferenceHeader.Segment;

/** Any header survives, and on any bytes the decoder and the one that goes by the grammar agree. */
class HeaderPropertyTest {
    private static final int TRIES = 4000;

    private final TransportHeader header = new TransportHeader();
    private final TransportHeader again = new TransportHeader();

    @Property(tries = TRIES)
    void anyHeaderSurvivesTheWire(@ForAll("headers") ReferenceHeader values, @ForAll @Size(max = 60) byte[] body) {
        values.copyTo(header);
        byte[] head = Decoding.encode(header);
        byte[] message = Arrays.copyOf(head, head.length + body.length);
        System.arraycopy(body, 0, message, head.length, body.length);

        assertThat(ReferenceHeader.of(Decoding.decode(message, again), again)).isEqualTo(values);
        assertThat(ReferenceHeader.decode(message, Decoding.LIMITS)).isEqualTo(values);
        assertThat(Decoding.encode(again)).isEqualTo(head);
        assertThat(head).hasSize(values.length());
        assertThat(again.toString()).startsWith("xid=").doesNotContain("\n");
    }

    @Property(tries = TRIES)
    void agreesWithTheGrammarOnAnyBytes(@ForAll @Size(max = 200) byte[] bytes) {
        agrees(bytes, Decoding.LIMITS);
    }

    /** Small words, so that lists go on and on before something is wrong. */
    @Property(tries = TRIES)
    void agreesWithTheGrammarOnSmallWords(
            @ForAll("smallWords") List<Integer> words,
            @ForAll("limits") HeaderLimits limits,
            @ForAll @IntRange(max = 3) int cut) {
        ByteBuffer message = ByteBuffer.allocate(16 + words.size() * 4);
        message.putInt(7).putInt(1).putInt(3);
        words.forEach(message::putInt);
        agrees(Arrays.copyOf(message.array(), Math.max(0, message.position() - cut)), limits);
    }

    @Property(tries = TRIES)
    void agreesWithTheGrammarOnSpoiltHeaders(
            @ForAll("headers") ReferenceHeader values,
            @ForAll("limits") HeaderLimits limits,
            @ForAll @Size(min = 1, max = 3) List<@IntRange(max = 1000) Integer> places,
            @ForAll("words") int word,
            @ForAll @IntRange(max = 100) int cut) {
        values.copyTo(header);
        byte[] message = Decoding.encode(header);
        for (int place : places) {
            ByteBuffer.wrap(message).putInt(place % (message.length / 4) * 4, word);
        }
        agrees(message, limits);
        agrees(Arrays.copyOf(message, Math.max(0, message.length - cut)), limits);
    }

    @Property(tries = TRIES)
    void agreesWithTheGrammarOnFlippedBits(
            @ForAll("headers") ReferenceHeader values, @ForAll @IntRange(max = 10_000) int bit) {
        values.copyTo(header);
        byte[] message = Decoding.encode(header);
        message[bit / 8 % message.length] ^= (byte) (1 << bit % 8);
        agrees(message, Decoding.LIMITS);
    }

    /** Also that both ways to see the direction say the same wherever the cheap one says something. */
    private void agrees(byte[] message, HeaderLimits limits) {
        Outcome outcome = Decoding.decode(message, limits, again);
        assertThat(ReferenceHeader.of(outcome, again)).isEqualTo(ReferenceHeader.decode(message, limits));
        if (outcome == Outcome.OK) {
            assertThat(Decoding.encode(again)).isEqualTo(Arrays.copyOf(message, again.length()));
        }
        RpcDirection cheap = Decoding.peekDirection(message);
        assertThat(cheap).isIn(Decoding.direction(message), RpcDirection.UNKNOWN);
    }

    @Provide
    Arbitrary<HeaderLimits> limits() {
        Arbitrary<Integer> number = Arbitraries.integers().between(0, 4);
        return Combinators.combine(number, number, number, Arbitraries.of(true, false))
                .as(HeaderLimits::new);
    }

    @Provide
    Arbitrary<List<Integer>> smallWords() {
        return Arbitraries.frequency(
                        Tuple.of(6, 0), Tuple.of(9, 1), Tuple.of(3, 2), Tuple.of(1, 3), Tuple.of(2, 4), Tuple.of(1, -1))
                .list()
                .ofMaxSize(60);
    }

    @Provide
    Arbitrary<Integer> words() {
        return Arbitraries.oneOf(
                Arbitraries.of(0, 1, 2, 3, 4, -1, 0x10000001, 0x7fffffff, 0x80000000, 17), Arbitraries.integers());
    }

    @Provide
    Arbitrary<ReferenceHeader> headers() {
        Arbitrary<List<ReadSegment>> read = Combinators.combine(
                        Arbitraries.integers().map(word -> word & ~3), segments())
                .as(ReadSegment::new)
                .list()
                .ofMaxSize(16);
        Arbitrary<List<List<Segment>>> write =
                segments().list().ofMaxSize(16).list().ofMaxSize(4);
        Arbitrary<List<Segment>> reply =
                segments().list().ofMinSize(1).ofMaxSize(16).injectNull(0.4);
        return Combinators.combine(
                        Arbitraries.integers(), Arbitraries.integers(), Arbitraries.of(0, 1), read, write, reply)
                .as((xid, credits, procedure, readList, writeList, replyChunk) -> new ReferenceHeader(
                        Outcome.OK,
                        xid,
                        1,
                        credits,
                        procedure,
                        readList,
                        writeList,
                        replyChunk,
                        "",
                        28
                                + 24 * readList.size()
                                + writeList.stream()
                                        .mapToInt(chunk -> 8 + 16 * chunk.size())
                                        .sum()
                                + (replyChunk == null ? 0 : 4 + 16 * replyChunk.size())))
                .filter(values -> values.procedureWord() == 0
                        || !values.readList().isEmpty()
                        || !values.writeList().isEmpty()
                        || values.replyChunk() != null);
    }

    private static Arbitrary<Segment> segments() {
        return Combinators.combine(
                        Arbitraries.integers(), Arbitraries.longs().between(0, 0xFFFFFFFFL), Arbitraries.longs())
                .as(Segment::new);
    }
}
