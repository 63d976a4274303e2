// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Makes the message of a call and reads its reply.
 *
 * @param credential who the caller says to be
 * @param timeout how long the call may take
 */
record ProgramCall(int program, int version, Credential credential, Duration timeout) {

    /** Reads results. */
    @FunctionalInterface
    interface Decoder<R> {
        R read(XdrReader in, Reply reply) throws XdrException;
    }

    /**
     * A call under a new XID.
     *
     * @param arguments what is asked; an item among them is not copied
     * @param maxReplyBytes largest reply, without what goes to the target
     * @param target where the eligible result is to be placed; null for nowhere
     */
    CallMessage message(
            RpcClient rpc, int procedure, XdrValue arguments, long maxReplyBytes, @Nullable MemorySegment target) {
        XdrWriter out = new XdrWriter();
        new CallHeader(rpc.nextXid(), program, version, procedure, credential).encode(out);
        arguments.write(out);
        CallMessage.Builder builder =
                CallMessage.builder(out.part(0)).maxReplyBytes(maxReplyBytes).timeout(timeout);
        if (out.items() > 0) {
            List<MemorySegment> pieces = new ArrayList<>(1);
            out.itemPieces(0, pieces);
            builder.item(pieces.toArray(MemorySegment[]::new)).tail(out.part(1));
        }
        if (target != null && target.byteSize() > 0) {
            builder.target(target);
        }
        return builder.build();
    }

    /** The results that a reply carries; nothing follows them. */
    static <R> R results(Reply reply, int xid, Decoder<R> decoder) throws RpcException, XdrException {
        XdrReader in = new XdrReader();
        reply.readWith(in);
        ReplyReader.readHeader(in, xid);
        R results = decoder.read(in, reply);
        in.requireEnd();
        return results;
    }
}
