// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * One end of a connection as tests need it: a queue pair with its completion queues, a piece of registered memory, and lists of
 * what was polled and told. Used by the test's thread alone.
 *
 * <p>The first half of the memory is the test's; the Receives of {@link #postReceives} take the second half.
 */
final class Endpoint implements AutoCloseable {

    static final int RECEIVE_BYTES = 4096;
    static final int MEMORY_BYTES = 2 << 20;

    final RdmaDevice device;
    final ProtectionDomain domain;
    final Arena arena = Arena.ofShared();
    final MemorySegment memory;
    final MemoryRegion region;
    final CompletionQueue sendQueue;
    final CompletionQueue receiveQueue;
    final QueuePair queuePair;
    final EndpointOptions options;
    final EventLog events = new EventLog();
    final List<Completion> sends = new ArrayList<>();
    final List<Completion> receives = new ArrayList<>();
    final List<Completion> all = new ArrayList<>();
    final AtomicInteger handlerCalls = new AtomicInteger();

    private final List<MemoryRegion> owned = new ArrayList<>();
    private final WorkCompletion[] polled = new WorkCompletion[8];
    private final boolean ownsDomain;
    private long nextReceiveSlot;

    Endpoint(RdmaDevice device, EndpointOptions options) {
        this(device, options, null);
    }

    /** In a given domain, which stays the caller's; or in one of its own. */
    Endpoint(RdmaDevice device, EndpointOptions options, @Nullable ProtectionDomain shared) {
        this.device = device;
        this.options = options;
        ownsDomain = shared == null;
        domain = shared == null ? device.allocateProtectionDomain() : shared;
        memory = arena.allocate(MEMORY_BYTES, 4096);
        region = domain.register(memory, sinkAccess());
        int both = options.sendDepth() + options.receiveDepth();
        sendQueue = device.createCompletionQueue(both, queue -> handlerCalls.incrementAndGet());
        receiveQueue = options.oneQueue()
                ? sendQueue
                : device.createCompletionQueue(options.receiveDepth(), queue -> handlerCalls.incrementAndGet());
        queuePair = domain.createQueuePair(new QueuePairOptions(
                sendQueue, receiveQueue, options.sendDepth(), options.receiveDepth(), options.maxSges()));
        for (int i = 0; i < polled.length; i++) {
            polled[i] = new WorkCompletion();
        }
        postReceives(options.receives());
    }

    /** Rights of a region that is the sink of an RDMA Read of ours. */
    Access sinkAccess() {
        return device.attributes().readSinkNeedsRemoteWrite() ? Access.REMOTE_WRITE : Access.LOCAL_WRITE;
    }

    /** Posts Receives of {@link #RECEIVE_BYTES}; their ids are the offsets of their memory. */
    void postReceives(int count) {
        for (int i = 0; i < count; i++) {
            long offset = MEMORY_BYTES / 2 + (nextReceiveSlot++ % (MEMORY_BYTES / 2 / RECEIVE_BYTES)) * RECEIVE_BYTES;
            queuePair
                    .postReceive(new ReceiveRequest().id(offset).sge(region, offset, RECEIVE_BYTES))
                    .orThrow();
        }
    }

    /** New memory with the given bytes, aligned to 4096; lives as long as the endpoint. */
    MemorySegment bytes(long length, int seed) {
        MemorySegment made = arena.allocate(length, 4096);
        fill(made, seed);
        return made;
    }

    /** Closes the given region after the queue pair. */
    <T extends MemoryRegion> T own(T made) {
        owned.add(made);
        return made;
    }

    static void fill(MemorySegment target, int seed) {
        for (long i = 0; i < target.byteSize(); i++) {
            target.set(ValueLayout.JAVA_BYTE, i, patternAt(seed, i));
        }
    }

    static byte patternAt(int seed, long index) {
        return (byte) (seed * 31L + index * 7 + (index >>> 8));
    }

    /** Takes what has arrived into the lists. */
    void poll() {
        poll(sendQueue);
        if (!options.oneQueue()) {
            poll(receiveQueue);
        }
    }

    void poll(CompletionQueue queue) {
        for (int count = queue.poll(polled); count > 0; count = queue.poll(polled)) {
            for (int i = 0; i < count; i++) {
                Completion completion = Completion.of(polled[i]);
                all.add(completion);
                if (queue.equals(sendQueue) && !(options.oneQueue() && isReceive(completion))) {
                    sends.add(completion);
                } else {
                    receives.add(completion);
                }
            }
        }
    }

    /** The operation of a failed completion means nothing, so ids of Receives are told apart by {@link #postReceives}'s range. */
    private static boolean isReceive(Completion completion) {
        return completion.id() >= MEMORY_BYTES / 2;
    }

    List<Long> sendIds() {
        return sends.stream().map(Completion::id).toList();
    }

    List<Long> receiveIds() {
        return receives.stream().map(Completion::id).toList();
    }

    String describe() {
        return "QP " + queuePair.number() + " " + queuePair.state() + ", sends " + sends + ", receives " + receives
                + ", events " + events.all() + ", ledger " + device.ledger() + ", counters " + device.counters();
    }

    @Override
    public void close() {
        queuePair.close();
        for (MemoryRegion made : owned.reversed()) {
            made.close();
        }
        region.close();
        sendQueue.close();
        receiveQueue.close();
        if (ownsDomain) {
            domain.close();
        }
        arena.close();
    }
}
