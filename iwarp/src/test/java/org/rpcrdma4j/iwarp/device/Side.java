// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** One queue pair with all that belongs to it: domain, completion queues, a buffer, and what became of its connection. */
final class Side implements ConnectionListener, AutoCloseable {
    private static final WorkCompletion[] NONE = {};

    final ProtectionDomain domain;
    final CompletionQueue sending;
    final CompletionQueue receiving;
    final QueuePair queuePair;
    final Arena arena = Arena.ofShared();
    final MemorySegment memory;
    final MemoryRegion region;
    final CompletableFuture<ConnectionInfo> established = new CompletableFuture<>();
    final CompletableFuture<Disconnect> disconnected = new CompletableFuture<>();
    final CompletableFuture<ConnectRefusal> refused = new CompletableFuture<>();
    final AtomicInteger ends = new AtomicInteger();
    private final WorkCompletion[] into = new WorkCompletion[16];

    Side(RdmaDevice device, int depth, long bytes) {
        this(device, depth, bytes, null, null);
    }

    Side(
            RdmaDevice device,
            int depth,
            long bytes,
            @Nullable CompletionHandler onSend,
            @Nullable CompletionHandler onReceive) {
        domain = device.allocateProtectionDomain();
        sending = device.createCompletionQueue(depth, onSend);
        receiving = device.createCompletionQueue(depth, onReceive);
        queuePair = domain.createQueuePair(new QueuePairOptions(sending, receiving, depth, depth, 4));
        memory = arena.allocate(bytes, 8);
        region = domain.register(memory, Access.REMOTE_READ_WRITE);
        for (int i = 0; i < into.length; i++) {
            into[i] = new WorkCompletion();
        }
    }

    int key() {
        return region.remoteKey();
    }

    long address() {
        return region.remoteAddress();
    }

    SendRequest send(long id, long offset, long bytes) {
        return new SendRequest().id(id).sge(region, offset, bytes);
    }

    RdmaWriteRequest write(long id, Side target, long offset, long bytes) {
        return write(id, target.key(), target.address() + offset, offset, bytes);
    }

    RdmaWriteRequest write(long id, int key, long address, long offset, long bytes) {
        return new RdmaWriteRequest().id(id).sge(region, offset, bytes).target(key, address);
    }

    RdmaReadRequest read(long id, Side source, long offset, long bytes) {
        return read(id, source.key(), source.address() + offset, offset, bytes);
    }

    RdmaReadRequest read(long id, int key, long address, long offset, long bytes) {
        return new RdmaReadRequest().id(id).sge(region, offset, bytes).source(key, address);
    }

    ReceiveRequest receive(long id, long offset, long bytes) {
        return new ReceiveRequest().id(id).sge(region, offset, bytes);
    }

    void fill(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (long i = 0; i + 8 <= memory.byteSize(); i += 8) {
            memory.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    /** Polls what is there. */
    List<String> poll(CompletionQueue queue) {
        List<String> found = new ArrayList<>();
        for (WorkCompletion completion : pollInto(queue)) {
            found.add(completion.id() + " " + completion.status());
        }
        return found;
    }

    private WorkCompletion[] pollInto(CompletionQueue queue) {
        int count = queue.poll(into);
        return count == 0 ? NONE : Arrays.copyOf(into, count);
    }

    /** Polls until that many have come: "id STATUS" each. */
    List<String> await(CompletionQueue queue, int count) {
        List<String> found = new ArrayList<>();
        Waits.until(
                () -> {
                    found.addAll(poll(queue));
                    return found.size() >= count;
                },
                () -> count + " completions wanted, found " + found + "; " + this);
        return found;
    }

    @Override
    public void onEstablished(ConnectionInfo info) {
        established.complete(info);
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        ends.incrementAndGet();
        refused.complete(refusal);
    }

    @Override
    public void onDisconnected(Disconnect disconnect) {
        ends.incrementAndGet();
        disconnected.complete(disconnect);
    }

    Disconnect awaitDisconnected() {
        return get(disconnected, "onDisconnected");
    }

    <T> T get(CompletableFuture<T> future, String what) {
        try {
            return future.get(20, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(what + " did not come: " + this, e);
        }
    }

    @Override
    public void close() {
        queuePair.close();
        region.close();
        sending.close();
        receiving.close();
        domain.close();
        arena.close();
    }

    @Override
    public String toString() {
        return queuePair + ", established " + established + ", disconnected " + disconnected + ", refused " + refused;
    }
}
