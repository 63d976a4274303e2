// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.server.ReplyPlanner.Form;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.TransportHeader;

/** Which results go where: RFC 8166, Sections 3.5.3 and 4.3. */
class ReplyPlannerTest {

    private static final int THRESHOLD = 1024;

    private final TransportHeader header = new TransportHeader();
    private final ReplyPlanner planner = new ReplyPlanner();
    private final ReplyPieces reply = new ReplyPieces();

    private static MemorySegment bytes(int length) {
        return MemorySegment.ofArray(new byte[length]);
    }

    private void writeChunk(long... lengths) {
        header.writeList().beginChunk();
        for (long length : lengths) {
            header.writeList().addSegment(7, length, 100);
        }
    }

    private void replyChunk(long... lengths) {
        header.replyChunkPresent(true);
        for (long length : lengths) {
            header.replyChunk().add(8, length, 200);
        }
    }

    private Form plan() {
        return planner.plan(header, reply, piece -> true, THRESHOLD);
    }

    private List<Long> writeLengths() {
        List<Long> lengths = new ArrayList<>();
        for (int i = 0; i < header.writeList().segments().size(); i++) {
            lengths.add(header.writeList().segments().length(i));
        }
        return lengths;
    }

    @Test
    void goesInlineUpToTheThresholdAndIntoTheReplyChunkAbove() {
        for (int length = THRESHOLD - 28 - 20 - 4; length <= THRESHOLD - 28 - 20 + 8; length += 4) {
            header.clear();
            replyChunk(4096);
            reply.clear().data(bytes(length));
            boolean fits = length <= THRESHOLD - 28 - 20;
            assertThat(plan()).isEqualTo(fits ? Form.INLINE : Form.REPLY_CHUNK);
            assertThat(header.procedure()).isEqualTo(fits ? Procedure.RDMA_MSG : Procedure.RDMA_NOMSG);
            // RFC 8166, Section 4.3.3: the chunk goes back with true lengths, used or not.
            assertThat(header.replyChunk().length(0)).isEqualTo(fits ? 0 : length);
        }
    }

    @Test
    void saysThatAReplyDoesNotFitBeforeAnythingIsChanged() {
        reply.data(bytes(THRESHOLD - 24));
        assertThat(plan()).isEqualTo(Form.DOES_NOT_FIT);
        replyChunk(500, 400);
        assertThat(plan()).isEqualTo(Form.DOES_NOT_FIT);
        assertThat(header.replyChunk().totalLength()).isEqualTo(900);
        header.clear();
        replyChunk(500, 500);
        assertThat(plan()).isEqualTo(Form.REPLY_CHUNK);
        assertThat(header.replyChunk().length(1)).isEqualTo(500);
    }

    @Test
    void returnsTheLengthsOfASegmentedChunkAsFilled() {
        long[][] expected = {{0, 0, 0}, {1, 0, 0}, {100, 0, 0}, {100, 1, 0}, {100, 7, 0}, {100, 7, 5000}};
        int[] results = {0, 1, 100, 101, 107, 5107};
        for (int i = 0; i < results.length; i++) {
            header.clear();
            writeChunk(100, 7, 5000);
            reply.clear().data(bytes(28)).item(bytes(results[i])).data(bytes(4));
            assertThat(plan()).isEqualTo(Form.INLINE);
            assertThat(writeLengths()).containsExactly(expected[i][0], expected[i][1], expected[i][2]);
            assertThat(planner.restBytes()).isEqualTo(32);
            assertThat(header.writeList().segments().handle(1)).isEqualTo(7);
            assertThat(header.writeList().segments().offset(2)).isEqualTo(100);
        }
    }

    @Test
    void givesEachResultTheNextUnusedChunkAndTheRestStaysInline() {
        writeChunk(10);
        writeChunk(10);
        reply.data(bytes(24)).item(bytes(0)).data(bytes(4)).item(bytes(5)).data(bytes(4));
        reply.item(bytes(6)).data(bytes(4)).item(bytes(7)).data(bytes(4));
        assertThat(plan()).isEqualTo(Form.INLINE);
        // RFC 8166, Section 4.3.2.2: the empty result takes none.
        assertThat(planner.chunkOf(1)).isEqualTo(-1);
        assertThat(planner.chunkOf(3)).isZero();
        assertThat(planner.chunkOf(5)).isEqualTo(1);
        assertThat(planner.chunkOf(7)).isEqualTo(-1);
        assertThat(writeLengths()).containsExactly(5L, 6L);
        assertThat(planner.restBytes()).isEqualTo(24 + 4 * 4 + 8);
    }

