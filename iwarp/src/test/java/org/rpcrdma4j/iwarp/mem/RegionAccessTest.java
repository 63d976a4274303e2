// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.verbs.Access;

/** The access check against a model of its own in unbounded numbers, and byte-exact writes. */
class RegionAccessTest {
    private static final BigInteger SPACE = BigInteger.ONE.shiftLeft(64);
    private static final int QUEUE_PAIR = 7;
    private static final int OTHER_QUEUE_PAIR = 8;
    private static final List<AccessKind> KINDS = List.of(AccessKind.values());
    private static final List<Access> RIGHTS = List.of(
            Access.LOCAL_READ,
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_READ_WRITE,
            new Access(true, true, false));

    private final CountingDomain domain = new CountingDomain();
    private final CountingDomain otherDomain = new CountingDomain();
    private final Leases leases = new Leases();

    private SoftFastRegion region(long seed, List<MemorySegment> pieces, long base, Access access, int scope) {
        StagTable table = new StagTable(new SplittableRandom(seed)::nextInt, 4);
        SoftFastRegion region = SoftFastRegion.allocate(domain, table, leases, 4096, 4096);
        assertThat(region.map(pieces, base)).isEqualTo(pieces.size());
        region.claim();
        assertThat(region.open(region.advanceKey(), access, domain, scope)).isNull();
        return region;
    }

    /** What the RFCs say, in the order in which the device tries. */
    private static AccessFault expected(
            AccessKind kind, Access access, boolean ours, boolean inScope, long base, long size, long to, long bytes) {
        if (!ours || !inScope) {
            return AccessFault.OTHER_STREAM;
        }
        boolean allowed = switch (kind) {
            case LOCAL_READ -> true;
            case LOCAL_WRITE -> access.localWrite();
            case REMOTE_READ -> access.remoteRead();
            case REMOTE_WRITE -> access.remoteWrite();
        };
        if (!allowed) {
            return AccessFault.NO_RIGHT;
        }
        BigInteger first = unsigned(to);
        BigInteger behind = first.add(BigInteger.valueOf(bytes));
        if (behind.compareTo(SPACE) > 0) {
            return AccessFault.WRAP;
        }
        BigInteger start = unsigned(base);
        // A region whose own range wraps is addressed modulo 2^64.
        BigInteger offset = first.subtract(start).mod(SPACE);
        return offset.add(BigInteger.valueOf(bytes)).compareTo(BigInteger.valueOf(size)) <= 0
                ? AccessFault.NONE
                : AccessFault.OUT_OF_BOUNDS;
    }

    private static BigInteger unsigned(long value) {
        return value >= 0
                ? BigInteger.valueOf(value)
                : BigInteger.valueOf(value).add(SPACE);
    }

