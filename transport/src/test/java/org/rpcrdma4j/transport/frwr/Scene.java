// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.raw.IwarpRig;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SimulatedRig;

/** A {@link Caller} and its peer on a network, with memory and faults. Closing checks that all was given back. */
final class Scene implements AutoCloseable {

    static final int PAGE = 4096;
    static final int PAGES_PER_REGION = 4;
    private static final int WORDS_OF_A_SEGMENT = 5;

    final SwitchedFaults faults = new SwitchedFaults();
    final Arena arena = Arena.ofShared();
    final Rig rig;
    final Caller caller;

    /** On a simulated network with these options. */
    Scene(long seed, UnaryOperator<SimulationOptions> options) {
        rig = new SimulatedRig(
                seed, options.apply(SimulationOptions.DEFAULT.withFaults(faults)), SimulationOptions.DEFAULT);
        caller = Caller.open(rig, PAGES_PER_REGION);
    }

    Scene(Network network) {
        rig = openRig(network);
        caller = Caller.open(rig, PAGES_PER_REGION);
    }

    private Scene(int requests, Network network) {
        rig = openRig(network);
        SendQueuePlan.Supported plan = Caller.plan(rig, PAGES_PER_REGION, requests);
        caller = new Caller(rig, plan, RegionPool.Options.of(plan));
    }

    /** With a send queue that is just long enough for so many calls at a time. */
    static Scene ofFewRequests(Network network, int requests) {
        return new Scene(requests, network);
    }

    /** With so few regions. */
    Scene(Network network, int maxRegions) {
        rig = openRig(network);
        caller = new Caller(
                rig,
                Caller.plan(rig, PAGES_PER_REGION),
                new RegionPool.Options(PAGES_PER_REGION, maxRegions, 32, 10_000_000, 1_000_000_000));
    }

    private Rig openRig(Network network) {
        return openRig(network, faults);
    }

    /** The network with these faults on the connecting side. */
    static Rig openRig(Network network, FaultPlan faults) {
        return switch (network) {
            case SIMULATION ->
                new SimulatedRig(1, SimulationOptions.DEFAULT.withFaults(faults), SimulationOptions.DEFAULT);
            case IWARP -> new IwarpRig(device -> new FaultyDevice(device, faults));
        };
    }

    /** The time by the network's clock. */
    long nanoTime() {
        return rig.time().nanoTime();
    }

    /** Waits until the condition holds, which is looked at inside the monitor. */
    void await(String what, BooleanSupplier condition) {
        caller.await(what, condition);
    }

    /** Connected, with a batch of regions ready. */
    Scene connected() {
        caller.connected(8);
        return this;
    }

    MemorySegment pages(int count) {
        return arena.allocate((long) count * PAGE, PAGE);
    }

    /** Memory for so many regions, each full. */
    List<MemorySegment> memoryOf(int regions) {
        return List.of(pages(regions * PAGES_PER_REGION));
    }

    /** The peer answers each call, writing into each segment before. */
    void peerWritesAndAnswers() {
        caller.server.onMessage((connection, message) -> {
            for (Segment segment : segments(message, PeerAccess.WRITE)) {
                connection.write(segment, pattern(segment.length()));
            }
            connection.send(xidOf(message));
        });
    }

    static byte[] pattern(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0x5A);
        return bytes;
    }

    static byte[] xidOf(RawMessage message) {
        return Arrays.copyOf(message.bytes(), 4);
    }

    /** What the peer was told of the given kind. */
    static List<Segment> segments(RawMessage message, PeerAccess access) {
        List<Segment> found = new ArrayList<>();
        for (int i = 0; i < message.word(1); i++) {
            int at = 2 + i * WORDS_OF_A_SEGMENT;
            if (message.word(at) == (access == PeerAccess.WRITE ? 1 : 0)) {
                long offset = ((long) message.word(at + 3) << 32) | (message.word(at + 4) & 0xFFFF_FFFFL);
                found.add(new Segment(message.word(at + 1), message.word(at + 2), offset));
            }
        }
        return found;
    }

    /** Sends a call that the peer may write into, of so many regions. */
    TestCall send(int xid, int regions) {
        return caller.newCall(xid).send(List.of(), memoryOf(regions));
    }

    /** Steps with a look at the invariants before each step, until the call's fence was told. */
    void awaitFence(TestCall call) {
        await("fence of " + call, () -> {
            caller.checkInvariants();
            return call.isOver();
        });
    }

    /** The message of the call with the given number has come to the peer. */
    RawMessage awaitMessage(int number) {
        rig.await("message " + number, () -> caller.peer().messageCount() > number);
        return caller.peer().message(number);
    }

    @Override
    public void close() {
        caller.close();
        caller.calls.forEach(TestCall::checkUnchanged);
        rig.close();
        arena.close();
    }
}
