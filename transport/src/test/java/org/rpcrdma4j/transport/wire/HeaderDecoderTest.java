// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.transport.wire.WireVector.octets;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Answer;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;

/** Rules of the decoder that no example message shows. */
class HeaderDecoderTest {
    private static final String FIXED = "0a000001 00000001 00000080 ";
    private static final String MSG = FIXED + "00000000 ";
    private static final String NOMSG = FIXED + "00000001 ";
    private static final String ERROR = FIXED + "00000004 ";
    private static final String ABSENT = "00000000 ";
    private static final String SEGMENT = "00001a01 00000064 00000000 00010000 ";
    private static final String READ = "00000001 00000000 " + SEGMENT;
    private static final String CHUNK = "00000001 00000001 " + SEGMENT;

    private final TransportHeader header = new TransportHeader();

    private Outcome decode(String hex) {
        return Decoding.decode(octets(hex), header);
    }

    private Outcome decode(String hex, HeaderLimits limits) {
        return Decoding.decode(octets(hex), limits, header);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void eachOfTheThreeListsMayBeAbsent(int lists) {
        String hex = MSG
                + ((lists & 1) != 0 ? READ : "")
                + ABSENT
                + ((lists & 2) != 0 ? CHUNK : "")
                + ABSENT
                + ((lists & 4) != 0 ? CHUNK : ABSENT);
        byte[] head = octets(hex);
        byte[] message = Arrays.copyOf(head, head.length + 40);

        assertThat(Decoding.decode(message, header)).isEqualTo(Outcome.OK);
        assertThat(header.length()).isEqualTo(head.length);
        assertThat(header.readList().size()).isEqualTo(lists & 1);
        assertThat(header.writeList().chunks()).isEqualTo(lists >> 1 & 1);
        assertThat(header.hasReplyChunk()).isEqualTo((lists & 4) != 0);
        assertThat(header.hasNoChunks()).isEqualTo(lists == 0);
        assertThat(Decoding.encode(header)).isEqualTo(head);
        assertThat(Decoding.outcome(octets(hex.replace(MSG, NOMSG))))
                .isEqualTo(lists == 0 ? Outcome.NO_CHUNKS : Outcome.OK);
    }

    /** A region is named by 32 bits, an address has 64; nothing in between is narrower. */
    @Test
    void theWidestValuesSurvive() {
        header.readList().add(0xfffffffc, 0xffffffff, 0xffffffffL, 0xffffffff_fffff000L);
        header.xid(0xffffffff);
        header.credits(0xffffffff);
        byte[] message = Decoding.encode(header);

        TransportHeader read = Decoding.header(message);
        assertThat(read.readList().position(0)).isEqualTo(0xfffffffc);
        assertThat(read.readList().segments().handle(0)).isEqualTo(0xffffffff);
        assertThat(read.readList().segments().length(0)).isEqualTo(0xffffffffL);
        assertThat(read.readList().segments().offset(0)).isEqualTo(0xffffffff_fffff000L);
        assertThat(read)
                .hasToString("xid=ffffffff credits=4294967295 RDMA_MSG"
                        + " read=[4294967292:ffffffff+4294967295@fffffffffffff000]");
    }

    /** RFC 8166, Section 4.5: dropped unparsed, whatever the version says. */
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 0", "3, 0", "15, 0", "16, 1", "20, 1", "27, 1", "27, 2", "16, 7"})
    void lessThan28BytesAreTooShortInAnyVersion(int length, int version) {
        byte[] message = Arrays.copyOf(WireVector.V8.with(1, version), length);

        assertThat(Decoding.decode(message, header)).isEqualTo(Outcome.TOO_SHORT);
        assertThat(Outcome.TOO_SHORT.answer()).isEqualTo(Answer.NONE);
        assertThat(header.xid()).isEqualTo(length < 16 ? 0 : 0x55aa0010);
        assertThat(header.hasNoChunks()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "16, 2, TOO_SHORT",
        "19, 2, TOO_SHORT",
        "20, 2, OK",
        "24, 2, OK",
        "28, 2, OK",
        "40, 2, OK",
        "20, 1, BAD_ERROR",
        "24, 1, BAD_ERROR",
        "27, 1, BAD_ERROR",
        "28, 1, OK",
        "40, 1, OK",
        "20, 0, BAD_ERROR",
        "28, 0, BAD_ERROR",
        "28, 3, BAD_ERROR",
        "28, -1, BAD_ERROR"
    })
    void anErrorIsReadFrom20BytesOnIfItsCodeIsKnown(int length, int code, Outcome outcome) {
        byte[] message = Arrays.copyOf(
                octets(ERROR + String.format(Locale.ROOT, "%08x 00000002 00000003 00000000 00000000 00000000", code)),
                length);

        assertThat(Decoding.decode(message, header)).isEqualTo(outcome);
        assertThat(outcome.answer()).isEqualTo(Answer.NONE);
        if (outcome == Outcome.OK && code == 1) {
            assertThat(header.errorCode()).isEqualTo(ErrorCode.ERR_VERS);
            assertThat(header.lowVersion()).isEqualTo(2);
            assertThat(header.highVersion()).isEqualTo(3);
            assertThat(header.length()).isEqualTo(28);
        } else if (outcome == Outcome.OK) {
            assertThat(header.errorCode()).isEqualTo(ErrorCode.ERR_CHUNK);
            assertThat(header.length()).isEqualTo(20);
            assertThat(header).hasToString("xid=0a000001 credits=128 RDMA_ERROR ERR_CHUNK");
        }
    }

    @Test
    void anErrorOfAnotherVersionFollowsTheRuleOf28Bytes() {
        assertThat(decode("0a000001 00000002 00000080 00000004 00000002")).isEqualTo(Outcome.TOO_SHORT);
        assertThat(decode("0a000001 00000002 00000080 00000004 00000002 00000000 00000000"))
                .isEqualTo(Outcome.BAD_VERSION);
        assertThat(header.procedure()).isEqualTo(Procedure.RDMA_ERROR);
    }

    @Test
    void theBodyOfAnotherVersionIsNotLookedAt() {
        assertThat(decode("0a000001 00000002 00000080 00000000 ffffffff ffffffff ffffffff"))
                .isEqualTo(Outcome.BAD_VERSION);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 28})
    void doneIsDroppedAtAnyLength(int length) {
        byte[] message = Arrays.copyOf(octets(FIXED + "00000003 00000000 00000000 00000000"), length);

        assertThat(Decoding.outcome(message).answer()).isEqualTo(Answer.NONE);
    }

