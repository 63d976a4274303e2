// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Segments, Read list and Write list as their owners use them. */
class ChunkListTest {
    private final Segments segments = new Segments();
    private final ReadList readList = new ReadList();
    private final WriteList writeList = new WriteList();

    @Test
    void segmentsGrowAndKeepTheirValues() {
        for (int i = 0; i < 100; i++) {
            segments.add(-i, 0xffffff00L + i, -1L - i);
        }

        assertThat(segments.size()).isEqualTo(100);
        for (int i = 0; i < 100; i++) {
            assertThat(segments.handle(i)).isEqualTo(-i);
            assertThat(segments.length(i)).isEqualTo(0xffffff00L + i);
            assertThat(segments.offset(i)).isEqualTo(-1L - i);
        }
        assertThat(segments.totalLength()).isEqualTo(100 * 0xffffff00L + 99 * 50);
        segments.clear();
        assertThat(segments.size()).isZero();
        assertThat(segments.totalLength()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 0x1_0000_0000L, Long.MAX_VALUE, Long.MIN_VALUE})
    void aLengthHas32Bits(long length) {
        assertThatThrownBy(() -> segments.add(1, length, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThat(segments.size()).isZero();
        segments.add(1, 0xffffffffL, 0);
        assertThatThrownBy(() -> segments.setLength(0, length)).isInstanceOf(IllegalArgumentException.class);
        assertThat(segments.length(0)).isEqualTo(0xffffffffL);
    }

    @Test
    void segmentsThatAreNotThereAreNotRead() {
        segments.add(1, 2, 3);
        for (int index : new int[] {-1, 1, 2, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> segments.handle(index)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> segments.length(index)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> segments.offset(index)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> segments.setLength(index, 0)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> readList.position(index)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> writeList.firstSegment(index)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> writeList.segmentCount(index)).isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> segments.totalLength(0, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> segments.totalLength(1, Integer.MAX_VALUE))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> segments.fill(-1, 1, 5)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    /** RFC 8166, Section 3.4.6. */
    @ParameterizedTest
    @CsvSource({
        "0, 0, 0, 0, 0",
        "1, 1, 0, 0, 0",
        "100, 100, 0, 0, 0",
        "101, 100, 1, 0, 0",
        "107, 100, 7, 0, 0",
        "108, 100, 7, 1, 0",
        "5107, 100, 7, 5000, 0",
        "5110, 100, 7, 5000, 3"
    })
    void aChunkIsFilledInOrderWithoutGaps(long bytes, long first, long second, long third, long left) {
        writeList.beginChunk();
        writeList.addSegment(9, 50, 9);
        writeList.beginChunk();
        writeList.addSegment(1, 100, 10);
        writeList.addSegment(2, 7, 20);
        writeList.addSegment(3, 5000, 30);

        assertThat(writeList.fillChunk(1, bytes)).isEqualTo(left);
        assertThat(writeList)
                .hasToString("[[00000009+50@0000000000000009] [00000001+"
                        + first + "@000000000000000a 00000002+" + second + "@0000000000000014 00000003+" + third
                        + "@000000000000001e]]");
        assertThat(writeList.chunkLength(1)).isEqualTo(bytes - left);
    }

    @Property(tries = 1000)
    void whatWasFilledIsAReturn(
            @ForAll @Size(min = 1, max = 16) List<@LongRange(max = 0xffffffffL) Long> lengths,
            @ForAll @LongRange(max = 0xffffffffffL) long bytes) {
        Segments offered = new Segments();
        lengths.forEach(length -> offered.add(length.hashCode(), length, length * 5));
        Segments returned = new Segments();
        returned.copyFrom(offered);

        long left = returned.fill(0, returned.size(), bytes);

        assertThat(returned.totalLength()).isEqualTo(bytes - left);
        assertThat(left).isEqualTo(Math.max(0, bytes - offered.totalLength()));
        assertThat(returned.isReturnOf(offered)).isTrue();
    }

    @Test
    void aReturnHasTheSameTargetsNoGapsAndNoMoreBytes() {
        Segments offered = new Segments();
        offered.add(1, 100, 10);
        offered.add(2, 7, 20);
        assertThat(isReturn(offered, 1, 100, 10, 2, 7, 20)).isTrue();
        assertThat(isReturn(offered, 1, 100, 10, 2, 0, 20)).isTrue();
        assertThat(isReturn(offered, 1, 0, 10, 2, 0, 20)).isTrue();
        assertThat(isReturn(offered, 1, 99, 10, 2, 0, 20)).isTrue();

        assertThat(isReturn(offered, 1, 99, 10, 2, 1, 20)).as("gap").isFalse();
        assertThat(isReturn(offered, 1, 101, 10, 2, 0, 20)).as("too long").isFalse();
        assertThat(isReturn(offered, 1, 100, 10, 2, 8, 20)).as("too long").isFalse();
        assertThat(isReturn(offered, 1, 0xffffffffL, 10, 2, 7, 20))
                .as("too long")
                .isFalse();
        assertThat(isReturn(offered, 3, 100, 10, 2, 7, 20)).as("handle").isFalse();
        assertThat(isReturn(offered, 1, 100, 10, 1, 7, 20)).as("handle").isFalse();
        assertThat(isReturn(offered, 1, 100, 11, 2, 7, 20)).as("offset").isFalse();
        segments.add(3, 0, 0);
        assertThat(segments.isReturnOf(offered)).as("one more").isFalse();
        assertThat(new Segments().isReturnOf(offered)).as("none").isFalse();
    }

    private boolean isReturn(
            Segments offered, int handle1, long length1, long at1, int handle2, long length2, long at2) {
        segments.clear();
        segments.add(handle1, length1, at1);
        segments.add(handle2, length2, at2);
        return segments.isReturnOf(offered);
    }

    @Test
    void aReturnedWriteListHasTheSameChunks() {
        WriteList offered = new WriteList();
        offered.beginChunk();
        offered.addSegment(1, 100, 10);
        offered.addSegment(2, 100, 20);
        offered.beginChunk();
        offered.addSegment(3, 100, 30);
        writeList.copyFrom(offered);
        assertThat(writeList.isReturnOf(offered)).isTrue();

        writeList.clear();
        writeList.beginChunk();
        writeList.beginChunk();
        writeList.addSegment(3, 5, 30);
        assertThat(writeList.isReturnOf(offered)).as("first one empty").isTrue();
        writeList.beginChunk();
        assertThat(writeList.isReturnOf(offered)).as("one more").isFalse();

        writeList.clear();
        writeList.beginChunk();
        writeList.addSegment(1, 100, 10);
        writeList.beginChunk();
        writeList.addSegment(3, 5, 30);
        assertThat(writeList.isReturnOf(offered)).as("a segment less").isFalse();

        writeList.clear();
        writeList.beginChunk();
        writeList.addSegment(3, 100, 30);
        writeList.beginChunk();
        writeList.addSegment(1, 100, 10);
        assertThat(writeList.isReturnOf(offered)).as("exchanged").isFalse();
        assertThat(new WriteList().isReturnOf(offered)).as("none").isFalse();
    }

    @Test
    void aWriteListOfManyChunksKeepsThem() {
        for (int chunk = 0; chunk < 20; chunk++) {
            writeList.beginChunk();
            for (int i = 0; i < chunk % 4; i++) {
                writeList.addSegment(chunk, i, chunk * 100L + i);
            }
        }
        WriteList copy = new WriteList();
        copy.copyFrom(writeList);

        assertThat(copy).hasToString(writeList.toString());
        assertThat(copy.chunks()).isEqualTo(20);
        for (int chunk = 0; chunk < 20; chunk++) {
            assertThat(copy.segmentCount(chunk)).isEqualTo(chunk % 4);
            assertThat(copy.chunkLength(chunk)).isEqualTo(new int[] {0, 0, 1, 3}[chunk % 4]);
        }
    }

    @Test
    void aSegmentNeedsAChunk() {
        assertThatThrownBy(() -> writeList.addSegment(1, 2, 3)).isInstanceOf(IllegalStateException.class);
    }

    /** RFC 8166, Section 3.4.5. */
    @Test
    void positionsAreMultiplesOfFour() {
        for (int position : new int[] {1, 2, 3, 141, -1, -2, -3, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> readList.add(position, 1, 2, 3)).isInstanceOf(IllegalArgumentException.class);
            assertThat(ReadList.isAligned(position)).isFalse();
        }
        assertThat(readList.isEmpty()).isTrue();
        readList.add(0xfffffffc, 1, 2, 3);
        assertThat(readList).hasToString("[4294967292:00000001+2@0000000000000003]");
    }

    @Property(tries = 1000)
    void sortingKeepsTheOrderWithinAChunk(@ForAll @Size(max = 40) List<@IntRange(min = -4, max = 4) Integer> places) {
        ReadList list = new ReadList();
        List<List<Integer>> expected = new ArrayList<>();
        for (int i = 0; i < places.size(); i++) {
            list.add(places.get(i) * 4, i, 1000L + i, -i);
            expected.add(List.of(places.get(i) * 4, i));
        }
        ReadList copy = new ReadList();
        copy.copyFrom(list);
        copy.sortByPosition();
        expected.sort(Comparator.comparingLong(entry -> Integer.toUnsignedLong(entry.get(0))));

        assertThat(copy.size()).isEqualTo(expected.size());
        for (int i = 0; i < copy.size(); i++) {
            assertThat(List.of(copy.position(i), copy.segments().handle(i))).isEqualTo(expected.get(i));
            assertThat(copy.segments().length(i))
                    .isEqualTo(1000L + copy.segments().handle(i));
            assertThat(copy.segments().offset(i)).isEqualTo(-copy.segments().handle(i));
        }
        assertThat(copy.hasPositionZeroChunk()).isEqualTo(places.contains(0));
        int chunks = 0;
        for (int i = 0; i < copy.size(); i = copy.endOfChunk(i)) {
            chunks++;
        }
        assertThat(chunks).isEqualTo((int) places.stream().distinct().count());
    }
}
