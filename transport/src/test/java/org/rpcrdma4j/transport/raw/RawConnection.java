// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/**
 * One end of a connection without any protocol of its own: sends, writes and reads what it is told to, keeps every message it gets.
 *
 * <p>May be used by any thread. A script runs on a thread of the device, inside the connection's lock, one message at a time; it may
 * post, but not wait.
 */
public final class RawConnection implements ConnectionListener, AutoCloseable {

    private static final int SEND_DEPTH = 512;
    private static final int RECEIVE_DEPTH = 512;
    private static final int SPARE_RECEIVES = 32;

    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final RdmaDevice device;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment receiveMemory;
    private final MemoryRegion receiveRegion;
    private final int receiveBytes;
    private final List<RawMessage> messages = new ArrayList<>();
    private final Map<Long, RawWork> outstanding = new HashMap<>();
    private final List<MemoryRegion> exposed = new ArrayList<>();
    private final WorkCompletion[] polled = {new WorkCompletion(), new WorkCompletion()};
    private final List<Integer> freeReceives = new ArrayList<>();
    private Consumer<RawMessage> script = message -> {};
    private boolean reposts = true;
    private int receivesPosted;
    private long nextId = 1L << 32;
    private @Nullable ConnectionInfo established;
    private @Nullable ConnectRefusal refused;
    private @Nullable Disconnect disconnected;
    private boolean isClosed;

    /** Not connected yet; so many Receives of so many bytes are posted. */
    RawConnection(RdmaDevice device, int receives, int receiveBytes) {
        this.device = device;
        this.receiveBytes = receiveBytes;
        domain = device.allocateProtectionDomain();
        int receiveDepth = Math.max(RECEIVE_DEPTH, receives);
        int sendDepth = Math.max(SEND_DEPTH, receives);
        completions = device.createCompletionQueue(sendDepth + receiveDepth, this::onCompletion);
        int slots = Math.min(receiveDepth, receives + SPARE_RECEIVES);
        receiveMemory = arena.allocate((long) slots * receiveBytes, 4096);
        receiveRegion = domain.register(receiveMemory, Access.LOCAL_WRITE);
        queuePair = domain.createQueuePair(new QueuePairOptions(completions, completions, sendDepth, receiveDepth, 4));
        for (int i = slots - 1; i >= 0; i--) {
            freeReceives.add(i);
        }
        completions.requestNotify(CompletionQueue.Notify.ANY);
        postReceives(receives);
    }

    QueuePair queuePair() {
        return queuePair;
    }

    /** What is done with each message from now on. */
    public synchronized RawConnection onMessage(Consumer<RawMessage> newScript) {
        script = newScript;
        return this;
    }

    /** Whether a Receive is posted again for each message; true unless changed. */
    public synchronized RawConnection reposts(boolean value) {
        reposts = value;
        return this;
    }

    /** Posts more Receives. */
    public synchronized void postReceives(int count) {
        for (int i = 0; i < count; i++) {
            int slot = freeReceives.removeLast();
            PostResult result = queuePair.postReceive(
                    new ReceiveRequest().id(slot).sge(receiveRegion, (long) slot * receiveBytes, receiveBytes));
            if (!result.isPosted()) {
                freeReceives.add(slot);
                return;
            }
            receivesPosted++;
        }
    }

    /** How many Receives are outstanding. */
    public synchronized int receivesPosted() {
        return receivesPosted;
    }

    /** All messages so far. */
    public synchronized List<RawMessage> messages() {
        return List.copyOf(messages);
    }

    public synchronized int messageCount() {
        return messages.size();
    }

    /** The message with the given number, from 0. */
    public synchronized RawMessage message(int i) {
        return messages.get(i);
    }

    /** Sends the bytes as one message. */
    public RawWork send(byte... message) {
        return post(new SendRequest(), message);
    }

    /** Sends the words as one message. */
    public RawWork send(Words message) {
        return send(message.toBytes());
    }

