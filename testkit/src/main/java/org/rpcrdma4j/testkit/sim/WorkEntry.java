// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SgeList;
import org.rpcrdma4j.verbs.WorkCompletion;

/** The device's copy of a work request, and how far it has come. Owned by its queue until its place is free. */
final class WorkEntry {

    private static final SimRegion[] NO_REGIONS = {};

    final WorkQueue queue;
    final long id;
    final WorkCompletion.Operation operation;

    boolean signaled = true;
    boolean fence;
    SimRegion[] regions = NO_REGIONS;
    long[] offsets = {};
    long[] lengths = {};
    long totalBytes;

    int remoteKey;
    long remoteAddress;
    boolean solicited;
    boolean invalidates;
    int invalidateKey;

    @Nullable
    SimFastRegion registered;

    int newKey;
    Access access = Access.LOCAL_READ;
    RegisterRequest.Scope scope = RegisterRequest.Scope.QUEUE_PAIR;

    /** Bytes sent, or placed. */
    long progress;

    /** Hash of the bytes sent so far. */
    long sentHash = Trace.emptyHash();

    /** How it is going to fail, once its effect has taken place; null if it is not. */
    FaultPlan.@Nullable WorkFailure failure;

    private boolean hasBegun;

    /** How it ended; null until it has. */
    WorkCompletion.@Nullable Status status;

    /** When its completion may be made. */
    long readyNanos;

    WorkEntry(WorkQueue queue, long id, WorkCompletion.Operation operation) {
        this.queue = queue;
        this.id = id;
        this.operation = operation;
    }

    /** Copies the list. Returns false if an entry is not a region of the device. */
    boolean copySges(SgeList list, SimulatedDevice device) {
        int size = list.size();
        regions = new SimRegion[size];
        offsets = new long[size];
        lengths = new long[size];
        totalBytes = list.totalBytes();
        for (int i = 0; i < size; i++) {
            MemoryRegion region = list.region(i);
            if (!(region instanceof SimRegion own) || own.device != device) {
                return false;
            }
            regions[i] = own;
            offsets[i] = list.offset(i);
            lengths[i] = list.length(i);
        }
        return true;
    }

    void hold() {
        for (SimRegion region : regions) {
            region.users++;
        }
        if (registered != null) {
            registered.pendingRegistrations++;
        }
    }

    void release() {
        for (SimRegion region : regions) {
            region.users--;
        }
    }

    /** Its execution begins, or goes on. Returns false if it has failed by this. */
    boolean begin(FaultPlan faults) {
        if (!hasBegun) {
            hasBegun = true;
            failure = faults.failureOf(operation);
        }
        return failure == null || failure.isEffective();
    }

    boolean isDone() {
        return status != null;
    }

    boolean isSuccess() {
        return status == WorkCompletion.Status.SUCCESS;
    }

    /** Ends it, for the first time or in place of a success that nobody has seen. */
    void end(WorkCompletion.Status how) {
        if (status == null && registered != null) {
            registered.pendingRegistrations--;
        }
        status = how;
    }

    /** Whether a queue that is armed for solicited events wakes for it. */
    boolean wakesSolicited() {
        return !isSuccess() || (operation == WorkCompletion.Operation.RECEIVE && solicited);
    }

    void fill(WorkCompletion into) {
        boolean counts =
                operation == WorkCompletion.Operation.RECEIVE || operation == WorkCompletion.Operation.RDMA_READ;
        WorkCompletion.Status how = status == null ? WorkCompletion.Status.GENERAL_ERROR : status;
        into.set(id, how, operation, queue.queuePairNumber(), isSuccess() && counts ? progress : 0);
        if (isSuccess() && operation == WorkCompletion.Operation.RECEIVE && invalidates) {
            into.setInvalidated(invalidateKey);
        }
    }

    /** Whether all its memory may be used by the queue pair now. */
    boolean admits(SimQueuePair user, boolean writing) {
        for (int i = 0; i < regions.length; i++) {
            if (lengths[i] > 0 && !regions[i].admitsLocal(user, offsets[i], lengths[i], writing)) {
                return false;
            }
        }
        return true;
    }

    /** Gathers the bytes from {@code position} on. */
    byte[] gather(long position, int count) {
        byte[] bytes = new byte[count];
        move(position, bytes, false);
        return bytes;
    }

    /** Scatters bytes from {@code position} on. */
    void scatter(long position, byte[] bytes) {
        move(position, bytes, true);
    }

    private void move(long position, byte[] bytes, boolean inward) {
        int done = 0;
        long start = 0;
        for (int i = 0; i < regions.length && done < bytes.length; i++) {
            long within = position + done - start;
            if (within < lengths[i]) {
                int part = (int) Math.min(bytes.length - done, lengths[i] - within);
                if (inward) {
                    regions[i].pieces.copyIn(offsets[i] + within, bytes, done, part);
                } else {
                    regions[i].pieces.copyOut(offsets[i] + within, bytes, done, part);
                }
                done += part;
            }
            start += lengths[i];
        }
    }
}
