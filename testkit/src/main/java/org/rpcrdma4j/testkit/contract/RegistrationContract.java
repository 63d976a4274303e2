// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/** Regions, what may be registered, and the account of it. */
abstract class RegistrationContract extends ContractCase {

    private static final int PAGE = 4096;

    private ProtectionDomain domain() {
        return own(device.client().allocateProtectionDomain());
    }

    private FastRegion fastRegion(int maxPages) {
        requireFastRegistration();
        return own(domain().allocateFastRegion(maxPages));
    }

    private static Arena arena() {
        return Arena.ofAuto();
    }

    @Test
    void refusesMemoryThatCannotBeRegistered() {
        ProtectionDomain domain = domain();
        MemorySegment closed;
        try (Arena shortLived = Arena.ofShared()) {
            closed = shortLived.allocate(64);
        }
        try (Arena confined = Arena.ofConfined()) {
            for (MemorySegment bad : List.of(
                    MemorySegment.ofArray(new byte[64]),
                    confined.allocate(64),
                    closed,
                    arena().allocate(64).asSlice(8, 0))) {
                assertThatIllegalArgumentException()
                        .as("%s", bad)
                        .isThrownBy(
                                () -> domain.register(bad, Access.LOCAL_READ).close());
            }
        }
    }

    @Test
    void refusesToMapMemoryThatCannotBeRegistered() {
        FastRegion region = fastRegion(4);
        MemorySegment good = arena().allocate(64);
        try (Arena confined = Arena.ofConfined()) {
            for (MemorySegment bad :
                    List.of(MemorySegment.ofArray(new byte[64]), confined.allocate(64), good.asSlice(8, 0))) {
                assertThatIllegalArgumentException().as("%s", bad).isThrownBy(() -> region.map(List.of(bad), 0));
            }
        }
        assertThat(device.client().ledger().mappedBytes()).isZero();
        assertThat(region.map(List.of(good), 0)).isEqualTo(1);
    }