    private static long somewhere(SplittableRandom random, long base, long size) {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextLong();
            case 1 -> -random.nextInt(20);
            case 2 -> base + size - random.nextInt(20);
            case 3 -> base + size + random.nextInt(20);
            case 4 -> base - random.nextInt(20);
            default -> base + random.nextLong(size);
        };
    }

    private static long someLength(SplittableRandom random, long size) {
        return switch (random.nextInt(5)) {
            case 0 -> 0;
            case 1 -> size;
            case 2 -> random.nextInt(20);
            case 3 -> random.nextLong(1L << 32);
            default -> random.nextLong(size + 2);
        };
    }

    @Property(tries = 3000)
    void theCheckAgreesWithTheModel(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 5000) int size, @ForAll boolean nearTheEnd) {
        SplittableRandom random = new SplittableRandom(seed);
        long base = nearTheEnd ? -random.nextLong(2L * size) : random.nextLong();
        Access access = RIGHTS.get(random.nextInt(RIGHTS.size()));
        int scope = random.nextBoolean() ? Region.DOMAIN_WIDE : QUEUE_PAIR;
        try (Arena arena = Arena.ofShared()) {
            SoftFastRegion region = region(seed, List.of(arena.allocate(size)), base, access, scope);
            int stag = region.remoteKey();
            for (int i = 0; i < 40; i++) {
                AccessKind kind = KINDS.get(random.nextInt(KINDS.size()));
                boolean ours = random.nextInt(8) > 0;
                int caller = random.nextInt(8) > 0 ? QUEUE_PAIR : OTHER_QUEUE_PAIR;
                long to = somewhere(random, base, size);
                long bytes = someLength(random, size);
                AccessFault found = region.enter(stag, kind, ours ? domain : otherDomain, caller, to, bytes);
                if (found == AccessFault.NONE) {
                    region.leave();
                }
                boolean inScope = scope == Region.DOMAIN_WIDE || caller == QUEUE_PAIR;
                assertThat(found)
                        .as(
                                "%s of %d at %s, region of %d at %s, %s",
                                kind, bytes, unsigned(to), size, unsigned(base), access)
                        .isEqualTo(expected(kind, access, ours, inScope, base, size, to, bytes));
            }
            region.close();
        }
    }

    @ParameterizedTest(name = "base {0}, size {1}, TO {2}, {3} bytes: {4}")
    @CsvSource({
        "1000, 16, 999, 1, OUT_OF_BOUNDS",
        "1000, 16, 1000, 16, NONE",
        "1000, 16, 1015, 1, NONE",
        "1000, 16, 1016, 1, OUT_OF_BOUNDS",
        "1000, 16, 1016, 0, NONE",
        "1000, 16, 1001, 16, OUT_OF_BOUNDS",
        "-16, 16, -16, 16, NONE",
        "-16, 16, -8, 8, NONE",
        "-16, 16, -4, 8, WRAP",
        "-16, 16, -1, 1, NONE",
        "-16, 16, 0, 1, OUT_OF_BOUNDS",
        "-32, 16, -4, 8, WRAP",
        "0, 16, 0, 4294967295, OUT_OF_BOUNDS",
        "-9223372036854775808, 16, -9223372036854775800, 8, NONE",
        "-9223372036854775808, 16, 9223372036854775807, 1, OUT_OF_BOUNDS"
    })
    void tosAreUnsignedAndDoNotWrap(long base, int size, long to, long bytes, AccessFault fault) {
        try (Arena arena = Arena.ofShared()) {
            SoftFastRegion region =
                    region(1, List.of(arena.allocate(size)), base, Access.REMOTE_READ_WRITE, QUEUE_PAIR);
            for (AccessKind kind : AccessKind.values()) {
                assertThat(region.enter(region.remoteKey(), kind, domain, QUEUE_PAIR, to, bytes))
                        .isEqualTo(fault);
            }
        }
    }

    @Test
    void everyOtherKeyOfTheIndexIsRefusedAndSoIsAClosedRegion() {
        try (Arena arena = Arena.ofShared()) {
            SoftFastRegion region = region(3, List.of(arena.allocate(64)), 0, Access.REMOTE_WRITE, QUEUE_PAIR);
            int stag = region.remoteKey();
            for (int key = 0; key < 256; key++) {
                int tried = (stag & StagTable.INDEX_MASK) | key;
                AccessFault fault = region.enter(tried, AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, 0, 1);
                assertThat(fault).isEqualTo(tried == stag ? AccessFault.NONE : AccessFault.INVALID_STAG);
                assertThat(region.reenter(tried)).isEqualTo(tried == stag);
            }
            region.leave();
            region.leave();
            region.close();
            assertThat(region.enter(stag, AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, 0, 0))
                    .isEqualTo(AccessFault.INVALID_STAG);
            assertThat(region.reenter(stag)).isFalse();
        }
    }

    @Property(tries = 150)
    void writesLandByteForByteInPiecesAndNowhereElse(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 300) int count) {
        SplittableRandom random = new SplittableRandom(seed);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment all = arena.allocate(count * 80L + 16);
            byte[] model = new byte[(int) all.byteSize()];
            List<MemorySegment> pieces = new ArrayList<>();
            List<Integer> addresses = new ArrayList<>();
            int at = 0;
            for (int i = 0; i < count; i++) {
                at += random.nextInt(8);
                int size = 1 + random.nextInt(random.nextBoolean() ? 3 : 70);
                pieces.add(all.asSlice(at, size));
                for (int b = 0; b < size; b++) {
                    addresses.add(at + b);
                }
                at += size;
            }
            shuffleSome(random, pieces, addresses);
            SoftFastRegion region = region(
                    seed,
                    pieces,
                    random.nextLong(Long.MIN_VALUE, Long.MAX_VALUE - (1L << 32)),
                    Access.REMOTE_WRITE,
                    QUEUE_PAIR);
            assertThat(region.length()).isEqualTo(addresses.size());
            for (int round = 0; round < 30; round++) {
                writeOnce(random, arena, region, model, addresses);
            }
            assertThat(all.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(model);
            region.close();
        }
    }

    /** Pieces need not be in the order of their addresses: half of the time the two halves change places. */
    private static void shuffleSome(SplittableRandom random, List<MemorySegment> pieces, List<Integer> addresses) {
        if (random.nextBoolean()) {
            MemorySegment first = pieces.removeFirst();
            pieces.add(first);
            for (long i = 0; i < first.byteSize(); i++) {
                addresses.add(addresses.removeFirst());
            }
        }
    }

    private void writeOnce(
            SplittableRandom random, Arena arena, SoftFastRegion region, byte[] model, List<Integer> addresses) {
        int from = random.nextInt(addresses.size() + 1);
        int length = random.nextInt(addresses.size() - from + 1);
        MemorySegment source = arena.allocate(length + 5L);
        long skip = random.nextInt(5);
        for (int i = 0; i < length; i++) {
            byte value = (byte) random.nextInt();
            source.set(ValueLayout.JAVA_BYTE, skip + i, value);
            model[addresses.get(from + i)] = value;
        }
        long to = region.remoteAddress() + from;
        AccessFault fault = region.enter(region.remoteKey(), AccessKind.REMOTE_WRITE, domain, QUEUE_PAIR, to, length);
        assertThat(fault).isEqualTo(AccessFault.NONE);
        region.write(region.offsetOf(to), source, skip, length);
        region.leave();
        if (length > 0) {
            int piece = region.pieceAt(from);
            assertThat(region.pieceStart(piece)).isLessThanOrEqualTo(from);
            assertThat(region.pieceStart(piece) + region.piece(piece).byteSize())
                    .isGreaterThan(from);
        }
    }
}
