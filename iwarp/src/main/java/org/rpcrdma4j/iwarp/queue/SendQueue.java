// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.SgeList;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * The send queue: a ring of slots with three marks.
 *
 * <pre>
 *        head                next                 tail
 *   ------+-------------------+--------------------+------
 *   free  | executing or done | waiting to execute | free
 * </pre>
 *
 * <p>RFC 5040, Section 5.5: operations go out in the order posted and complete in that order, so a Send that left stays behind the
 * Read before it until that is answered. Among the executing are the Reads that wait for their Responses, oldest first.
 *
 * <p>All of it is guarded by the queue pair's lock.
 */
public final class SendQueue extends WorkQueue {
    private final int maxSges;
    private final @Nullable SendSlot[] ring;
    private long head;
    private long next;
    private long tail;

    private final @Nullable SendSlot[] openReads;
    private int firstRead;
    private int readCount;
    private int maxReads;
    private boolean readsForbidden;
    private boolean rtrReadOpen;

    public SendQueue(int queuePair, int depth, int maxSges, SoftCompletionQueue completions, Runnable onEmpty) {
        super(queuePair, depth, completions, onEmpty);
        this.maxSges = maxSges;
        this.ring = new SendSlot[Integer.highestOneBit(2 * depth - 1)];
        this.openReads = new SendSlot[ring.length];
    }

    /** Sets how many Reads may be open (ORD), when the connection is made. */
    public void setMaxReads(int ord) {
        maxReads = ord;
        readsForbidden = ord == 0;
    }

    /** Posts one request, or says why not. */
    public @Nullable Refused post(SendQueueRequest request, int index) {
        String fault = faultOf(request);
        if (fault != null) {
            return new Refused(index, Reason.INVALID_REQUEST, fault);
        }
        if (!takePlace()) {
            return new Refused(index, Reason.QUEUE_FULL, "all " + depth() + " places of the send queue are taken");
        }
        SendSlot slot = slotToFill(tail);
        slot.copy(request, queuePair());
        if (slot.region() != null) {
            slot.region().claim();
        }
        tail++;
        return null;
    }

    private SendSlot slotToFill(long sequence) {
        int i = (int) sequence & (ring.length - 1);
        SendSlot slot = ring[i];
        if (slot == null) {
            slot = new SendSlot();
            ring[i] = slot;
        }
        return slot;
    }

    private SendSlot slot(long sequence) {
        SendSlot slot = ring[(int) sequence & (ring.length - 1)];
        assert slot != null : "no slot at " + sequence;
        return slot;
    }

    private @Nullable String faultOf(SendQueueRequest request) {
        return switch (request) {
            case SendRequest send ->
                send.invalidates() && send.invalidateKey() >>> 8 == 0
                        ? "no key to invalidate: 0x%08x".formatted(send.invalidateKey())
                        : faultOf(send.sges(), maxSges);
            case RdmaWriteRequest write ->
                write.sges().totalBytes() > 0 && write.remoteKey() >>> 8 == 0
                        ? "no region of the peer to write to: key 0x%08x".formatted(write.remoteKey())
                        : faultOf(write.sges(), maxSges);
            case RdmaReadRequest read ->
                read.sges().size() != 1
                        ? "a Read has one entry, not " + read.sges().size()
                        : readsForbidden ? "no Reads were agreed with the peer (ORD 0)" : faultOf(read.sges(), 1);
            case RegisterRequest register ->
                register.region() instanceof SoftFastRegion ? null : "no region of this device to register";
            case LocalInvalidateRequest ignored -> null;
        };
    }

    static @Nullable String faultOf(SgeList list, int maxSges) {
        if (list.size() > maxSges) {
            return list.size() + " entries, at most " + maxSges;
        }
        // RFC 5041, Section 5.2: a message is shorter than 2^32.
        if (list.totalBytes() > 0xFFFF_FFFFL) {
            return list.totalBytes() + " bytes, a message has at most " + 0xFFFF_FFFFL;
        }
        for (int i = 0; i < list.size(); i++) {
            if (!(list.region(i) instanceof Region)) {
                return "entry " + i + " is no region of this device";
            }
        }
        return null;
    }

    /** Whether everything posted is complete. */
    public boolean isEmpty() {
        return head == tail;
    }

    /** The request to execute now; null if there is none, or it must wait for Reads. */
    public @Nullable SendSlot executable() {
        if (next == tail) {
            return null;
        }
        SendSlot slot = slot(next);
        if (slot.isFenced() && readCount > 0) {
            return null;
        }
        // RFC 5040, Section 6.1: never more Reads open than agreed; what stands behind a parked Read waits too.
        if (slot.operation() == Operation.RDMA_READ && readCount + (rtrReadOpen ? 1 : 0) >= maxReads) {
            return null;
        }
        return slot;
    }

    /** The request given out by {@link #executable} is being executed. The sink of a Read is fixed before. */
    public void started(SendSlot slot) {
        assert slot == slot(next) : "out of order";
        next++;
        if (slot.operation() == Operation.RDMA_READ) {
            openReads[firstRead + readCount & (ring.length - 1)] = slot;
            readCount++;
        }
    }

    /** RFC 6581, Section 9.2: a Read was sent as RTR; it takes one of the peer's places as any other. */
    public void rtrReadStarted() {
        rtrReadOpen = true;
    }

    /** The Read sent as RTR was answered. */
    public void rtrReadAnswered() {
        rtrReadOpen = false;
    }

    /** The oldest Read that is not answered; null if there is none. */
    public @Nullable SendSlot oldestRead() {
        return readCount == 0 ? null : openReads[firstRead];
    }

    /** The oldest of the Reads not answered that is the one looked for; null if none is. */
    public @Nullable SendSlot findOpenRead(Predicate<SendSlot> isIt) {
        for (int i = 0; i < readCount; i++) {
            SendSlot read = openReads[firstRead + i & (ring.length - 1)];
            if (read != null && isIt.test(read)) {
                return read;
            }
        }
        return null;
    }

    /** The oldest Read was answered. */
    public void readAnswered(SendSlot slot) {
        assert slot == openReads[firstRead] : "answered out of order";
        openReads[firstRead] = null;
        firstRead = firstRead + 1 & (ring.length - 1);
        readCount--;
        finish(slot, Status.SUCCESS);
    }

    /** A request is done; reports it and those behind it, as far as order allows. */
    public void finish(SendSlot slot, Status status) {
        slot.finish(status);
        if (status == Status.SUCCESS) {
            reportDone();
        }
    }

    private void reportDone() {
        while (head < next && slot(head).isDone() && slot(head).status() == Status.SUCCESS) {
            SendSlot slot = slot(head);
            head++;
            if (slot.isSignaled()) {
                report(slot, Status.SUCCESS);
            } else {
                giveBackPlace();
            }
        }
    }

    /**
     * Completes all that is left, in order: what failed with its own status, all else as flushed, signaled or not. Nobody executes or
     * answers any of it any more.
     */
    public void flush() {
        while (head < tail) {
            SendSlot slot = slot(head);
            head++;
            SoftFastRegion claimed = slot.region();
            if (claimed != null) {
                claimed.unclaim();
                slot.forgetRegion();
            }
            report(slot, slot.status() == Status.SUCCESS ? Status.FLUSHED : slot.status());
        }
        next = tail;
        readCount = 0;
    }

    private void report(SendSlot slot, Status status) {
        long bytes = slot.operation() == Operation.RDMA_READ ? slot.received() : 0;
        completions().push(this, slot.id(), status, slot.operation(), status == Status.SUCCESS ? bytes : 0, false);
    }
}
