// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.dcache.oncrpc4j.rpc.OncRpcAcceptedException;
import org.dcache.oncrpc4j.rpc.OncRpcRejectedException;
import org.dcache.oncrpc4j.rpc.RpcAccepsStatus;
import org.dcache.oncrpc4j.rpc.RpcMessageType;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** What becomes of a reply, or of a call without one, in oncrpc4j's terms. Without state. */
final class ReplyDelivery {

    private ReplyDelivery() {}

    /** Tells the call of the reply that is in the message. What is wrong with the reply is told too, where oncrpc4j only logs it. */
    static void deliver(ReceivedXdr message, PendingCall call, RpcTransport transport) {
        RpcReply reply;
        try {
            message.beginDecoding();
            message.xdrDecodeInt();
            int type = message.xdrDecodeInt();
            if (type != RpcMessageType.REPLY) {
                throw new IOException("message of type " + type + " where a reply is due");
            }
            reply = new RpcReply(call.xid(), message, transport);
        } catch (IOException | RuntimeException e) {
            call.failed(e, transport);
            return;
        }
        if (!reply.isAccepted()) {
            call.failed(new OncRpcRejectedException(reply.getRejectStatus()), transport);
        } else if (reply.getAcceptStatus() != RpcAccepsStatus.SUCCESS) {
            call.failed(new OncRpcAcceptedException(reply.getAcceptStatus()), transport);
        } else {
            call.completed(reply, transport);
        }
    }

    /**
     * The whole reply, what was placed at its place in it.
     *
     * @param isBorrowed whether the target is to be copied from, since other calls will need it
     * @throws IOException if the server has placed something that is not what its reply says
     */
    static ReceivedXdr unreduced(
            Reply reply, CallHeader header, @Nullable MemorySegment target, Bindings bindings, boolean isBorrowed)
            throws IOException {
        MemorySegment message = reply.message();
        long placed = reply.placedBytes();
        if (placed == 0 || target == null) {
            return new ReceivedXdr(List.of(message));
        }
        long position = placeOf(message, header, bindings, placed);
        byte[] pad = new byte[(int) (XdrReader.padded(placed) - placed)];
        ReceivedXdr whole = new ReceivedXdr(List.of(
                message.asSlice(0, position),
                target.asSlice(0, placed),
                MemorySegment.ofArray(pad),
                message.asSlice(position)));
        if (isBorrowed) {
            whole.borrow(Math.toIntExact(position));
        }
        return whole;
    }

    /** Where the first result that has a byte belongs. RFC 8166, Section 3.4.6.2: its length is what was placed. */
    private static long placeOf(MemorySegment message, CallHeader header, Bindings bindings, long placed)
            throws IOException {
        long[] found = {-1, 0};
        ItemSink first = (position, length) -> {
            boolean isFirst = found[0] < 0 && length > 0;
            if (isFirst) {
                found[0] = position;
                found[1] = length;
            }
            return isFirst;
        };
        XdrReader results = new XdrReader(message);
        try {
            ReplyReader.readHeader(results, header.xid());
            bindings.find(header).resultItems(header, results, first);
        } catch (RpcException | XdrException e) {
            if (found[0] < 0) {
                throw new TransportException(
                        TransportException.Kind.BAD_REPLY, true, placed + " bytes placed, but no result: " + e, null);
            }
        }
        if (found[1] != placed) {
            throw new TransportException(
                    TransportException.Kind.BAD_REPLY, true, placed + " bytes placed for a result of " + found[1]);
        }
        return found[0];
    }

    /**
     * What the caller is told of a call that has no reply: as over other transports where they have a word for it, else as the transport says.
     * Never with a cause, since oncrpc4j throws the innermost one to the caller.
     */
    static Throwable failureOf(Throwable end, PendingCall call) {
        if (end instanceof CancellationException) {
            // Whoever gives up its call does not wait for this; so it is the caller's timeout.
            return call.timeoutNanos() > 0 ? call.timedOut() : new CancellationException("given up");
        }
        if (!(end instanceof TransportException failure)) {
            return end;
        }
        Throwable told = switch (failure.kind()) {
            case TIMED_OUT ->
                call.timeoutNanos() > 0
                        ? call.timedOut()
                        // Not a TimeoutException: oncrpc4j takes it for a fault in a call without a timeout.
                        : new SocketTimeoutException(failure.getMessage());
            case CONNECTION_LOST, CLOSED -> new EOFException(failure.getMessage());
            case CANCELLED -> new CancellationException(failure.getMessage());
            default ->
                new TransportException(failure.kind(), failure.undecided(), String.valueOf(failure.getMessage()));
        };
        told.addSuppressed(failure);
        return told;
    }
}
