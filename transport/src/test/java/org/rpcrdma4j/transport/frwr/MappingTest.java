// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MappingLedger;

/** From a chunk's pieces to segments, before anything is posted. */
@ParameterizedClass
@EnumSource(Network.class)
class MappingTest {

    private static final int PAGE = 4096;

    private final SwitchedFaults faults = new SwitchedFaults();
    private final Arena arena = Arena.ofShared();
    private Rig rig;
    private Caller caller;

    MappingTest(Network network) {
        rig = Scene.openRig(network, faults);
        caller = Caller.open(rig, 4);
    }

    /** Makes the device so, if it is a simulated one. */
    private void use(SimulationOptions options, int pagesPerRegion) {
        if (!rig.isSimulated()) {
            return;
        }
        caller.close();
        rig.close();
        rig = new SimulatedRig(1, options.withFaults(faults), SimulationOptions.DEFAULT);
        caller = Caller.open(rig, pagesPerRegion);
    }

    @AfterEach
    void giveBack() {
        caller.close();
        rig.close();
        arena.close();
    }

    private MemorySegment pages(int count) {
        return arena.allocate((long) count * PAGE, PAGE);
    }

    private static long bytes(RegionList list) {
        long sum = 0;
        for (int i = 0; i < list.size(); i++) {
            sum += list.length(i);
        }
        return sum;
    }

    @Test
    void aPieceLongerThanAPageListIsDividedAtPageEnds() {
        caller.connected(1);
        TestCall call = caller.newCall(1);
        MemorySegment memory = pages(10).asSlice(100, 9 * PAGE);
        assertThat(call.map(List.of(memory), PeerAccess.WRITE)).isEqualTo(new MapResult.Mapped(3));
        assertThat(call.list.length(0)).isEqualTo(4 * PAGE - 100);
        assertThat(call.list.length(1)).isEqualTo(4 * PAGE);
        assertThat(call.list.length(2)).isEqualTo(PAGE + 100);
    }

    @Test
    void emptyPiecesArePassedOver() {
        caller.connected(1);
        TestCall call = caller.newCall(1);
        MemorySegment page = pages(1);
        List<MemorySegment> pieces =
                List.of(page.asSlice(0, 0), page.asSlice(0, 10), page.asSlice(10, 0), page.asSlice(20, 30));
        assertThat(call.map(pieces, PeerAccess.READ)).isEqualTo(new MapResult.Mapped(1));
        assertThat(call.list.length(0)).isEqualTo(40);
        assertThat(caller.newCall(2).map(List.of(), PeerAccess.READ)).isEqualTo(new MapResult.Mapped(0));
        assertThat(caller.newCall(3).map(List.of(page.asSlice(0, 0)), PeerAccess.READ))
                .isEqualTo(new MapResult.Mapped(0));
    }

    /** F21: with gaps, any pieces within the page list are one region. */
    @Test
    void onADeviceWithGapsThreePartsAreOneRegion() {
        caller.connected(1);
        TestCall call = caller.newCall(1);
        List<MemorySegment> pieces =
                List.of(pages(1).asSlice(17, 100), pages(2).asSlice(0, PAGE + 3), pages(1).asSlice(1, 2));
        assertThat(call.map(pieces, PeerAccess.WRITE)).isEqualTo(new MapResult.Mapped(1));
        assertThat(call.list.length(0)).isEqualTo(100 + PAGE + 3 + 2);
    }