    @Test
    void registersReadOnlyMemoryForReadingOnly() {
        ProtectionDomain domain = domain();
        MemorySegment readOnly = arena().allocate(64).asReadOnly();
        own(domain.register(readOnly, Access.LOCAL_READ));
        own(domain.register(readOnly, Access.REMOTE_READ));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.register(readOnly, Access.LOCAL_WRITE).close());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.register(readOnly, Access.REMOTE_WRITE).close());
    }

    @Test
    void aRegionTellsWhatItIs() {
        ProtectionDomain domain = domain();
        MemorySegment memory = arena().allocate(1000);
        MemoryRegion region = own(domain.register(memory, Access.REMOTE_READ));
        assertThat(region.length()).isEqualTo(1000);
        assertThat(region.access()).isEqualTo(Access.REMOTE_READ);
        assertThat(region.protectionDomain()).isSameAs(domain);
        assertThat(region.isValid()).isTrue();
        region.close();
        region.close();
        assertThat(region.isValid()).isFalse();
    }

    @Test
    void theLedgerCountsPiecesBytesAndRegions() {
        requireFastRegistration();
        ProtectionDomain domain = domain();
        MappingLedger before = device.client().ledger();
        MemoryRegion plain = own(domain.register(arena().allocate(100), Access.LOCAL_READ));
        FastRegion fast = own(domain.allocateFastRegion(4));
        MemorySegment two = arena().allocate(2 * PAGE, PAGE);
        assertThat(fast.map(List.of(two.asSlice(0, PAGE), two.asSlice(PAGE)), 0))
                .isEqualTo(2);
        MappingLedger full = device.client().ledger();
        assertThat(full.maps() - before.maps()).isEqualTo(3);
        assertThat(full.unmaps()).isEqualTo(before.unmaps());
        assertThat(full.mappedBytes()).isEqualTo(100 + 2 * PAGE);
        assertThat(full.regions()).isEqualTo(2);
        fast.unmap();
        assertThat(device.client().ledger().unmaps() - before.unmaps()).isEqualTo(2);
        assertThat(device.client().ledger().mappedBytes()).isEqualTo(100);
        fast.unmap();
        assertThat(device.client().ledger().unmaps() - before.unmaps()).isEqualTo(2);
        plain.close();
        fast.close();
        assertThat(device.client().ledger().isBalanced()).isTrue();
    }

    @Test
    void aFastRegionBeginsInvalidAndWithoutMemory() {
        FastRegion region = fastRegion(3);
        assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
        assertThat(region.isValid()).isFalse();
        assertThat(region.length()).isZero();
        assertThat(region.maxPages()).isEqualTo(3);
        region.unmap();
        MemorySegment memory = arena().allocate(100);
        assertThat(region.map(List.of(memory), 0)).isEqualTo(1);
        assertThat(region.length()).isEqualTo(100);
        assertThatIllegalStateException().isThrownBy(() -> region.map(List.of(memory), 0));
        region.close();
        assertThatIllegalStateException().isThrownBy(() -> region.map(List.of(memory), 0));
        region.close();
    }

    @Test
    void mapTakesTheRunThatThePageListHolds() {
        FastRegion region = fastRegion(3);
        int pageBytes = device.client().attributes().pageBytes();
        MemorySegment memory = arena().allocate(9L * pageBytes, pageBytes);
        List<MemorySegment> apart = List.of(
                memory.asSlice(0, pageBytes),
                memory.asSlice(2L * pageBytes, pageBytes),
                memory.asSlice(4L * pageBytes, pageBytes),
                memory.asSlice(6L * pageBytes, pageBytes));
        assertThat(region.map(apart, 0)).isEqualTo(3);
        assertThat(region.length()).isEqualTo(3L * pageBytes);
        region.unmap();
        assertThatIllegalArgumentException().isThrownBy(() -> region.map(List.of(memory), 0));
        assertThat(device.client().ledger().mappedBytes()).isZero();
    }

    @Test
    void withoutGapsMapKeepsTheHoleRule() {
        assumeThat(device.client().attributes().gapsAllowed()).isFalse();
        FastRegion region = fastRegion(8);
        int page = device.client().attributes().pageBytes();
        MemorySegment memory = arena().allocate(8L * page, page);
        MemorySegment endsOffPage = memory.asSlice(0, page + 10);
        assertThat(region.map(List.of(endsOffPage, memory.asSlice(3L * page, page)), 0))
                .as("the former ends off a page")
                .isEqualTo(1);
        region.unmap();
        assertThat(region.map(List.of(memory.asSlice(0, page), memory.asSlice(2L * page + 1, 5)), 0))
                .as("the latter begins off a page")
                .isEqualTo(1);
        region.unmap();
        assertThat(region.map(List.of(endsOffPage, memory.asSlice(page + 10L, 7), memory.asSlice(3L * page, 1)), 0))
                .as("the second begins where the first ends; the third does not")
                .isEqualTo(2);
    }

    @Test
    void withGapsMapTakesPiecesThatBeginAndEndAnywhere() {
        assumeThat(device.client().attributes().gapsAllowed()).isTrue();
        FastRegion region = fastRegion(8);
        MemorySegment memory = arena().allocate(8L * PAGE, PAGE);
        assertThat(region.map(
                        List.of(memory.asSlice(1, 10), memory.asSlice(5000, 3), memory.asSlice(3L * PAGE + 7, 9)), 0))
                .isEqualTo(3);
        assertThat(region.length()).isEqualTo(22);
    }

    @Test
    void mapHonoursTheRemoteAddressWhereItIsFree() {
        assumeThat(device.client().attributes().remoteAddressIsFree()).isTrue();
        FastRegion region = fastRegion(2);
        region.map(List.of(arena().allocate(10)), 0xFFFF_FFFF_0000_0010L);
        assertThat(region.remoteAddress()).isEqualTo(0xFFFF_FFFF_0000_0010L);
    }

    @Test
    void keysGoRoundIn256StepsAndKeepTheIndex() {
        FastRegion region = fastRegion(1);
        Set<Integer> keys = new HashSet<>();
        int last = region.advanceKey();
        keys.add(last);
        for (int i = 1; i < 256; i++) {
            int next = region.advanceKey();
            assertThat(next >>> 8).isEqualTo(last >>> 8);
            assertThat(next & 0xFF).isEqualTo((last + 1) & 0xFF);
            keys.add(next);
            last = next;
        }
        assertThat(keys).hasSize(256);
        assertThat(keys).contains(region.advanceKey());
    }

    @Test
    void aValidRegionIsNeitherMappedNorUnmapped() throws Exception {
        Endpoint client = connect().client();
        MemorySegment memory = client.bytes(100, 1);
        FastRegion region = register(client, memory, Access.REMOTE_READ);
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
        assertThat(region.access()).isEqualTo(Access.REMOTE_READ);
        assertThatIllegalStateException().isThrownBy(region::unmap);
        assertThatIllegalStateException().isThrownBy(() -> region.map(List.of(memory), 0));
        postAndSucceed(client, new LocalInvalidateRequest().id(2).key(region.remoteKey()));
        assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
        region.unmap();
        assertThat(region.length()).isZero();
    }

    @Test
    void closingAValidFastRegionEndsItsLease() throws Exception {
        Endpoint client = connect().client();
        long before = device.client().ledger().mappedBytes();
        FastRegion region = register(client, client.bytes(100, 1), Access.REMOTE_READ);
        assertThat(device.client().ledger().mappedBytes()).isEqualTo(before + 100);
        region.close();
        assertThat(device.client().ledger().mappedBytes()).isEqualTo(before);
    }

    @Test
    void anArenaCanBeClosedOnceTheLeaseHasEnded() {
        ProtectionDomain domain = domain();
        try (Arena shortLived = Arena.ofShared()) {
            domain.register(shortLived.allocate(100), Access.LOCAL_READ).close();
        }
        assertThat(device.client().ledger().isBalanced()).isTrue();
    }

    @Test
    void refusesMoreRegionsAndPagesThanItHas() {
        ProtectionDomain domain = domain();
        int maxPages = device.client().attributes().maxFastRegistrationPages();
        requireFastRegistration();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.allocateFastRegion(maxPages + 1).close());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.allocateFastRegion(0).close());
        own(domain.allocateFastRegion(maxPages));
    }
}
