// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The flight recorder's events on requests at a server. XIDs, keys and ids of work requests are shown as addresses are, in hexadecimal. */
final class RequestEvents {

    private RequestEvents() {}

    @Name("rpcrdma.CallReceived")
    @Label("Call Received")
    @Description("The header of a call was accepted")
    static final class CallReceived extends TransportEvent {
        static final CallReceived PROBE = new CallReceived();

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Procedure")
        int procedure;

        @Label("Credits Requested")
        int creditsRequested;

        @Label("Header")
        @DataAmount
        long headerBytes;

        @Label("Length")
        @DataAmount
        long length;
    }

    @Name("rpcrdma.BadCall")
    @Label("Bad Call")
    @Description("A received message is wrong")
    static final class BadCall extends TransportEvent {
        static final BadCall PROBE = new BadCall();

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Cause")
        @Nullable
        String cause;

        @Label("Version")
        int version;

        @Label("Procedure")
        int procedure;

        @Label("Length")
        @DataAmount
        long length;
    }

    @Name("rpcrdma.ChunkDecoded")
    @Label("Chunk Decoded")
    @Description("A segment of a call")
    static final class ChunkDecoded extends TransportEvent {
        static final ChunkDecoded PROBE = new ChunkDecoded();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("List")
        @Nullable
        String list;

        @Label("Segment")
        int segment;

        @Label("Position")
        int position;

        @Label("Handle")
        @MemoryAddress
        long handle;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Offset")
        @MemoryAddress
        long offset;
    }

    @Name("rpcrdma.ChunkReturned")
    @Label("Chunk Returned")
    @Description("A segment of a reply")
    static final class ChunkReturned extends TransportEvent {
        static final ChunkReturned PROBE = new ChunkReturned();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("List")
        @Nullable
        String list;

        @Label("Segment")
        int segment;

        @Label("Handle")
        @MemoryAddress
        long handle;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Offset")
        @MemoryAddress
        long offset;
    }

    @Name("rpcrdma.ErrorSent")
    @Label("Error Sent")
    @Description("RDMA_ERROR was sent")
    static final class ErrorSent extends TransportEvent {
        static final ErrorSent PROBE = new ErrorSent();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Cause")
        @Nullable
        String cause;
    }

    @Name("rpcrdma.RdmaPrepareFailed")
    @Label("RDMA Preparation Failed")
    @Description("RDMA Reads or Writes could not be prepared")
    static final class RdmaPrepareFailed extends TransportEvent {
        static final RdmaPrepareFailed PROBE = new RdmaPrepareFailed();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Cause")
        @Nullable
        String cause;

        @Label("Detail")
        @Nullable
        String detail;
    }

    @Name("rpcrdma.ReadEnded")
    @Label("Read Ended")
    @Description("The Reads of a call have ended")
    static final class ReadEnded extends TransportEvent {
        static final ReadEnded PROBE = new ReadEnded();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Took")
        @Timespan(Timespan.NANOSECONDS)
        long took;
    }

    @Name("rpcrdma.ReplyFailed")
    @Label("Reply Failed")
    @Description("A reply could not be sent")
    static final class ReplyFailed extends TransportEvent {
        static final ReplyFailed PROBE = new ReplyFailed();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Detail")
        @Nullable
        String detail;
    }
}
