// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.queue;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.RdmaRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * A posted work request of the send queue: the device's copy, and how far it got.
 *
 * <p>The copy is written under the queue pair's lock while posting and constant until the slot is used again; how far it got is
 * guarded by that lock, but for the fields of a Read, which belong to the receiving side.
 */
public final class SendSlot {
    private final Sges sges = new Sges();
    private long id;
    private Operation operation = Operation.SEND;
    private boolean signaled;
    private boolean fence;
    private boolean solicited;
    private boolean invalidates;
    private int key;
    private long remoteAddress;
    private @Nullable SoftFastRegion region;
    private Access access = Access.LOCAL_READ;
    private int scope;

    private boolean done;
    private Status status = Status.SUCCESS;

    private int sinkStag;
    private long sinkOffset;
    private int requestMsn;
    private long received;

    SendSlot() {}

    void copy(SendQueueRequest request, int queuePair) {
        id = request.id();
        operation = request.operation();
        signaled = request.signaled();
        fence = request.fence();
        done = false;
        status = Status.SUCCESS;
        sinkStag = 0;
        sinkOffset = 0;
        received = 0;
        sges.clear();
        switch (request) {
            case SendRequest send -> {
                sges.copy(send.sges());
                solicited = send.isSolicited();
                invalidates = send.invalidates();
                key = send.invalidateKey();
            }
            case RdmaRequest<?> rdma -> {
                sges.copy(rdma.sges());
                key = rdma.remoteKey();
                remoteAddress = rdma.remoteAddress();
            }
            case RegisterRequest register -> {
                region = (SoftFastRegion) register.region();
                key = register.key();
                access = register.access();
                scope = register.scope() == RegisterRequest.Scope.QUEUE_PAIR ? queuePair : Region.DOMAIN_WIDE;
            }
            case LocalInvalidateRequest invalidate -> key = invalidate.key();
        }
    }

    /** The registration was executed or dropped. */
    public void forgetRegion() {
        region = null;
    }

    public long id() {
        return id;
    }

    public Operation operation() {
        return operation;
    }

    public boolean isSignaled() {
        return signaled;
    }

    public boolean isFenced() {
        return fence;
    }

    public boolean isSolicited() {
        return solicited;
    }

    /** For a Send: whether {@link #key} is to be invalidated by the peer. */
    public boolean invalidates() {
        return invalidates;
    }

    /** The key to write to, read from, register or invalidate. */
    public int key() {
        return key;
    }

    public long remoteAddress() {
        return remoteAddress;
    }

    public Sges sges() {
        return sges;
    }

    /** For a registration: the region; null once it was executed. */
    public @Nullable SoftFastRegion region() {
        return region;
    }

    public Access access() {
        return access;
    }

    /** For a registration: the queue pair that may use the region, or {@link Region#DOMAIN_WIDE}. */
    public int scope() {
        return scope;
    }

    boolean isDone() {
        return done;
    }

    Status status() {
        return status;
    }

    void finish(Status newStatus) {
        done = true;
        status = newStatus;
    }

    /** For a Read: fixes where its Response will arrive, and the Request's MSN, when the Request goes out. */
    public void setSink(int stag, long offset, int msn) {
        sinkStag = stag;
        sinkOffset = offset;
        requestMsn = msn;
    }

    /** For a Read: the MSN of its Request. */
    public int requestMsn() {
        return requestMsn;
    }

    public int sinkStag() {
        return sinkStag;
    }

    /** For a Read: the tagged offset at which the Response starts. */
    public long sinkOffset() {
        return sinkOffset;
    }

    /** For a Read: bytes placed so far. */
    public long received() {
        return received;
    }

    /** For a Read: counts bytes placed. */
    public void addReceived(long bytes) {
        received += bytes;
    }
}
