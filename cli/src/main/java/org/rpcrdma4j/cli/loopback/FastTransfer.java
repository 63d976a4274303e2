// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * Moves a whole buffer, piece by piece, through regions that the server opens for one piece and closes after it, several at a time.
 *
 * <pre>
 *   server                                    client
 *   map, Register, Send "slot, key, where" -> Write or Read of the piece,
 *   Local Invalidate                       <- Send "slot done"
 *   unmap, next piece
 * </pre>
 *
 * <p>A piece's memory belongs to the peer from the registration to the completion of the invalidation, and to nobody else.
 */
final class FastTransfer implements AutoCloseable {
    /** Pieces under way at a time. */
    static final int SLOTS = 8;

    private static final ValueLayout.OfInt SLOT = ValueLayout.JAVA_INT;
    private static final int KEY_AT = 4;
    private static final int ADDRESS_AT = 8;
    private static final int OFFSET_AT = 16;
    private static final int LENGTH_AT = 24;

    /**
     * What one transfer did.
     *
     * @param sample bytes and time
     * @param registrations executed
     * @param invalidations completed
     * @param keys different keys among them
     */
    record Report(Sample sample, long registrations, long invalidations, int keys) {}

    private final Link link;
    private final Mailbox clientMail;
    private final Mailbox serverMail;
    private final FastRegion[] regions = new FastRegion[SLOTS];
    private final Set<Integer> keys = new HashSet<>();
    private final LongConsumer progress;

    private boolean reads;
    private MemorySegment served = MemorySegment.NULL;
    private @Nullable MemoryRegion own;
    private long next;
    private long done;
    private long registrations;
    private long invalidations;
    private CompletableFuture<@Nullable Void> end = new CompletableFuture<>();

    /** @param progress told of the bytes done, on the device's thread */
    FastTransfer(RdmaDevice device, Link link, Mailbox clientMail, Mailbox serverMail, LongConsumer progress) {
        this.link = link;
        this.clientMail = clientMail;
        this.serverMail = serverMail;
        this.progress = progress;
        int pages = ByteStream.PIECE_BYTES / device.attributes().pageBytes() + 1;
        for (int i = 0; i < SLOTS; i++) {
            regions[i] = link.server().domain().allocateFastRegion(pages);
        }
        link.client().deliverTo(this::onClient);
        link.server().deliverTo(this::onServer);
    }

    /** By RDMA Write, from the client's memory to the server's. */
    Report write(MemorySegment from, MemorySegment to) {
        return run(false, from, to);
    }

    /** By RDMA Read, from the server's memory to the client's. */
    Report read(MemorySegment from, MemorySegment to) {
        return run(true, to, from);
    }

    private Report run(boolean byRead, MemorySegment clientMemory, MemorySegment serverMemory) {
        CompletableFuture<@Nullable Void> finished;
        Sample.Meter meter = new Sample.Meter();
        try (MemoryRegion region =
                link.client().domain().register(clientMemory, byRead ? Access.LOCAL_WRITE : Access.LOCAL_READ)) {
            synchronized (this) {
                reads = byRead;
                own = region;
                served = serverMemory;
                next = 0;
                done = 0;
                registrations = 0;
                invalidations = 0;
                keys.clear();
                end = new CompletableFuture<>();
                finished = end;
                for (int slot = 0; slot < SLOTS; slot++) {
                    offer(slot);
                }
            }
            Await.result(finished, byRead ? "RDMA Read" : "RDMA Write", this::toString);
        }
        synchronized (this) {
            return new Report(meter.sample(done), registrations, invalidations, keys.size());
        }
    }

