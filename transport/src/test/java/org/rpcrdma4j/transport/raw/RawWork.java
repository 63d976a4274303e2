// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.WorkCompletion;

/** One Send, RDMA Write, RDMA Read or registration, and how it ended. */
public final class RawWork {
    final MemorySegment memory;
    final @Nullable MemoryRegion region;
    private WorkCompletion.@Nullable Status status;

    RawWork(MemorySegment memory, @Nullable MemoryRegion region) {
        this.memory = memory;
        this.region = region;
    }

    /** How it ended; null as long as it has not. */
    public synchronized WorkCompletion.@Nullable Status status() {
        return status;
    }

    public boolean isDone() {
        return status() != null;
    }

    public boolean isSuccess() {
        return status() == WorkCompletion.Status.SUCCESS;
    }

    /** What was read. */
    public byte[] data() {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    synchronized void end(WorkCompletion.Status how) {
        status = how;
    }
}
