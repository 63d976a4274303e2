// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** What client and server of the toy protocol share: makes its objects in spite of refusals, and keeps account of all requests. */
abstract class ToyEnd implements ConnectionListener {

    static final int CALLS = 5;
    static final int MESSAGE = 64;
    static final int DATA = 24 * 1024;
    static final int RECEIVES = CALLS + 1;
    static final int MEMORY_BYTES = 64 * 1024 + CALLS * (DATA + 4096);

    private static final long RECEIVE_BIT = 1L << 40;
    private static final int TRIES = 20;

    final SimulatedDevice device;
    final ProtectionDomain domain;
    final CompletionQueue completions;
    final MemoryRegion region;
    final QueuePair queuePair;
    final MemorySegment memory;

    private final TreeMap<Long, Boolean> outstandingSends = new TreeMap<>();
    private final TreeMap<Long, Boolean> outstandingReceives = new TreeMap<>();
    private final Set<Long> completed = new HashSet<>();
    private final WorkCompletion[] polled = {new WorkCompletion(), new WorkCompletion(), new WorkCompletion()};
    private final List<String> told = new ArrayList<>();
    private @Nullable CompletableFuture<Void> drain;
    private long nextId = 1;

    ToyEnd(SimulatedDevice device, MemorySegment memory) {
        this.device = device;
        this.memory = memory;
        domain = device.allocateProtectionDomain();
        completions = retried(() -> device.createCompletionQueue(128, null));
        region = retried(() -> domain.register(memory, Access.LOCAL_WRITE));
        queuePair = retried(() -> domain.createQueuePair(new QueuePairOptions(completions, completions, 64, 32, 2)));
        for (int i = 0; i < RECEIVES; i++) {
            postReceive(i);
        }
    }

    static <T> T retried(Supplier<T> maker) {
        for (int i = 1; ; i++) {
            try {
                return maker.get();
            } catch (IllegalStateException e) {
                if (i == TRIES) {
                    throw e;
                }
            }
        }
    }

    private void postReceive(int slot) {
        long id = RECEIVE_BIT + nextId++;
        PostResult result = queuePair.postReceive(
                new ReceiveRequest().id(id).sge(region, 32_768L + slot * (long) MESSAGE, MESSAGE));
        if (result.isPosted()) {
            outstandingReceives.put(id, true);
            receiveSlots.add(slot);
        }
    }

    private final List<Integer> receiveSlots = new ArrayList<>();
    private int receivesSeen;

    long newId() {
        return nextId++;
    }

    /** Posts and keeps account of what was taken. Returns how many were. */
    int post(List<? extends SendQueueRequest> chain) {
        PostResult result = queuePair.postSend(chain);
        int taken = result instanceof PostResult.Refused refused ? refused.firstBad() : chain.size();
        for (SendQueueRequest request : chain.subList(0, taken)) {
            outstandingSends.put(request.id(), request.signaled());
        }
        return taken;
    }

    /** Polls a few completions. */
    boolean poll() {
        int count = completions.poll(polled);
        for (int i = 0; i < count; i++) {
            account(polled[i]);
        }
        return count > 0;
    }

    private void account(WorkCompletion completion) {
        long id = completion.id();
        assertThat(completed.add(id)).as("second completion: %s", completion).isTrue();
        boolean isReceive = id >= RECEIVE_BIT;
        TreeMap<Long, Boolean> outstanding = isReceive ? outstandingReceives : outstandingSends;
        assertThat(outstanding).as("%s", completion).containsKey(id);
        assertThat(outstanding.headMap(id))
                .as("O3: signaled and earlier than %s", completion)
                .doesNotContainValue(true);
        outstanding.headMap(id, true).clear();
        if (isReceive) {
            int slot = receiveSlots.get(receivesSeen++);
            if (completion.isSuccess()) {
                onMessage(memory.asSlice(32_768L + slot * (long) MESSAGE, MESSAGE), completion);
            }
        } else {
            onSendCompletion(id, completion);
        }
    }

    abstract void onMessage(MemorySegment message, WorkCompletion completion);

    abstract void onSendCompletion(long id, WorkCompletion completion);

    boolean isEstablished() {
        return told.contains("established");
    }

    boolean hasEnded() {
        return told.contains("ended");
    }

    @Override
    public void onEstablished(ConnectionInfo info) {
        assertThat(told).isEmpty();
        told.add("established");
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        assertThat(told).isEmpty();
        assertThat(queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        told.add("ended");
    }

    @Override
    public void onDisconnected(Disconnect disconnect) {
        assertThat(told).containsExactly("established");
        assertThat(queuePair.state()).isEqualTo(QueuePair.State.ERROR);
        told.add("ended");
    }

    void beginDrain() {
        drain = queuePair.drain();
    }

    boolean isDrained() {
        return drain != null && drain.isDone();
    }

    void checkEverythingCompleted() {
        assertThat(outstandingReceives).as("Receives without completion").isEmpty();
        assertThat(outstandingSends).as("signaled requests without completion").doesNotContainValue(true);
    }

    void close() {
        queuePair.close();
        region.close();
        completions.close();
        domain.close();
        device.close();
        assertThat(device.ledger().isBalanced()).as("%s", device.ledger()).isTrue();
    }
}