    /** Server: opens the next piece to the client and tells it. */
    private void offer(int slot) {
        long length = Math.min(ByteStream.PIECE_BYTES, served.byteSize() - next);
        if (length == 0) {
            return;
        }
        FastRegion region = regions[slot];
        region.map(List.of(served.asSlice(next, length)), next);
        int key = region.advanceKey();
        keys.add(key);
        registrations++;
        MemorySegment message = serverMail.outgoing(slot);
        message.set(SLOT, 0, slot);
        message.set(ValueLayout.JAVA_INT, KEY_AT, key);
        message.set(ValueLayout.JAVA_LONG, ADDRESS_AT, region.remoteAddress());
        message.set(ValueLayout.JAVA_LONG, OFFSET_AT, next);
        message.set(ValueLayout.JAVA_INT, LENGTH_AT, (int) length);
        next += length;
        // ORDER: the registration is in effect before the client sees the Send behind it.
        post(
                link.server(),
                new RegisterRequest()
                        .signaled(false)
                        .region(region, key)
                        .access(reads ? Access.REMOTE_READ : Access.REMOTE_WRITE),
                serverMail.send(slot));
    }

    private synchronized void onClient(WorkCompletion completion) {
        if (isMessage(completion)) {
            MemorySegment message = clientMail.incoming(completion);
            int slot = message.get(SLOT, 0);
            int key = message.get(ValueLayout.JAVA_INT, KEY_AT);
            long address = message.get(ValueLayout.JAVA_LONG, ADDRESS_AT);
            long offset = message.get(ValueLayout.JAVA_LONG, OFFSET_AT);
            int length = message.get(ValueLayout.JAVA_INT, LENGTH_AT);
            clientMail.taken(completion);
            move(slot, key, address, offset, length);
        }
    }

    /** Client: moves the piece and says so; a fence keeps the message behind the Read. */
    private void move(int slot, int key, long address, long offset, int length) {
        MemoryRegion memory = own;
        if (memory == null) {
            throw new IllegalStateException("a message before the transfer");
        }
        clientMail.outgoing(slot).set(SLOT, 0, slot);
        post(
                link.client(),
                reads
                        ? new RdmaReadRequest()
                                .signaled(false)
                                .sge(memory, offset, length)
                                .source(key, address)
                        : new RdmaWriteRequest()
                                .signaled(false)
                                .sge(memory, offset, length)
                                .target(key, address),
                clientMail.send(slot).fence(reads));
    }

    private synchronized void onServer(WorkCompletion completion) {
        if (isMessage(completion)) {
            int slot = serverMail.incoming(completion).get(SLOT, 0);
            serverMail.taken(completion);
            link.server()
                    .queuePair()
                    .postSend(new LocalInvalidateRequest().id(slot).key(regions[slot].remoteKey()))
                    .orThrow();
        } else if (completion.isSuccess() && completion.operation() == WorkCompletion.Operation.LOCAL_INVALIDATE) {
            closed((int) completion.id());
        }
    }

    /** Server: the piece is nobody's but ours again. */
    private void closed(int slot) {
        FastRegion region = regions[slot];
        if (region.isValid()) {
            end.completeExceptionally(new IllegalStateException("region " + slot + " is valid after its invalidation"));
            return;
        }
        invalidations++;
        done += region.length();
        region.unmap();
        progress.accept(done);
        if (done == served.byteSize()) {
            end.complete(null);
        } else {
            offer(slot);
        }
    }

    private boolean isMessage(WorkCompletion completion) {
        if (!completion.isSuccess()) {
            end.completeExceptionally(new IllegalStateException(completion.toString()));
        }
        return completion.isSuccess() && completion.operation() == WorkCompletion.Operation.RECEIVE;
    }

    private static void post(LinkEnd from, SendQueueRequest first, SendQueueRequest second) {
        from.queuePair().postSend(List.of(first, second)).orThrow();
    }

    @Override
    public synchronized String toString() {
        return done + " of " + served.byteSize() + " bytes, " + registrations + " registrations, " + invalidations
                + " invalidations, " + link.client().queuePair();
    }

    @Override
    public void close() {
        for (FastRegion region : regions) {
            region.close();
        }
    }

    /** Receives for both ends, before they are connected. */
    static Mailbox mailbox(LinkEnd end, Arena arena) {
        return new Mailbox(end, arena, SLOTS);
    }
}
