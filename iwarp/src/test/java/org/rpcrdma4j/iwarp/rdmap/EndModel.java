// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * What one end of a {@link StreamPair} must look like: its memory byte by byte, and its completions.
 *
 * <pre>
 *   | guard | source, never written | guard | target | guard | slices of the fast regions | guard |
 * </pre>
 */
final class EndModel {
    static final int FAST_REGIONS = 3;
    private static final int GUARD = 64;

    /** A posted request of the send queue. */
    static final class Posted {
        final long id;
        final Operation operation;
        final boolean signaled;
        final int bytes;
        boolean done;

        Posted(long id, Operation operation, boolean signaled, int bytes, boolean done) {
            this.id = id;
            this.operation = operation;
            this.signaled = signaled;
            this.bytes = bytes;
            this.done = done;
        }

        @Override
        public String toString() {
            return operation + " " + id + (signaled ? " signaled, " : " silent, ") + bytes
                    + (done ? " bytes, done" : " bytes");
        }
    }

    /** A posted Receive. */
    static final class Receiving {
        final long id;
        final List<Extent> list;
        int received;
        boolean done;
        boolean invalidates;
        int invalidated;

        Receiving(long id, List<Extent> list) {
            this.id = id;
            this.list = list;
        }
    }

    /** Where a Response goes. */
    record Sink(Posted read, Extent extent) {}

    final StreamEnd end;
    final WireRules rules;
    final byte[] memory;
    final Registration source;
    final Registration target;
    final SoftFastRegion[] fast = new SoftFastRegion[FAST_REGIONS];
    final @Nullable Registration[] registrations = new Registration[FAST_REGIONS];
    final Map<Integer, Registration> byKey = new HashMap<>();
    final Deque<Posted> sends = new ArrayDeque<>();
    final Deque<Receiving> receives = new ArrayDeque<>();
    final Deque<Receiving> filling = new ArrayDeque<>();
    final Deque<Sink> sinks = new ArrayDeque<>();
    int sendsUnderWay;
    int requests;
    final List<WorkCompletion> polled = new ArrayList<>();

    private final MemorySegment real;
    private final MemorySegment shadow;
    private final int fastStart;
    private final int fastBytes;
    private final Deque<WireSegment> incoming = new ArrayDeque<>();
    private final WorkCompletion[] polls = new WorkCompletion[4];
    private long applied;
    private int responseBytes;
    private boolean failed;
    private boolean receiveFailed;

    /** @param real memory of which all is used, nobody else's for the time being */
    EndModel(StreamEnd end, StreamOptions options, MemorySegment real, Random random) {
        this.end = end;
        this.real = real;
        this.memory = new byte[(int) real.byteSize()];
        this.shadow = MemorySegment.ofArray(memory);
        this.rules = new WireRules(options.ord(end.index));
        random.nextBytes(memory);
        real.copyFrom(shadow);
        int part = (memory.length - 4 * GUARD) / 3;
        source = plain(GUARD, part, Access.REMOTE_READ, false);
        target = plain(2 * GUARD + part, part, Access.REMOTE_WRITE, true);
        fastStart = 3 * GUARD + 2 * part;
        fastBytes = part / FAST_REGIONS;
        for (int i = 0; i < FAST_REGIONS; i++) {
            fast[i] = end.allocate();
        }
        for (int i = 0; i < polls.length; i++) {
            polls[i] = new WorkCompletion();
        }
    }

    /** Memory for a model. */
    static MemorySegment allocate(int bytes) {
        return Arena.ofAuto().allocate(bytes, 4096);
    }

    private Registration plain(int offset, int length, Access access, boolean isTarget) {
        var region = end.register(real.asSlice(offset, length), access);
        Registration made = new Registration(
                region,
                region.remoteKey(),
                region.remoteAddress(),
                isTarget,
                List.of(new Registration.Piece(offset, length)));
        byKey.put(made.key, made);
        return made;
    }

    /** Shows what the peer wrote. */
    void incoming(WireSegment segment) {
        incoming.add(segment);
    }

