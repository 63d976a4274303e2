// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.Nfs3;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Makes calls of NFS and MOUNT from the protocol's records, one at a time or many, as one user. */
final class Caller {

    private static final int MAX_REPLY = 64 << 10;

    final RpcClient client;
    private final Credential credential;

    Caller(RpcClient client, Credential credential) {
        this.client = client;
        this.credential = credential;
    }

    /** Reads results. */
    interface ResultReader<R> {
        R read(XdrReader in) throws XdrException;
    }

    /** The arguments as bytes, without marking any item. */
    static MemorySegment encode(XdrValue... arguments) {
        XdrWriter out = new XdrWriter();
        for (XdrValue argument : arguments) {
            argument.write(out);
        }
        return MemorySegment.ofArray(out.toByteArray());
    }

    /** A call, its item apart if it has one. */
    private CallMessage.Builder message(
            int xid, int program, int version, int procedure, @Nullable XdrValue arguments) {
        XdrWriter out = new XdrWriter();
        new CallHeader(xid, program, version, procedure, credential).encode(out);
        if (arguments != null) {
            arguments.write(out);
        }
        if (out.items() == 0) {
            return CallMessage.builder(out.part(0));
        }
        List<MemorySegment> item = new ArrayList<>();
        out.itemPieces(0, item);
        return CallMessage.builder(out.part(0))
                .item(item.toArray(MemorySegment[]::new))
                .tail(out.part(1));
    }

    <R> R call(Procedure procedure, XdrValue arguments, ResultReader<R> reader) {
        return call(client.nextXid(), procedure, arguments, reader);
    }

    <R> R call(int xid, Procedure procedure, XdrValue arguments, ResultReader<R> reader) {
        return results(send(xid, procedure, arguments), reader);
    }

    Reply send(int xid, Procedure procedure, XdrValue arguments) {
        return await(client.send(message(xid, Nfs3.PROGRAM, Nfs3.VERSION, procedure.number(), arguments)
                .maxReplyBytes(MAX_REPLY)
                .build()));
    }

    /** The whole reply as it came. */
    byte[] reply(int xid, Procedure procedure, XdrValue arguments) {
        return send(xid, procedure, arguments).message().toArray(ValueLayout.JAVA_BYTE);
    }

    /** A call whose reply may be that long, so a Reply chunk is offered. */
    <R> R callFor(int maxReply, Procedure procedure, XdrValue arguments, ResultReader<R> reader) {
        return results(
                await(client.send(message(client.nextXid(), Nfs3.PROGRAM, Nfs3.VERSION, procedure.number(), arguments)
                        .maxReplyBytes(maxReply)
                        .build())),
                reader);
    }

    CompletableFuture<Reply> sendInto(Procedure procedure, XdrValue arguments, MemorySegment target) {
        return client.send(message(client.nextXid(), Nfs3.PROGRAM, Nfs3.VERSION, procedure.number(), arguments)
                .target(target)
                .build());
    }

    CompletableFuture<Reply> sendAsync(Procedure procedure, XdrValue arguments) {
        return client.send(message(client.nextXid(), Nfs3.PROGRAM, Nfs3.VERSION, procedure.number(), arguments)
                .build());
    }

    <R> R mount(int procedure, @Nullable XdrValue arguments, ResultReader<R> reader) {
        return results(
                await(client.send(message(client.nextXid(), Mount.PROGRAM, Mount.VERSION, procedure, arguments)
                        .maxReplyBytes(MAX_REPLY)
                        .build())),
                reader);
    }

    /** What the server says to a call made of these bytes. */
    AcceptStatus raw(int program, int version, int procedure, MemorySegment arguments) {
        XdrWriter out = new XdrWriter();
        new CallHeader(client.nextXid(), program, version, procedure, credential).encode(out);
        out.writeBytes(arguments);
        Reply reply = await(client.send(
                CallMessage.builder(out.part(0)).maxReplyBytes(MAX_REPLY).build()));
        try {
            return ((ReplyHeader.Accepted) ReplyHeader.decode(new XdrReader(reply.message()))).status();
        } catch (XdrException e) {
            throw new AssertionError(e);
        }
    }

    static Reply await(CompletableFuture<Reply> pending) {
        try {
            return pending.get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("no reply", e);
        }
    }

    /** Reads the results of a reply; nothing may follow. */
    static <R> R results(Reply reply, ResultReader<R> reader) {
        XdrReader in = new XdrReader(reply.message());
        try {
            ReplyHeader header = ReplyHeader.decode(in);
            assertThat(header).isEqualTo(ReplyHeader.of(reply.xid(), AcceptStatus.SUCCESS));
            R result = reader.read(in);
            in.requireEnd();
            return result;
        } catch (XdrException e) {
            throw new AssertionError(e);
        }
    }
}