    /** Sends the bytes as one message that invalidates a region of the peer. */
    public RawWork sendInvalidating(int key, byte... message) {
        return post(new SendRequest().invalidate(key), message);
    }

    private synchronized RawWork post(SendRequest request, byte[] message) {
        RawWork work = buffer(message.length, Access.LOCAL_READ);
        MemorySegment.copy(message, 0, work.memory, ValueLayout.JAVA_BYTE, 0, message.length);
        if (work.region != null) {
            request.sge(work.region, 0, message.length);
        }
        return post(work, request.id(nextId));
    }

    /** Writes the bytes to the peer's memory. */
    public synchronized RawWork write(int handle, long offset, byte... data) {
        RawWork work = buffer(data.length, Access.LOCAL_READ);
        MemorySegment.copy(data, 0, work.memory, ValueLayout.JAVA_BYTE, 0, data.length);
        RdmaWriteRequest request = new RdmaWriteRequest().target(handle, offset);
        if (work.region != null) {
            request.sge(work.region, 0, data.length);
        }
        return post(work, request.id(nextId));
    }

    /** Writes the bytes into the segment, from its first byte on. */
    public RawWork write(Segment segment, byte... data) {
        return write(segment.handle(), segment.offset(), data);
    }

    /** Writes the bytes into the segments, in order; returns these with the lengths that were used. */
    public List<Segment> fill(List<Segment> segments, byte... data) {
        List<Segment> used = new ArrayList<>();
        int done = 0;
        for (Segment segment : segments) {
            int length = Math.min(segment.length(), data.length - done);
            used.add(segment.withLength(length));
            if (length > 0) {
                write(segment, Arrays.copyOfRange(data, done, done + length));
            }
            done += length;
        }
        return used;
    }

    /** Reads from the peer's memory. */
    public synchronized RawWork read(int handle, long offset, int length) {
        Access access = device.attributes().readSinkNeedsRemoteWrite() ? Access.REMOTE_WRITE : Access.LOCAL_WRITE;
        RawWork work = buffer(length, access);
        RdmaReadRequest request = new RdmaReadRequest().source(handle, offset);
        if (work.region != null) {
            request.sge(work.region, 0, length);
        }
        return post(work, request.id(nextId));
    }

    /** Reads the whole segment. */
    public RawWork read(Segment segment) {
        return read(segment.handle(), segment.offset(), segment.length());
    }

    private RawWork buffer(int length, Access access) {
        if (length == 0) {
            return new RawWork(MemorySegment.NULL, null);
        }
        MemorySegment memory = arena.allocate(length, 8);
        return new RawWork(memory, domain.register(memory, access));
    }

    private RawWork post(RawWork work, SendQueueRequest request) {
        long id = nextId++;
        outstanding.put(id, work);
        if (!queuePair.postSend(request).isPosted()) {
            outstanding.remove(id);
            end(work, WorkCompletion.Status.FLUSHED);
        }
        return work;
    }

    private static void end(RawWork work, WorkCompletion.Status status) {
        if (work.region != null) {
            work.region.close();
        }
        work.end(status);
    }

    /** Opens so many new bytes to the peer; posted before any later Send. */
    public synchronized Exposed expose(int length, Access access) {
        MemorySegment memory = arena.allocate(Math.max(length, 1), 4096);
        FastRegion region = domain.allocateFastRegion((length + 4095) / 4096 + 1);
        exposed.add(region);
        region.map(List.of(memory), 0x7700_0000_0000L + nextId * 0x10_0000L);
        RawWork work = new RawWork(MemorySegment.NULL, null);
        int key = region.advanceKey();
        post(work, new RegisterRequest().id(nextId).region(region, key).access(access));
        return new Exposed(memory, new Segment(key, length, region.remoteAddress()), work, region);
    }