    /** Maps a fast region to random pieces, in random order, under a new key. */
    Registration map(int index, boolean isTarget, Random random) {
        List<Registration.Piece> pieces = new ArrayList<>();
        int at = isTarget ? fastStart + index * fastBytes : GUARD;
        int limit = isTarget ? at + fastBytes : at + source.length;
        int count = 1 + (random.nextInt(4) == 0 ? random.nextInt(40) : random.nextInt(4));
        int largest = Math.max(2, 2 * (limit - at) / count);
        while (pieces.size() < count && at < limit) {
            int length = Math.min(limit - at, 1 + random.nextInt(largest));
            pieces.add(random.nextInt(pieces.size() + 1), new Registration.Piece(at, length));
            at += length + random.nextInt(16);
        }
        List<MemorySegment> mapped = pieces.stream()
                .map(piece -> real.asSlice(piece.offset(), piece.length()))
                .toList();
        long base = random.nextBoolean() ? random.nextLong() : 0;
        if (fast[index].map(mapped, base) != pieces.size()) {
            throw new AssertionError("not all mapped");
        }
        Registration made = new Registration(fast[index], fast[index].advanceKey(), base, isTarget, pieces);
        registrations[index] = made;
        byKey.put(made.key, made);
        return made;
    }

    /** The region of this registration was closed. */
    void closed(Registration registration) {
        registration.closed = true;
        registration.sealed = true;
        byKey.remove(registration.key);
    }

    /** The registration of a fast region in force. */
    Registration fast(int index) {
        Registration registration = registrations[index];
        if (registration == null) {
            throw new AssertionError("not registered");
        }
        return registration;
    }

    /** Takes note of fast regions that have become invalid, and unmaps them. */
    void reapInvalid() {
        for (int i = 0; i < FAST_REGIONS; i++) {
            Registration registration = registrations[i];
            if (registration != null && registration.isOver()) {
                byKey.remove(registration.key);
                registrations[i] = null;
                fast[i].unmap();
            }
        }
    }

    // What arrives.

    /** After each delivery: does to the model what the segments taken should have done. */
    void delivered(EndModel peer) {
        long take = end.inbound.fpdus();
        StreamEnding ending = end.end();
        boolean violation = ending != null && ending.cause() == StreamEnding.Cause.VIOLATION;
        boolean damaged = violation && isCrc(ending);
        if (violation && !damaged) {
            take--;
        }
        long flip = end.in.flipAt();
        while (applied < take) {
            WireSegment segment = incoming.remove();
            if (segment.end() > end.in.delivered() || segment.end() > flip) {
                throw new AssertionError("taken before it was whole and good: " + segment);
            }
            apply(segment, peer);
            applied++;
        }
        WireSegment next = incoming.peek();
        if (ending == null && next != null && next.end() <= Math.min(flip, end.in.delivered())) {
            throw new AssertionError("whole, but not taken: " + next);
        }
        if (damaged && next != null && (next.start() > flip || next.end() <= flip)) {
            throw new AssertionError("not the damaged one: " + next + ", damaged at " + flip);
        }
    }

    private static boolean isCrc(@Nullable StreamEnding ending) {
        TerminateMessage answer = ending == null ? null : ending.answer();
        return answer != null && answer.layer() == 2 && answer.errorType() == 0 && answer.errorCode() == 2;
    }

    private void apply(WireSegment segment, EndModel peer) {
        if (segment.opcode() == WireSegment.TERMINATE) {
            return;
        }
        if (segment.opcode() == WireSegment.WRITE) {
            if (segment.payloadBytes() > 0) {
                Registration into = byKey.get(segment.stag());
                if (into == null) {
                    throw new AssertionError("placed under an invalid STag: " + segment);
                }
                into.put(memory, (int) (segment.to() - into.base), segment.payload());
            }
        } else if (segment.opcode() == WireSegment.RESPONSE) {
            response(segment);
        } else if (segment.opcode() == WireSegment.READ_REQUEST) {
            request(segment.payload());
        } else {
            send(segment);
        }
        if (segment.last()) {
            peer.rules.delivered();
        }
    }

    private void response(WireSegment segment) {
        Sink sink = sinks.element();
        Extent extent = sink.extent;
        extent.registration().put(memory, extent.offset() + responseBytes, segment.payload());
        responseBytes += segment.payloadBytes();
        if (segment.last()) {
            sinks.remove();
            sink.read.done = true;
            responseBytes = 0;
            extent.registration().ownUses--;
            rules.answered();
        }
    }