    /** F21: without gaps, the hole rule divides, and what is divided is the same bytes; so it is with gaps, where the length divides. */
    @Test
    void withoutGapsRegionsFollowTheHoleRuleAndLoseNoByte() {
        use(SimulationOptions.DEFAULT.withFastRegistration(4, false, true), 4);
        caller.connected(16);
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 500; round++) {
            List<MemorySegment> pieces = randomPieces(random);
            long total = pieces.stream().mapToLong(MemorySegment::byteSize).sum();
            TestCall call = caller.newCall(round);
            MapResult result = call.map(pieces, PeerAccess.READ);
            if (result.isMapped()) {
                assertThat(bytes(call.list)).as("round %d", round).isEqualTo(total);
                if (!rig.clientDevice().attributes().gapsAllowed()) {
                    checkHoleRule(pieces, call.list);
                }
            } else {
                assertThat(result).isEqualTo(new MapResult.TooManySegments(7));
                assertThat(call.list.isEmpty()).isTrue();
            }
            caller.monitor.run(() -> {
                caller.registrar.unmap(call.list);
                caller.registrar.idle(call.list);
            });
        }
    }

    private List<MemorySegment> randomPieces(SplittableRandom random) {
        List<MemorySegment> pieces = new ArrayList<>();
        int count = random.nextInt(1, 5);
        for (int i = 0; i < count; i++) {
            MemorySegment memory = pages(6);
            long begin = random.nextBoolean() ? 0 : random.nextInt(2 * PAGE);
            long end = random.nextBoolean() ? 4 * PAGE : random.nextLong(begin + 1, 6 * PAGE);
            pieces.add(memory.asSlice(begin, end - begin));
        }
        return pieces;
    }

    /** Where one region ends and the next begins within a piece, it is at a page's end; within a region there are no holes. */
    private static void checkHoleRule(List<MemorySegment> pieces, RegionList list) {
        Set<Long> ends = new HashSet<>();
        long at = 0;
        for (int i = 0; i < list.size(); i++) {
            at += list.length(i);
            ends.add(at);
        }
        at = 0;
        for (int i = 0; i < pieces.size() - 1; i++) {
            at += pieces.get(i).byteSize();
            long end = pieces.get(i).address() + pieces.get(i).byteSize();
            long begin = pieces.get(i + 1).address();
            if (end % PAGE != 0 || begin % PAGE != 0) {
                assertThat(ends)
                        .as("a region ends at the hole after %d bytes", at)
                        .contains(at);
            }
        }
    }

    /** F9: the simulated device merges pieces that touch; leases are counted in pieces, taken and given back alike. */
    @Test
    void aDeviceThatMergesPiecesGetsBackAsManyAsItTook() {
        use(SimulationOptions.DEFAULT.withMergedPieces(true), 4);
        caller.connected(1);
        MemorySegment memory = pages(2);
        List<MemorySegment> pieces =
                List.of(memory.asSlice(0, 100), memory.asSlice(100, 200), memory.asSlice(300, 5000));
        MappingLedger before = rig.clientDevice().ledger();
        TestCall call = caller.newCall(1);
        assertThat(call.map(pieces, PeerAccess.READ)).isEqualTo(new MapResult.Mapped(1));
        assertThat(rig.clientDevice().ledger().maps() - before.maps()).isEqualTo(3);
        caller.monitor.run(() -> caller.registrar.unmap(call.list));
        assertThat(rig.clientDevice().ledger().unmaps() - before.unmaps()).isEqualTo(3);
        assertThat(rig.clientDevice().ledger().mappedBytes()).isEqualTo(before.mappedBytes());
    }

    /** F20. */
    @Test
    void theUpperHalfOfAnOffsetIsTheXidAndNoSegmentLeavesIt() {
        caller.connected(1);
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 200; i++) {
            int xid = random.nextInt();
            TestCall call = caller.newCall(xid);
            call.map(List.of(pages(7).asSlice(random.nextInt(PAGE), 5 * PAGE)), PeerAccess.WRITE);
            for (int k = 0; k < call.list.size(); k++) {
                assertThat((int) (call.list.offset(k) >>> 32)).isEqualTo(xid);
                assertThat((int) ((call.list.offset(k) + call.list.length(k)) >>> 32))
                        .isEqualTo(xid);
            }
            caller.monitor.run(() -> {
                caller.registrar.unmap(call.list);
                caller.registrar.idle(call.list);
            });
        }
    }

    /** F20. */
    @Test
    void anOffsetThatWouldCarryIntoTheXidKeepsOnlyItsPlaceInThePage() {
        assertThat(RegionMapper.wishedAddress(0x7F12_3456_7123L, PAGE, PAGE, 0x89AB_CDEF))
                .isEqualTo(0x89AB_CDEF_3456_7123L);
        assertThat(RegionMapper.wishedAddress(0x7F12_FFFF_F123L, PAGE - 0x124, PAGE, -1))
                .isEqualTo(0xFFFF_FFFF_FFFF_F123L);
        assertThat(RegionMapper.wishedAddress(0x7F12_FFFF_F123L, PAGE - 0x123, PAGE, -1))
                .isEqualTo(0xFFFF_FFFF_0000_0123L);
    }

    /** F20, R8166-8.1.2-1: the key changes with each use, its index does not. */
    @Test
    void eachUseOfARegionHasTheNextKey() {
        caller.connected(1);
        Map<Integer, Integer> lastKeys = new HashMap<>();
        MemorySegment memory = pages(1);
        TestCall call = caller.newCall(1);
        for (int i = 0; i < 600; i++) {
            call.map(List.of(memory), PeerAccess.WRITE);
            Region region = call.list.region(0);
            Integer last = lastKeys.put(region.index(), region.handle());
            if (last != null) {
                assertThat(region.handle() >>> 8).isEqualTo(last >>> 8);
                assertThat(region.handle() & 0xFF).isEqualTo((last + 1) & 0xFF);
            }
            caller.monitor.run(() -> caller.registrar.unmap(call.list));
        }
    }

    /** F20: the pool is a row, so that all other regions are used before one is used again. */
    @Test
    void regionsAreUsedInTurn() {
        caller.connected(8);
        Set<Integer> seen = new HashSet<>();
        MemorySegment memory = pages(1);
        int regions = caller.pool.available();
        for (int i = 0; i < regions; i++) {
            TestCall call = caller.newCall(i);
            call.map(List.of(memory), PeerAccess.WRITE);
            assertThat(seen.add(call.list.region(0).index())).isTrue();
            caller.monitor.run(() -> {
                caller.registrar.unmap(call.list);
                caller.registrar.idle(call.list);
            });
        }
    }

    /** R8166-8.1.3-1. */
    @Test
    void thePeerMayReadOrWriteNeverBoth() {
        assertThat(PeerAccess.READ.access()).isEqualTo(Access.REMOTE_READ);
        assertThat(PeerAccess.WRITE.access()).isEqualTo(Access.REMOTE_WRITE);
    }

    /** F15. */
    @Test
    void aCallThatIsNotMarshalledPostsNothingAndKeepsNoRegion() {
        caller.connected(8);
        long posted = rig.clientDevice().counters().getOrDefault("posted", 0L);
        TestCall call = caller.newCall(1);
        assertThat(call.map(List.of(pages(4)), PeerAccess.READ)).isEqualTo(new MapResult.Mapped(1));
        assertThat(call.map(List.of(pages(60)), PeerAccess.WRITE)).isEqualTo(new MapResult.TooManySegments(7));
        assertThat(call.list.isEmpty()).isTrue();
        rig.settle();
        assertThat(rig.clientDevice().counters().getOrDefault("posted", 0L)).isEqualTo(posted);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        caller.checkInvariants();
    }

    /** F26. */
    @Test
    void aDeviceThatCannotMapCostsNoDeregistration() {
        caller.connected(8);
        long regions = rig.clientDevice().ledger().regions();
        TestCall call = caller.newCall(1);
        for (int refusedMap = 1; refusedMap <= 3; refusedMap++) {
            assertThat(call.map(List.of(pages(1)), PeerAccess.READ)).isEqualTo(new MapResult.Mapped(1));
            faults.refuseNext(FaultPlan.Resource.MAP, 1);
            assertThat(call.map(List.of(pages(8)), PeerAccess.READ)).isInstanceOf(MapResult.Failed.class);
            assertThat(call.list.isEmpty()).isTrue();
            caller.checkInvariants();
        }
        rig.settle();
        assertThat(caller.count(ClientCounter.REGION_MAP_FAILURES)).isEqualTo(3);
        assertThat(caller.count(ClientCounter.REGIONS_RECOVERED)).isZero();
        assertThat(rig.clientDevice().ledger().regions()).isEqualTo(regions);
        assertThat(call.map(List.of(pages(8)), PeerAccess.READ)).isEqualTo(new MapResult.Mapped(2));
    }

    /** U77. */
    @Test
    void memoryThatCannotBeRegisteredIsRefusedBeforeAnythingIsPosted() {
        caller.connected(4);
        TestCall call = caller.newCall(1);
        MemorySegment page = pages(1);
        MemorySegment freed;
        try (Arena gone = Arena.ofShared()) {
            freed = gone.allocate(PAGE);
        }
        assertThat(call.map(List.of(page, MemorySegment.ofArray(new byte[8])), PeerAccess.READ))
                .isEqualTo(new MapResult.Failed("piece 1 of 2 is not native memory"));
        assertThat(call.map(List.of(freed), PeerAccess.READ)).isEqualTo(new MapResult.Failed("piece 0 of 1 was freed"));
        assertThat(call.map(List.of(page.asReadOnly()), PeerAccess.WRITE))
                .isEqualTo(new MapResult.Failed("piece 0 of 1 is read-only, but the peer is to write it"));
        assertThat(call.map(List.of(page.asReadOnly()), PeerAccess.READ)).isEqualTo(new MapResult.Mapped(1));
        try (Arena confined = Arena.ofConfined()) {
            TestCall other = caller.newCall(2);
            assertThat(other.map(List.of(confined.allocate(8)), PeerAccess.READ))
                    .isInstanceOf(MapResult.Failed.class);
        }
        assertThat(caller.posted).isEmpty();
        caller.checkInvariants();
    }

    @Test
    void nothingIsMappedOnceTheConnectionIsEnding() {
        caller.connected(4);
        caller.monitor.run(caller.registrar::connectionEnding);
        assertThat(caller.newCall(1).map(List.of(pages(1)), PeerAccess.READ)).isInstanceOf(MapResult.Ending.class);
    }
}
