// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The flight recorder's events on calls at a client. XIDs, keys and ids of work requests are shown as addresses are, in hexadecimal. */
final class CallEvents {

    private CallEvents() {}

    @Name("rpcrdma.Marshal")
    @Label("Marshal")
    @Description("A call was marshalled")
    static final class Marshal extends TransportEvent {
        static final Marshal PROBE = new Marshal();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Header")
        @DataAmount
        long headerBytes;

        @Label("Head")
        @DataAmount
        long headBytes;

        @Label("Item")
        @DataAmount
        long itemBytes;

        @Label("Tail")
        @DataAmount
        long tailBytes;

        @Label("Call Form")
        @Nullable
        String callForm;

        @Label("Reply Form")
        @Nullable
        String replyForm;
    }

    @Name("rpcrdma.MarshalFailed")
    @Label("Marshal Failed")
    @Description("A call could not be marshalled")
    static final class MarshalFailed extends TransportEvent {
        static final MarshalFailed PROBE = new MarshalFailed();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Cause")
        @Nullable
        String cause;
    }

    @Name("rpcrdma.ChunkOffered")
    @Label("Chunk Offered")
    @Description("A segment was put into a call")
    static final class ChunkOffered extends TransportEvent {
        static final ChunkOffered PROBE = new ChunkOffered();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("List")
        @Nullable
        String list;

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

        @Label("Segments Left")
        int segmentsLeft;
    }

    @Name("rpcrdma.RegionsExhausted")
    @Label("Regions Exhausted")
    @Description("A call waits because no region is free")
    static final class RegionsExhausted extends TransportEvent {
        static final RegionsExhausted PROBE = new RegionsExhausted();

        @Label("XID")
        @MemoryAddress
        long xid;
    }

    @Name("rpcrdma.Reply")
    @Label("Reply")
    @Description("A reply was matched with its call")
    static final class Reply extends TransportEvent {
        static final Reply PROBE = new Reply();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Credits Granted")
        int creditsGranted;

        @Label("Length")
        @DataAmount
        long length;

        @Label("RDMA Bytes")
        @DataAmount
        long rdmaBytes;

        @Label("Since Send")
        @Timespan(Timespan.NANOSECONDS)
        long sinceSend;
    }

    @Name("rpcrdma.CallEnded")
    @Label("Call Ended")
    @Description("A call was handed back to its caller")
    static final class CallEnded extends TransportEvent {
        static final CallEnded PROBE = new CallEnded();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Outcome")
        @Nullable
        String outcome;

        @Label("Took")
        @Timespan(Timespan.NANOSECONDS)
        long took;

        @Label("Fence")
        @Timespan(Timespan.NANOSECONDS)
        long fence;

        @Label("Hand-over")
        @Timespan(Timespan.NANOSECONDS)
        long handOver;
    }

    @Name("rpcrdma.CancelledRpcFenced")
    @Label("Cancelled RPC Fenced")
    @Description("The memory of a call that was given up is shut to the peer")
    static final class CancelledRpcFenced extends TransportEvent {
        static final CancelledRpcFenced PROBE = new CancelledRpcFenced();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Regions")
        int regions;

        @Label("By Disconnect")
        boolean byDisconnect;
    }

    @Name("rpcrdma.BadReply")
    @Label("Bad Reply")
    @Description("A received message is wrong")
    static final class BadReply extends TransportEvent {
        static final BadReply PROBE = new BadReply();

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

    @Name("rpcrdma.PeerError")
    @Label("Peer Error")
    @Description("The peer sent RDMA_ERROR")
    static final class PeerError extends TransportEvent {
        static final PeerError PROBE = new PeerError();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Cause")
        @Nullable
        String cause;

        @Label("Lowest Version")
        int lowVersion;

        @Label("Highest Version")
        int highVersion;
    }
}