    private void request(ByteBuffer header) {
        int size = header.getInt(12);
        ByteBuffer payload = ByteBuffer.allocate(size);
        Registration from = byKey.get(header.getInt(16));
        if (from != null) {
            int at = (int) (header.getLong(20) - from.base);
            if (at >= 0 && at + size <= from.length) {
                from.get(memory, at, size, payload);
            }
        }
        rules.asked(new WireMessage(
                WireSegment.RESPONSE, header.getInt(0), header.getLong(4), false, payload.clear(), () -> {}, () -> {
                    if (from != null) {
                        from.peerUses--;
                    }
                }));
    }

    private void send(WireSegment segment) {
        Receiving receiving = filling.element();
        Extent.scatter(receiving.list, memory, receiving.received, segment.payload());
        receiving.received += segment.payloadBytes();
        if (segment.last()) {
            filling.remove();
            receiving.done = true;
            receiving.invalidates = segment.opcode() == 4 || segment.opcode() == 6;
            receiving.invalidated = segment.stag();
        }
    }

    // Completions.

    /** Polls both queues; compares each completion with what was posted. */
    int poll() {
        int sent = end.sendCompletions.poll(polls);
        for (int i = 0; i < sent; i++) {
            sendCompleted(polls[i]);
        }
        int received = end.receiveCompletions.poll(polls);
        for (int i = 0; i < received; i++) {
            receiveCompleted(polls[i]);
        }
        return sent + received;
    }

    private void sendCompleted(WorkCompletion completion) {
        Posted posted = sends.remove();
        while (posted.id != completion.id()) {
            require(!posted.signaled && posted.done && !failed, "skipped " + posted.id, completion);
            posted = sends.remove();
        }
        require(posted.operation == completion.operation(), "operation", completion);
        if (completion.isSuccess()) {
            require(!failed, "success behind a failure", completion);
            require(posted.done && posted.signaled, "before it was done", completion);
            require(
                    posted.operation != Operation.RDMA_READ || completion.byteLength() == posted.bytes,
                    "length",
                    completion);
        } else {
            require(!end.isRunning(), "failed while the stream runs", completion);
            failed = true;
        }
        keep(completion);
    }

    private void receiveCompleted(WorkCompletion completion) {
        Receiving receiving = receives.remove();
        require(receiving.id == completion.id(), "order", completion);
        require(completion.operation() == Operation.RECEIVE, "operation", completion);
        if (completion.isSuccess()) {
            require(receiving.done && !receiveFailed, "before it was done", completion);
            require(completion.byteLength() == receiving.received, "length", completion);
            require(completion.isWithInvalidate() == receiving.invalidates, "invalidation", completion);
            require(!receiving.invalidates || completion.invalidatedKey() == receiving.invalidated, "key", completion);
        } else {
            require(!end.isRunning() && !receiving.done, "failed though delivered", completion);
            receiveFailed = true;
        }
        keep(completion);
    }

    private void keep(WorkCompletion completion) {
        WorkCompletion copy = new WorkCompletion();
        copy.set(completion.id(), completion.status(), completion.operation(), 0, completion.byteLength());
        polled.add(copy);
    }

    private void require(boolean good, String what, WorkCompletion completion) {
        if (!good) {
            throw new AssertionError("wrong completion at " + end + ": " + completion + ": " + what);
        }
    }

    /** Whether a request of the send queue has failed: then all behind it must have a completion. */
    boolean hasSendFailed() {
        return failed;
    }

    /** Statuses of the failed requests in the order of their completions. */
    List<Status> failures() {
        return polled.stream()
                .map(WorkCompletion::status)
                .filter(status -> status != Status.SUCCESS)
                .toList();
    }

    /** Compares all of the memory, guards and sources included. */
    void checkMemory() {
        long at = real.mismatch(shadow);
        if (at >= 0) {
            throw new AssertionError("end %d: byte %d of memory is %d, expected %d"
                    .formatted(end.index, at, real.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at), memory[(int) at]));
        }
    }
}