    @Test
    void everyDiscriminatorIsZeroOrOne() {
        for (String bad : new String[] {"00000002", "01000000", "ffffffff", "00000100"}) {
            assertThat(decode(MSG + bad + "00000000" + SEGMENT + ABSENT + ABSENT + ABSENT))
                    .isEqualTo(Outcome.BAD_LISTS);
            assertThat(decode(MSG + READ + bad + "00000000" + SEGMENT + ABSENT + ABSENT + ABSENT))
                    .isEqualTo(Outcome.BAD_LISTS);
            assertThat(decode(MSG + ABSENT + bad + "00000001" + SEGMENT + ABSENT + ABSENT))
                    .isEqualTo(Outcome.BAD_LISTS);
            assertThat(decode(MSG + ABSENT + CHUNK + bad + "00000001" + SEGMENT + ABSENT + ABSENT))
                    .isEqualTo(Outcome.BAD_LISTS);
            assertThat(decode(MSG + ABSENT + ABSENT + bad + "00000001" + SEGMENT))
                    .isEqualTo(Outcome.BAD_LISTS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000001", "00000002", "00000003", "0000008d", "ffffffff"})
    void aPositionIsAMultipleOfFour(String position) {
        assertThat(decode(MSG + READ + "00000001" + position + SEGMENT + ABSENT + ABSENT + ABSENT))
                .isEqualTo(Outcome.BAD_POSITION);
        assertThat(Outcome.BAD_POSITION.answer()).isEqualTo(Answer.ERR_CHUNK);
        assertThat(header.readList().isEmpty()).isTrue();
        assertThat(header.length()).isZero();
    }

    @Test
    void nothingOfRefusedListsStays() {
        assertThat(decode(MSG + READ + ABSENT + CHUNK + ABSENT + "00000001 00000009"))
                .isEqualTo(Outcome.BAD_LISTS);

        assertThat(header.hasNoChunks()).isTrue();
        assertThat(header.replyChunk().size()).isZero();
        assertThat(header.xid()).isEqualTo(0x0a000001);
        assertThat(header.credits()).isEqualTo(128);
    }

    @Test
    void nothingOfTheLastMessageStays() {
        assertThat(decode(MSG + READ + ABSENT + CHUNK + ABSENT + CHUNK)).isEqualTo(Outcome.OK);
        assertThat(decode(MSG + ABSENT + ABSENT + ABSENT)).isEqualTo(Outcome.OK);
        assertThat(header.hasNoChunks()).isTrue();
        assertThat(decode("")).isEqualTo(Outcome.TOO_SHORT);
        assertThat(header.xid()).isZero();
        assertThat(header.length()).isZero();
    }

    @Test
    void theReadListEndsAtItsLimit() {
        HeaderLimits limits = new HeaderLimits(2, 0, 0, false);

        assertThat(decode(MSG + READ.repeat(2) + ABSENT + ABSENT + ABSENT, limits))
                .isEqualTo(Outcome.OK);
        assertThat(decode(MSG + READ.repeat(3) + ABSENT + ABSENT + ABSENT, limits))
                .isEqualTo(Outcome.OUTSIDE_LIMITS);
        assertThat(decode(MSG + READ + ABSENT + ABSENT + ABSENT, new HeaderLimits(0, 0, 0, false)))
                .isEqualTo(Outcome.OUTSIDE_LIMITS);
        assertThat(Outcome.OUTSIDE_LIMITS.answer()).isEqualTo(Answer.ERR_CHUNK);
    }

    @Test
    void theWriteListEndsAtItsLimits() {
        HeaderLimits limits = new HeaderLimits(0, 2, 3, false);
        String three = "00000001 00000003" + SEGMENT.repeat(3);
        String four = "00000001 00000004" + SEGMENT.repeat(4);

        assertThat(decode(MSG + ABSENT + three + three + ABSENT + ABSENT, limits))
                .isEqualTo(Outcome.OK);
        assertThat(decode(MSG + ABSENT + three + four + ABSENT + ABSENT, limits))
                .isEqualTo(Outcome.OUTSIDE_LIMITS);
        assertThat(decode(MSG + ABSENT + CHUNK.repeat(3) + ABSENT + ABSENT, limits))
                .isEqualTo(Outcome.OUTSIDE_LIMITS);
        assertThat(decode(MSG + ABSENT + ABSENT + three, limits)).isEqualTo(Outcome.OK);
        assertThat(decode(MSG + ABSENT + ABSENT + four, limits)).isEqualTo(Outcome.OUTSIDE_LIMITS);
    }

    /** Legal by RFC 8166, Sections 3.4.6 and 4.3.2.3, refused by Linux: so it is a choice. */
    @Test
    void aWriteChunkWithoutSegmentsIsTakenOnlyIfAllowed() {
        String hex = MSG + ABSENT + CHUNK + "00000001 00000000" + CHUNK + ABSENT + ABSENT;

        assertThat(decode(hex, new HeaderLimits(1, 3, 1, false))).isEqualTo(Outcome.OUTSIDE_LIMITS);
        assertThat(decode(hex, new HeaderLimits(1, 3, 1, true))).isEqualTo(Outcome.OK);
        assertThat(header.writeList().segmentCount(0)).isOne();
        assertThat(header.writeList().segmentCount(1)).isZero();
        assertThat(header.writeList().segmentCount(2)).isOne();
        assertThat(Decoding.encode(header)).isEqualTo(octets(hex));
    }

    @Test
    void limitsAreNotNegative() {
        assertThatThrownBy(() -> new HeaderLimits(-1, 1, 1, true)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new HeaderLimits(1, -1, 1, true)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new HeaderLimits(1, 1, -1, true)).isInstanceOf(IllegalArgumentException.class);
    }

    /** A wrong length of the caller ends at the memory's end. */
    @Test
    void noLengthLeadsOutOfTheMemory() {
        MemorySegment message = MemorySegment.ofArray(WireVector.V2.bytes());

        assertThat(HeaderDecoder.decode(message, 0, Integer.MAX_VALUE, Decoding.LIMITS, header))
                .isEqualTo(Outcome.OK);
        assertThat(HeaderDecoder.decode(message, 24, 52, Decoding.LIMITS, header))
                .isNotEqualTo(Outcome.OK);
        assertThat(HeaderDecoder.decode(message, 0, -1, Decoding.LIMITS, header))
                .isEqualTo(Outcome.TOO_SHORT);
        assertThat(HeaderDecoder.decode(message, -1, 52, Decoding.LIMITS, header))
                .isEqualTo(Outcome.TOO_SHORT);
        assertThat(HeaderDecoder.decode(message, 53, 52, Decoding.LIMITS, header))
                .isEqualTo(Outcome.TOO_SHORT);
        assertThat(HeaderDecoder.decode(message, Long.MAX_VALUE, 52, Decoding.LIMITS, header))
                .isEqualTo(Outcome.TOO_SHORT);
        assertThat(HeaderDecoder.peekDirection(message, 20, 52)).isEqualTo(RpcDirection.UNKNOWN);
    }

    @Test
    void memoryThatCannotBeWrittenIsRead() {
        MemorySegment message = MemorySegment.ofArray(WireVector.V5.bytes()).asReadOnly();

        assertThat(HeaderDecoder.decode(message, 0, 76, Decoding.LIMITS, header))
                .isEqualTo(Outcome.OK);
    }

    /** RFC 8167, Section 5.1: the direction word decides, also behind chunk lists. */
    @Test
    void theDirectionIsReadBehindAnyLists() {
        byte[] call = octets(MSG + ABSENT + ABSENT + CHUNK + "0a000001 00000000");
        byte[] reply = octets(MSG + ABSENT + ABSENT + CHUNK + "0a000001 00000001");
        byte[] neither = octets(MSG + ABSENT + ABSENT + CHUNK + "0a000001 00000002");
        byte[] cut = octets(MSG + ABSENT + ABSENT + CHUNK + "0a000001 000000");

        assertThat(Decoding.direction(call)).isEqualTo(RpcDirection.CALL);
        assertThat(Decoding.direction(reply)).isEqualTo(RpcDirection.REPLY);
        assertThat(Decoding.direction(neither)).isEqualTo(RpcDirection.UNKNOWN);
        assertThat(Decoding.direction(cut)).isEqualTo(RpcDirection.UNKNOWN);
        assertThat(Decoding.direction(WireVector.V4R.bytes())).isEqualTo(RpcDirection.UNKNOWN);
        assertThat(Decoding.direction(WireVector.V7.bytes())).isEqualTo(RpcDirection.UNKNOWN);
        assertThat(Decoding.direction(WireVector.V1.with(4, 2))).isEqualTo(RpcDirection.UNKNOWN);
        assertThat(Decoding.peekDirection(call)).isEqualTo(RpcDirection.UNKNOWN);
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "3, 1", "3, 4", "4, 1", "5, 1", "6, 1", "7, 1", "8, 2", "0, 0"})
    void theLookAtTheDirectionTakesNothingButPlainReverseMessages(int wordIndex, int word) {
        assertThat(Decoding.peekDirection(WireVector.V8.with(wordIndex, word))).isEqualTo(RpcDirection.UNKNOWN);
    }

    @Test
    void aFullCarrierIsRefilledWithoutAllocating() {
        MemorySegment message = MemorySegment.ofArray(octets(MSG
                + READ.repeat(8)
                + ABSENT
                + ("00000001 00000004" + SEGMENT.repeat(4)).repeat(2)
                + ABSENT
                + "00000001 00000008"
                + SEGMENT.repeat(8)));
        int length = (int) message.byteSize();
        MemorySegment copy = MemorySegment.ofArray(new byte[length]);
        int rounds = 20_000;
        refill(message, length, copy, rounds);

        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        refill(message, length, copy, rounds);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(allocated).as("bytes allocated in %d rounds", rounds).isLessThan(rounds);
        assertThat(copy.mismatch(message)).isEqualTo(-1);
    }

    private void refill(MemorySegment message, int length, MemorySegment copy, int rounds) {
        for (int i = 0; i < rounds; i++) {
            if (HeaderDecoder.decode(message, 0, length, Decoding.LIMITS, header) != Outcome.OK
                    || HeaderEncoder.encode(header, copy, 0) != length) {
                throw new AssertionError("expected a header of " + length + " bytes, found " + header);
            }
        }
    }
}
