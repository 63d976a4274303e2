// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.TransportHeader;

/** Read chunks are put back where they belong: RFC 8166, Sections 3.4.4 and 3.4.5. */
class CallAssemblerTest {

    private static final int MAX_PAYLOAD = 1 << 20;

    private final CallAssembler assembler = new CallAssembler(MAX_PAYLOAD);
    private final TransportHeader header = new TransportHeader();

    private static byte[] bytes(int from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (from + i);
        }
        return bytes;
    }

    private TransportHeader message(Procedure procedure) {
        header.clear();
        header.procedure(procedure);
        return header;
    }

    /** Pulls what was planned: handle i of the Read list is index i of the sources. */
    private byte[] assemble(byte[] inline, byte[]... sources) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pulled = arena.allocate(Math.max(1, assembler.pullBytes()));
            pulled.fill((byte) 0x55);
            for (int i = 0; i < assembler.reads(); i++) {
                int segment = assembler.readSegment(i);
                byte[] source = sources[header.readList().segments().handle(segment)];
                assertThat(header.readList().segments().length(segment)).isEqualTo(source.length);
                MemorySegment.copy(source, 0, pulled, ValueLayout.JAVA_BYTE, assembler.readOffset(i), source.length);
            }
            List<MemorySegment> pieces = new ArrayList<>();
            assembler.pieces(MemorySegment.ofArray(inline), pulled, pieces);
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            pieces.forEach(piece -> stream.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE)));
            assertThat((long) stream.size()).isEqualTo(assembler.streamBytes());
            return stream.toByteArray();
        }
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    @Test
    void putsAChunkBetweenTheInlineBytesAtItsPosition() {
        byte[] inline = bytes(1, 60);
        byte[] item = bytes(100, 5);
        message(Procedure.RDMA_MSG).readList().add(44, 0, 5, 7);
        assertThat(assembler.plan(header, inline.length)).isTrue();
        // RFC 8166, Section 3.4.5.2: without its pad, which the receiver supplies.
        assertThat(assemble(inline, item))
                .isEqualTo(join(Arrays.copyOf(inline, 44), item, new byte[3], Arrays.copyOfRange(inline, 44, 60)));
        assertThat(assembler.items()).isEqualTo(1);
        assertThat(assembler.itemPosition(0)).isEqualTo(44);
        assertThat(assembler.itemLength(0)).isEqualTo(5);
    }

    @Test
    void givesTheSameStreamForAChunkThatHoldsItsPad() {
        byte[] inline = bytes(1, 60);
        byte[] item = bytes(100, 5);
        message(Procedure.RDMA_MSG).readList().add(44, 0, 5, 7);
        header.readList().add(44, 1, 3, 70);
        assertThat(assembler.plan(header, inline.length)).isTrue();
        assertThat(assemble(inline, item, new byte[3]))
                .isEqualTo(join(Arrays.copyOf(inline, 44), item, new byte[3], Arrays.copyOfRange(inline, 44, 60)));
        assertThat(assembler.itemLength(0)).isEqualTo(8);
    }

    @Test
    void joinsSegmentsOfOneChunkInListOrderAlsoWhenAnotherChunkIsBetweenThem() {
        byte[] inline = bytes(1, 64);
        // Stream: 40 inline, chunk of 8 at 40, 8 inline, chunk of 6 at 56, the rest.
        message(Procedure.RDMA_MSG).readList().add(56, 0, 4, 0);
        header.readList().add(40, 1, 1, 0);
        header.readList().add(56, 2, 2, 0);
        header.readList().add(40, 3, 7, 0);
        byte[][] sources = {bytes(10, 4), bytes(20, 1), bytes(30, 2), bytes(40, 7)};
        assertThat(assembler.plan(header, inline.length)).isTrue();
        assertThat(assemble(inline, sources))
                .isEqualTo(join(
                        Arrays.copyOf(inline, 40),
                        sources[1],
                        sources[3],
                        Arrays.copyOfRange(inline, 40, 48),
                        sources[0],
                        sources[2],
                        new byte[2],
                        Arrays.copyOfRange(inline, 48, 64)));
    }

    @Test
    void takesALongCallFromThePositionZeroChunkAloneAndTogetherWithOthers() {
        byte[] base = bytes(1, 80);
        message(Procedure.RDMA_NOMSG).readList().add(0, 0, 80, 0);
        assertThat(assembler.plan(header, 0)).isTrue();
        assertThat(assemble(new byte[0], base)).isEqualTo(base);
        assertThat(assembler.items()).isZero();

        byte[] item = bytes(100, 9);
        message(Procedure.RDMA_NOMSG).readList().add(44, 1, 9, 0);
        header.readList().add(0, 0, 80, 0);
        assertThat(assembler.plan(header, 0)).isTrue();
        assertThat(assemble(new byte[0], base, item))
                .isEqualTo(join(Arrays.copyOf(base, 44), item, new byte[3], Arrays.copyOfRange(base, 44, 80)));
    }

    @Test
    void takesAnItemAtTheVeryEndOfTheStream() {
        byte[] inline = bytes(1, 44);
        message(Procedure.RDMA_MSG).readList().add(44, 0, 4097, 0);
        byte[] item = bytes(3, 4097);
        assertThat(assembler.plan(header, inline.length)).isTrue();
        assertThat(assemble(inline, item)).isEqualTo(join(inline, item, new byte[3]));
    }

    @Test
    void takesChunksAndSegmentsWithoutBytes() {
        byte[] inline = bytes(1, 60);
        message(Procedure.RDMA_MSG).readList().add(44, 0, 0, 0);
        header.readList().add(48, 1, 0, 0);
        header.readList().add(48, 2, 4, 0);
        byte[] item = bytes(9, 4);
        assertThat(assembler.plan(header, inline.length)).isTrue();
        assertThat(assembler.reads()).isEqualTo(1);
        assertThat(assemble(inline, new byte[0], new byte[0], item))
                .isEqualTo(join(Arrays.copyOf(inline, 48), item, Arrays.copyOfRange(inline, 48, 60)));
        assertThat(assembler.itemLength(0)).isZero();
        assertThat(assembler.itemLength(1)).isEqualTo(4);
    }

    @Test
    void refusesChunksThatOverlapOrLieBeyondTheStream() {
        // RFC 8166, Section 4.5.2: the second begins inside the first.
        message(Procedure.RDMA_MSG).readList().add(44, 0, 5097, 0);
        header.readList().add(48, 1, 4, 0);
        assertThat(assembler.plan(header, 100)).isFalse();
        // Inside the first one's pad.
        message(Procedure.RDMA_MSG).readList().add(44, 0, 8, 0);
        header.readList().add(48, 1, 4, 0);
        assertThat(assembler.plan(header, 100)).isFalse();
        // Beyond the inline bytes.
        message(Procedure.RDMA_MSG).readList().add(104, 0, 8, 0);
        assertThat(assembler.plan(header, 100)).isFalse();
        message(Procedure.RDMA_MSG).readList().add(100, 0, 8, 0);
        assertThat(assembler.plan(header, 100)).isTrue();
        message(Procedure.RDMA_MSG).readList().add(0xFFFF_FFFC, 0, 8, 0);
        assertThat(assembler.plan(header, 100)).isFalse();
        // Inside the RPC header.
        message(Procedure.RDMA_MSG).readList().add(4, 0, 8, 0);
        assertThat(assembler.plan(header, 100)).isFalse();
    }

    @Test
    void refusesAFormThatDoesNotFitTheLists() {
        // RFC 8166, Section 4.2.4: an RDMA_NOMSG call without a Position-Zero chunk; Section 3.5.3: the opposite.
        message(Procedure.RDMA_NOMSG).readList().add(44, 0, 8, 0);
        assertThat(assembler.plan(header, 0)).isFalse();
        message(Procedure.RDMA_NOMSG);
        assertThat(assembler.plan(header, 0)).isFalse();
        message(Procedure.RDMA_MSG).readList().add(0, 0, 80, 0);
        assertThat(assembler.plan(header, 100)).isFalse();
    }

    @Test
    void refusesMoreThanItsLimitsWithoutOverflow() {
        message(Procedure.RDMA_MSG).readList().add(44, 0, MAX_PAYLOAD, 0);
        assertThat(assembler.plan(header, 100)).isTrue();
        message(Procedure.RDMA_MSG).readList().add(44, 0, MAX_PAYLOAD + 4, 0);
        assertThat(assembler.plan(header, 100)).isFalse();
        message(Procedure.RDMA_MSG);
        for (int i = 0; i < 64; i++) {
            header.readList().add(44, i, 0xFFFF_FFFFL, 0);
        }
        assertThat(assembler.plan(header, 100)).isFalse();
        message(Procedure.RDMA_NOMSG).readList().add(0, 0, 0xFFFF_FFFFL, 0);
        assertThat(assembler.plan(header, 0)).isFalse();
    }

    @Test
    void puttingTogetherUndoesAnyCuttingIntoChunks() {
        long seed = Long.getLong("rpcrdma.seed", System.nanoTime());
        int seeds = Integer.getInteger("rpcrdma.seeds", 300);
        for (int round = 0; round < seeds; round++) {
            SplittableRandom random = new SplittableRandom(seed + round);
            assertThat(cutAndAssemble(random)).as("seed %d", seed + round).isTrue();
        }
    }

    private boolean cutAndAssemble(SplittableRandom random) {
        byte[] stream = new byte[64 + 4 * random.nextInt(500)];
        random.nextBytes(stream);
        boolean noMessage = random.nextBoolean();
        message(noMessage ? Procedure.RDMA_NOMSG : Procedure.RDMA_MSG);
        ByteArrayOutputStream base = new ByteArrayOutputStream();
        List<byte[]> sources = new ArrayList<>();
        List<int[]> entries = new ArrayList<>();
        int at = 40;
        base.write(stream, 0, 40);
        for (int chunks = random.nextInt(4); chunks > 0 && at + 8 < stream.length; chunks--) {
            int gap = 4 * random.nextInt((stream.length - at) / 8 + 1);
            base.write(stream, at, gap);
            at += gap;
            int length = 1 + random.nextInt(Math.min(200, stream.length - at));
            int padded = (length + 3) & ~3;
            Arrays.fill(stream, at + length, Math.min(stream.length, at + padded), (byte) 0);
            int sent = random.nextBoolean() ? padded : length;
            cut(random, Arrays.copyOfRange(stream, at, at + sent), at, sources, entries);
            at += padded;
        }
        base.write(stream, at, stream.length - at);
        if (noMessage) {
            cut(random, base.toByteArray(), 0, sources, entries);
        }
        // Any order of chunks, that of a chunk's segments kept.
        while (!entries.isEmpty()) {
            int[] entry = entries.get(random.nextInt(entries.size()));
            int position = entry[0];
            int[] first =
                    entries.stream().filter(e -> e[0] == position).findFirst().orElseThrow();
            entries.remove(first);
            header.readList().add(first[0], first[1], sources.get(first[1]).length, first[1]);
        }
        byte[] inline = noMessage ? new byte[0] : base.toByteArray();
        return assembler.plan(header, inline.length)
                && Arrays.equals(assemble(inline, sources.toArray(byte[][]::new)), stream);
    }

    private static void cut(
            SplittableRandom random, byte[] chunk, int position, List<byte[]> sources, List<int[]> entries) {
        int at = 0;
        do {
            int length = random.nextInt(chunk.length - at + 1);
            if (random.nextInt(3) == 0) {
                length = chunk.length - at;
            }
            entries.add(new int[] {position, sources.size()});
            sources.add(Arrays.copyOfRange(chunk, at, at + length));
            at += length;
        } while (at < chunk.length);
    }
}
