// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ChunkList;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.wire.Segments;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;

/**
 * A connection's RDMA Reads: calls that have something to pull, in their order, and never more Reads outstanding than the two devices
 * agreed on (ORD). RFC 8166, Section 3.3.1 leaves that to the implementation.
 *
 * <p>One Read for each segment, with one entry: the sink is one buffer, so it is never in pieces, and iWARP allows no more. In the monitor.
 */
final class ReadQueue {

    /** Told what became of the Reads. */
    interface Listener {
        /** All of the call's Reads are complete. */
        void onPulled(RequestSlot slot);

        /** The queue pair did not take one. */
        void onReadRefused(RequestSlot slot, PostResult.Refused refused);
    }

    private final Listener listener;
    private final ArrayDeque<RequestSlot> waiting = new ArrayDeque<>();
    private final Read[] reads;
    private final int[] free;
    private final Endpoint endpoint;
    private final ConnectionLabel label;
    private int freeCount;

    ReadQueue(Endpoint endpoint, ConnectionLabel label, int maxOutstanding, Listener listener) {
        this.endpoint = endpoint;
        this.label = label;
        this.listener = listener;
        reads = new Read[maxOutstanding];
        free = new int[maxOutstanding];
        for (int i = 0; i < maxOutstanding; i++) {
            reads[i] = new Read(i);
            free[i] = maxOutstanding - 1 - i;
        }
        freeCount = maxOutstanding;
    }

    /** Begins to pull the call, when its turn comes. It has at least one segment to read, and its buffer. */
    void add(RequestSlot slot) {
        slot.nextRead = 0;
        slot.readsComplete = 0;
        waiting.add(slot);
        pump();
    }

    private void pump() {
        while (freeCount > 0 && !waiting.isEmpty()) {
            RequestSlot slot = waiting.element();
            reads[free[--freeCount]].post(slot, slot.nextRead++);
            if (slot.nextRead == assembler(slot).reads()) {
                waiting.remove();
            }
        }
    }

    private static CallAssembler assembler(RequestSlot slot) {
        return Objects.requireNonNull(slot.assembler);
    }

    /** A Read has ended well. */
    void onComplete(int index) {
        RequestSlot slot = release(index);
        if (slot != null) {
            slot.readsComplete++;
            pump();
            if (slot.readsComplete == assembler(slot).reads()) {
                listener.onPulled(slot);
            }
        }
    }

    /** A Read has failed; returns the call that it was for. Its buffer must be kept until the queue pair is closed. */
    @Nullable
    RequestSlot onFailed(int index) {
        return release(index);
    }

    private @Nullable RequestSlot release(int index) {
        RequestSlot slot = reads[index].slot;
        if (slot != null) {
            reads[index].slot = null;
            free[freeCount++] = index;
        }
        return slot;
    }

    /** Reads on their way. */
    int outstanding() {
        return reads.length - freeCount;
    }

    /** The connection ends: nothing more is posted. */
    void stop() {
        waiting.clear();
    }

    /** One RDMA Read and the call that it is for. */
    private final class Read implements Outbox.Entry {

        private final RdmaReadRequest request = new RdmaReadRequest();
        private final List<SendQueueRequest> chain = new ArrayList<>(1);
        private final int index;
        private @Nullable RequestSlot slot;

        Read(int index) {
            this.index = index;
            chain.add(request);
        }

        void post(RequestSlot newSlot, int number) {
            slot = newSlot;
            CallAssembler assembler = assembler(newSlot);
            Segments segments = newSlot.header.readList().segments();
            int segment = assembler.readSegment(number);
            PooledBuffer buffer = Objects.requireNonNull(newSlot.pulled);
            request.clearSges();
            request.id(WorkIds.of(WorkIds.Kind.READ, 0, index))
                    .source(segments.handle(segment), segments.offset(segment))
                    .sge(buffer.region(), assembler.readOffset(number), segments.length(segment));
            TransportEvents.postRdma(
                    label, request.id(), newSlot.header.xid(), ChunkList.READ, 1, segments.length(segment));
            endpoint.post(this);
        }

        @Override
        public List<? extends SendQueueRequest> chain() {
            return chain;
        }

        @Override
        public void onRefused(PostResult.Refused refused) {
            RequestSlot refusedSlot = release(index);
            if (refusedSlot != null) {
                listener.onReadRefused(refusedSlot, refused);
            }
        }
    }
}