    /** Shuts what was exposed. */
    public synchronized RawWork invalidate(int key) {
        return post(
                new RawWork(MemorySegment.NULL, null),
                new LocalInvalidateRequest().id(nextId).key(key));
    }

    /** Memory that the peer may use. */
    public record Exposed(MemorySegment memory, Segment segment, RawWork registration, FastRegion region) {

        public byte[] bytes() {
            return memory.toArray(ValueLayout.JAVA_BYTE);
        }

        public Exposed fill(byte... content) {
            MemorySegment.copy(content, 0, memory, ValueLayout.JAVA_BYTE, 0, content.length);
            return this;
        }

        /** A part of it as a segment. */
        public Segment part(int from, int length) {
            return new Segment(segment.handle(), length, segment.offset() + from);
        }
    }

    private void onCompletion(CompletionQueue queue) {
        pollAll();
        queue.requestNotify(CompletionQueue.Notify.ANY);
        pollAll();
    }

    private synchronized void pollAll() {
        int count;
        while ((count = completions.poll(polled)) > 0) {
            for (int i = 0; i < count; i++) {
                handle(polled[i]);
            }
        }
    }

    private void handle(WorkCompletion completion) {
        if (completion.id() >= 1L << 32) {
            RawWork work = outstanding.remove(completion.id());
            if (work != null) {
                end(work, completion.status());
            }
            return;
        }
        int slot = (int) completion.id();
        receivesPosted--;
        freeReceives.add(slot);
        if (completion.isSuccess()) {
            byte[] bytes = receiveMemory
                    .asSlice((long) slot * receiveBytes, completion.byteLength())
                    .toArray(ValueLayout.JAVA_BYTE);
            RawMessage message =
                    new RawMessage(bytes, completion.isWithInvalidate() ? completion.invalidatedKey() : null);
            messages.add(message);
            if (reposts) {
                postReceives(1);
            }
            script.accept(message);
        }
    }

    @Override
    public synchronized void onEstablished(ConnectionInfo info) {
        established = info;
    }

    @Override
    public synchronized void onRefused(ConnectRefusal refusal) {
        refused = refusal;
    }

    @Override
    public synchronized void onDisconnected(Disconnect disconnect) {
        disconnected = disconnect;
    }

    public synchronized boolean isEstablished() {
        return established != null;
    }

    /** Whether the connection did not come about, or is over. */
    public synchronized boolean hasEnded() {
        return refused != null || disconnected != null;
    }

    /** What was agreed; fails if there is no connection. */
    public synchronized ConnectionInfo info() {
        if (established == null) {
            throw new AssertionError("not established: " + this);
        }
        return established;
    }

    /** Why the connection did not come about; null if it did, or nothing is known yet. */
    public synchronized @Nullable ConnectRefusal refusal() {
        return refused;
    }

    /** How it ended; null if it has not. */
    public synchronized @Nullable Disconnect disconnect() {
        return disconnected;
    }

    /** Ends it in order. */
    public void end() {
        queuePair.disconnect();
    }

    /** Ends it without a word. */
    public void breakOff() {
        queuePair.abort();
    }

    /** Gives everything back; must not be called by a script. */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        queuePair.close();
        synchronized (this) {
            outstanding.values().forEach(work -> end(work, WorkCompletion.Status.FLUSHED));
            outstanding.clear();
            exposed.forEach(MemoryRegion::close);
            completions.close();
            receiveRegion.close();
            domain.close();
            arena.close();
        }
    }

    @Override
    public synchronized String toString() {
        StringBuilder text = new StringBuilder("raw end on " + device.name() + " " + queuePair.state() + ", "
                + receivesPosted + " Receives posted, " + outstanding.size() + " requests outstanding, refused "
                + refused + ", disconnected " + disconnected);
        for (RawMessage message : messages.subList(Math.max(0, messages.size() - 8), messages.size())) {
            text.append(System.lineSeparator()).append("  ").append(message);
        }
        return text.toString();
    }
}
