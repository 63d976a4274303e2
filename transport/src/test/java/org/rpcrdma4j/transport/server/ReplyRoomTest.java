// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.transport.wire.TransportHeader;

/** What a client leaves for the reply to its call, and whether the smallest one fits. */
class ReplyRoomTest {

    private static final int THRESHOLD = 1024;
    private static final int GETATTR = 1;

    private final ReplyRoom room = new ReplyRoom(THRESHOLD, Bindings.nfs(ResultLimits.DEFAULT));
    private final TransportHeader header = new TransportHeader();

    private void writeChunk(int segments) {
        header.writeList().beginChunk();
        for (int i = 0; i < segments; i++) {
            header.writeList().addSegment(7, 100, 0);
        }
    }

    private void replyChunk(int segments, int length) {
        header.replyChunkPresent(true);
        for (int i = 0; i < segments; i++) {
            header.replyChunk().add(8, length, 0);
        }
    }

    private boolean suffices(int procedure, int length) {
        MemorySegment call = MemorySegment.ofArray(new Words()
                .u32(99)
                .add(Words.call(1, Bindings.NFS, 3, procedure))
                .toBytes());
        return room.suffices(header, call, 4, length);
    }

    @Test
    void aReplyMayTakeWhatIsLeftBesideItsHeaderOrTheReplyChunk() {
        assertThat(room.bytes(header)).isEqualTo(THRESHOLD - 28);
        writeChunk(2);
        assertThat(room.bytes(header)).isEqualTo(THRESHOLD - 28 - 8 - 32);
        replyChunk(2, 1000);
        assertThat(room.bytes(header)).isEqualTo(2000);
    }

    @Test
    void theReadListTakesNoRoomSinceItDoesNotComeBack() {
        header.readList().add(0, 7, 4096, 0);
        assertThat(room.bytes(header)).isEqualTo(THRESHOLD - 28);
    }

    @Test
    void aHeaderThatDoesNotFitLeavesNothingWhateverTheReplyChunkHolds() {
        writeChunk(62);
        replyChunk(1, 100_000);
        assertThat(room.bytes(header)).isZero();
        assertThat(suffices(0, 40)).isFalse();
    }

    @Test
    void theSmallestReplyIsThatOfTheProcedure() {
        // Left: 1024 - 36 - 16 * 54 = 124, and 16 less with each further segment. GETATTR: 24 + 88.
        writeChunk(54);
        assertThat(suffices(GETATTR, 40)).isTrue();
        header.clear();
        writeChunk(55);
        assertThat(suffices(GETATTR, 40)).isFalse();
        assertThat(suffices(0, 40)).isTrue();
        replyChunk(1, 111);
        assertThat(suffices(GETATTR, 40)).isFalse();
        header.clear();
        writeChunk(55);
        replyChunk(1, 112);
        assertThat(suffices(GETATTR, 40)).isTrue();
    }

    @Test
    void ofACallThatIsNotAllThereOnlyWhatAllRepliesHaveIsAskedFor() {
        writeChunk(55);
        assertThat(suffices(GETATTR, 24)).isFalse();
        assertThat(suffices(GETATTR, 23)).isTrue();
        assertThat(suffices(GETATTR, 0)).isTrue();
    }
}
