// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.sim.SimulatedDevice;
import org.rpcrdma4j.testkit.sim.SimulatedNetwork;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/** Registered memory is kept, given back, and shut at the end, whoever still uses it. */
class ConnectionMemoryTest {

    private final SimulatedDevice device =
            SimulatedDevice.attach(new SimulatedNetwork(1), "server", SimulationOptions.DEFAULT);
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final ConnectionMemory memory = new ConnectionMemory(domain, Access.LOCAL_WRITE, 100_000);

    private PooledBuffer take(long bytes) {
        return Objects.requireNonNull(memory.take(bytes));
    }

    @AfterEach
    void leavesNothing() {
        memory.close();
        domain.close();
        assertThat(device.ledger().isBalanced()).isTrue();
        device.close();
    }

    @Test
    void givesBuffersOfAtLeastTheSizeAndAtMostAQuarterMore() {
        for (long bytes = 1; bytes <= 40_000; bytes += 37) {
            PooledBuffer buffer = take(bytes);
            assertThat(buffer.memory().byteSize()).isBetween(bytes, Math.max(4096, bytes + bytes / 4 + 1));
            assertThat(buffer.region().length()).isEqualTo(buffer.memory().byteSize());
            memory.giveBack(buffer);
        }
        assertThat(memory.take(ConnectionMemory.largestBuffer() + 1)).isNull();
    }

    @Test
    void usesABufferAgain() {
        assertThat(memory.takeFree(5000)).isNull();
        PooledBuffer buffer = take(5000);
        assertThat(memory.takeFree(5000)).isNull();
        memory.giveBack(buffer);
        assertThat(memory.takeFree(5000)).isSameAs(buffer);
        memory.giveBack(buffer);
    }

    @Test
    void makesRoomByFreeBuffersOfOtherSizes() {
        PooledBuffer large = take(80_000);
        memory.giveBack(large);
        PooledBuffer small = take(40_000);
        assertThat(memory.bytes()).isEqualTo(40_960);
        memory.giveBack(small);
    }

    @Test
    void givesBackWhatWasNotUsedForTwoTrims() {
        PooledBuffer buffer = take(4096);
        memory.giveBack(buffer);
        memory.trim();
        assertThat(memory.bytes()).isEqualTo(4096);
        memory.giveBack(take(4096));
        memory.trim();
        assertThat(memory.isEmpty()).isFalse();
        memory.trim();
        assertThat(memory.isEmpty()).isTrue();
        assertThat(device.ledger().isBalanced()).isTrue();
    }

    @Test
    void shutsAllAtTheEndButLeavesTheMemoryToWhoHasIt() {
        PooledBuffer used = take(4096);
        memory.giveBack(take(8192));
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion foreign = Objects.requireNonNull(memory.registerForeign(arena.allocate(100)));
            memory.close();
            assertThat(device.ledger().isBalanced()).isTrue();
            assertThat(foreign.isValid()).isFalse();
            memory.deregister(foreign);
            assertThat(memory.registerForeign(arena.allocate(100))).isNull();
        }
        MemorySegment bytes = used.memory();
        bytes.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        assertThat(memory.take(4096)).isNull();
        memory.giveBack(used);
        assertThat(bytes.scope().isAlive()).isFalse();
    }

    @Test
    void copiesWhatCannotBeRegistered() {
        try (Arena confined = Arena.ofConfined()) {
            assertThat(memory.registerForeign(confined.allocate(100))).isNull();
            assertThat(memory.registerForeign(MemorySegment.ofArray(new byte[10])))
                    .isNull();
        }
    }
}