    @Test
    void returnsChunksThatAreLeftOverUnused() {
        writeChunk(10, 20);
        writeChunk(30);
        reply.data(bytes(28));
        assertThat(plan()).isEqualTo(Form.INLINE);
        assertThat(writeLengths()).containsExactly(0L, 0L, 0L);
        assertThat(header.writeList().chunks()).isEqualTo(2);
        assertThat(header.writeList().segmentCount(0)).isEqualTo(2);
    }

    @Test
    void takesAChunkWithoutSegmentsAsTheWishForAnInlineResult() {
        writeChunk(10);
        writeChunk();
        writeChunk(10);
        reply.data(bytes(24)).item(bytes(1)).item(bytes(2)).item(bytes(3));
        assertThat(plan()).isEqualTo(Form.INLINE);
        assertThat(planner.chunkOf(1)).isZero();
        assertThat(planner.chunkOf(2)).isEqualTo(-1);
        assertThat(planner.chunkOf(3)).isEqualTo(2);
        assertThat(header.writeList().segmentCount(1)).isZero();
        assertThat(writeLengths()).containsExactly(1L, 3L);
        assertThat(planner.restBytes()).isEqualTo(28);
    }

    @Test
    void refusesAChunkThatIsTooSmallRatherThanWritingAPart() {
        writeChunk(10, 89);
        reply.data(bytes(28)).item(bytes(100));
        assertThat(plan()).isEqualTo(Form.DOES_NOT_FIT);
        assertThat(writeLengths()).containsExactly(10L, 89L);
    }

    @Test
    void reducesBeforeItChoosesTheForm() {
        // RFC 8166, Section 3.5.3.
        writeChunk(100_000);
        replyChunk(5000);
        reply.data(bytes(28)).item(bytes(100_000)).data(bytes(4));
        assertThat(plan()).isEqualTo(Form.INLINE);
        assertThat(header.replyChunk().length(0)).isZero();
        header.clear();
        writeChunk(100_000);
        replyChunk(5000);
        reply.clear().data(bytes(2000)).item(bytes(100_000)).data(bytes(4));
        assertThat(plan()).isEqualTo(Form.REPLY_CHUNK);
        assertThat(header.replyChunk().length(0)).isEqualTo(2004);
        assertThat(writeLengths()).containsExactly(100_000L);
    }

    @Test
    void countsAnItemThatStaysInTheStreamWithItsPad() {
        replyChunk(5000);
        reply.data(bytes(28)).item(bytes(1001)).data(bytes(4));
        assertThat(plan()).isEqualTo(Form.REPLY_CHUNK);
        assertThat(header.replyChunk().length(0)).isEqualTo(28 + 1004 + 4);
    }

    @Test
    void leavesItemsThatAreNotEligibleInTheStreamAndTheirChunkUnused() {
        writeChunk(1000);
        reply.data(bytes(28)).item(bytes(10));
        assertThat(planner.plan(header, reply, piece -> false, THRESHOLD)).isEqualTo(Form.INLINE);
        assertThat(writeLengths()).containsExactly(0L);
        assertThat(planner.restBytes()).isEqualTo(40);
    }

    @Test
    void emptiesTheReadListAndAddsTheLengthsOfAnItemInPieces() {
        header.readList().add(44, 1, 100, 0);
        writeChunk(1000);
        reply.data(bytes(28)).item(bytes(10)).more(bytes(5)).more(bytes(6)).data(bytes(4));
        assertThat(plan()).isEqualTo(Form.INLINE);
        assertThat(header.readList().isEmpty()).isTrue();
        assertThat(writeLengths()).containsExactly(21L);
    }

    @Test
    void worksWithOffersBeyondAnyMemory() {
        // U19.
        replyChunk(0xFFFF_FFFFL, 0xFFFF_FFFFL, 0xFFFF_FFFFL);
        reply.data(bytes(1 << 20));
        assertThat(plan()).isEqualTo(Form.REPLY_CHUNK);
        assertThat(header.replyChunk().length(0)).isEqualTo(1 << 20);
        assertThat(header.replyChunk().length(1)).isZero();
    }
}
