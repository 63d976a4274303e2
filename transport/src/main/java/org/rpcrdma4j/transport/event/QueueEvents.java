// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The flight recorder's events on the queues of a connection. XIDs, keys and ids of work requests are shown as addresses are, in hexadecimal. */
final class QueueEvents {

    private QueueEvents() {}

    @Name("rpcrdma.PostSend")
    @Label("Post Send")
    @Description("A Send is handed to the send queue")
    static final class PostSend extends TransportEvent {
        static final PostSend PROBE = new PostSend();

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Scatter/Gather Entries")
        int sges;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Signaled")
        boolean signaled;

        @Label("Invalidated Key")
        @MemoryAddress
        long invalidatedKey;
    }

    @Name("rpcrdma.PostRdma")
    @Label("Post RDMA")
    @Description("RDMA Reads or Writes are handed to the send queue")
    static final class PostRdma extends TransportEvent {
        static final PostRdma PROBE = new PostRdma();

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Kind")
        @Nullable
        String kind;

        @Label("Work Requests")
        int requests;

        @Label("Length")
        @DataAmount
        long length;
    }

    @Name("rpcrdma.PostError")
    @Label("Post Error")
    @Description("The queue pair refused work requests")
    static final class PostError extends TransportEvent {
        static final PostError PROBE = new PostError();

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("Reason")
        @Nullable
        String reason;

        @Label("Detail")
        @Nullable
        String detail;
    }

    @Name("rpcrdma.Completion")
    @Label("Completion")
    @Description("A work request has succeeded")
    static final class Completion extends TransportEvent {
        static final Completion PROBE = new Completion();

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("Operation")
        @Nullable
        String operation;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Invalidated Key")
        @MemoryAddress
        long invalidatedKey;

        @Label("Since Post")
        @Timespan(Timespan.NANOSECONDS)
        long sincePost;
    }

    @Name("rpcrdma.CompletionError")
    @Label("Completion Error")
    @Description("A work request has failed or was flushed")
    static final class CompletionError extends TransportEvent {
        static final CompletionError PROBE = new CompletionError();

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("Status")
        @Nullable
        String status;

        @Label("Flushed")
        boolean flushed;

        @Label("Since Post")
        @Timespan(Timespan.NANOSECONDS)
        long sincePost;
    }

    @Name("rpcrdma.SendQueueFull")
    @Label("Send Queue Full")
    @Description("Work requests waited for room in the send queue")
    static final class SendQueueFull extends TransportEvent {
        static final SendQueueFull PROBE = new SendQueueFull();

        @Label("Needed")
        int needed;

        @Label("Depth")
        int depth;

        @Label("Waited")
        @Timespan(Timespan.NANOSECONDS)
        long waited;
    }
}
