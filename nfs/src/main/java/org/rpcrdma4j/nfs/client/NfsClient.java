// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.MkNod;
import org.rpcrdma4j.nfs.protocol.Nfs3;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.PathConf;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.ReadLink;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.RmDir;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * The procedures of NFS version 3 (RFC 1813, Section 3.3), without waiting, over RDMA or TCP.
 *
 * <p>Each future completes with the procedure's results, whatever their status; NFS3ERR_JUKEBOX is not among them until the server has said
 * it for {@link MountOptions#busyTimeout}. It fails with a {@link org.rpcrdma4j.transport.client.TransportException} if there was no reply, a
 * {@link org.rpcrdma4j.transport.rpc.RpcException} if the reply has no results, and an {@link XdrException} if they make no sense. It completes
 * on a thread of the client, so dependents must not block, and not before all memory of the call is the caller's again; that goes for {@link
 * CompletableFuture#cancel}, too, which gives the call up.
 *
 * <p>All methods may be called from any thread.
 */
public final class NfsClient {

    /** RFC 8166, Section 4.3.3: results of all procedures but those that return paths, names or data are less than this. */
    private static final long SMALL_REPLY_BYTES = CallMessage.DEFAULT_MAX_REPLY_BYTES;

    /** Status, attributes and a count word. */
    private static final long PATH_REPLY_BYTES =
            ReplyHeader.MAX_SUCCESS_LENGTH + 4 + 88 + 4 + (long) ResultLimits.DEFAULT.pathBytes();

    /** The attributes in front and the end of the directory, if a server takes the count for the entries alone. */
    private static final long DIRECTORY_REPLY_SLACK = ReplyHeader.MAX_SUCCESS_LENGTH + 104;

    private final RpcClient rpc;
    private final ProgramCall calls;
    private final long busyMillis;

    @FunctionalInterface
    private interface Decoder<R> {
        R read(XdrReader in) throws XdrException;
    }

    private NfsClient(RpcClient rpc, MountOptions options) {
        this.rpc = rpc;
        calls = new ProgramCall(Nfs3.PROGRAM, Nfs3.VERSION, options.credential(), options.timeout());
        busyMillis = options.busyTimeout().toMillis();
    }

    /** Calls over a client that stays the caller's, with the options' credential and timeouts. */
    public static NfsClient over(RpcClient rpc, MountOptions options) {
        return new NfsClient(rpc, options);
    }

    /** What the calls go over. */
    public RpcClient rpc() {
        return rpc;
    }

    private <R extends NfsResults> CompletableFuture<NfsReply<R>> call(
            Procedure procedure, XdrValue arguments, Decoder<R> decoder) {
        return call(procedure, arguments, SMALL_REPLY_BYTES, null, (in, reply) -> decoder.read(in));
    }

    private <R extends NfsResults> CompletableFuture<NfsReply<R>> call(
            Procedure procedure,
            XdrValue arguments,
            long maxReplyBytes,
            @Nullable MemorySegment target,
            ProgramCall.Decoder<R> decoder) {
        NfsCall<R> call = new NfsCall<>(
                rpc,
                () -> calls.message(rpc, procedure.number(), arguments, maxReplyBytes, target),
                decoder,
                busyMillis);
        call.start();
        return call;
    }

    private record Nothing(Status status) implements NfsResults {
        @Override
        public void write(org.rpcrdma4j.transport.xdr.XdrWriter out) {}
    }

    /** NULL: does nothing, but goes there and back. */
    public CompletableFuture<Void> nothing() {
        return call(Procedure.NULL, new Nothing(Status.OK), in -> new Nothing(Status.OK))
                .thenApply(reply -> null);
    }

    /** GETATTR. */
    public CompletableFuture<NfsReply<GetAttr.Results>> getAttributes(GetAttr.Arguments arguments) {
        return call(Procedure.GETATTR, arguments, GetAttr.Results::read);
    }

    /** SETATTR. */
    public CompletableFuture<NfsReply<ChangeResults>> setAttributes(SetAttr.Arguments arguments) {
        return call(Procedure.SETATTR, arguments, ChangeResults::read);
    }

    /** LOOKUP. */
    public CompletableFuture<NfsReply<Lookup.Results>> lookup(Lookup.Arguments arguments) {
        return call(Procedure.LOOKUP, arguments, Lookup.Results::read);
    }

    /** ACCESS. */
    public CompletableFuture<NfsReply<Access.Results>> access(Access.Arguments arguments) {
        return call(Procedure.ACCESS, arguments, Access.Results::read);
    }

    /** READLINK. */
    public CompletableFuture<NfsReply<ReadLink.Results>> readLink(ReadLink.Arguments arguments) {
        return call(Procedure.READLINK, arguments, PATH_REPLY_BYTES, null, (in, reply) -> ReadLink.Results.read(in));
    }

    /**
     * READ, into the caller's memory: where it is native, over RDMA, the data is placed there by the device, otherwise it is copied. The
     * results' {@code data} is empty; the first {@code count} bytes of the target hold it.
     *
     * @param target as long as what is asked for
     * @throws IllegalArgumentException if it is not
     */
    public CompletableFuture<NfsReply<Read.Results>> read(Read.Arguments arguments, MemorySegment target) {
        if (target.byteSize() != arguments.count()) {
            throw new IllegalArgumentException(
                    "memory of " + target.byteSize() + " bytes for a READ of " + arguments.count());
        }
        return call(Procedure.READ, arguments, SMALL_REPLY_BYTES, target, (in, reply) -> {
            Read.Results results = Read.Results.read(in, reply.placedBytes(), target.byteSize());
            return results instanceof Read.Ok ok ? placed(ok, target) : results;
        });
    }

    /** RFC 8166, Section 4.3.2: a server need not use the chunk; the data then is in the message. */
    private static Read.Ok placed(Read.Ok ok, MemorySegment target) {
        long at = 0;
        for (MemorySegment piece : ok.data()) {
            MemorySegment.copy(piece, 0, target, at, piece.byteSize());
            at += piece.byteSize();
        }
        return new Read.Ok(ok.attributes(), ok.count(), ok.endOfFile(), java.util.List.of());
    }

    /** WRITE, from the caller's memory, which stays as it is until the future completes. */
    public CompletableFuture<NfsReply<Write.Results>> write(Write.Arguments arguments) {
        return call(Procedure.WRITE, arguments, Write.Results::read);
    }

    /** CREATE. */
    public CompletableFuture<NfsReply<CreateResults>> create(Create.Arguments arguments) {
        return call(Procedure.CREATE, arguments, CreateResults::read);
    }

    /** MKDIR. */
    public CompletableFuture<NfsReply<CreateResults>> makeDirectory(MkDir.Arguments arguments) {
        return call(Procedure.MKDIR, arguments, CreateResults::read);
    }

    /** SYMLINK. */
    public CompletableFuture<NfsReply<CreateResults>> symbolicLink(SymLink.Arguments arguments) {
        return call(Procedure.SYMLINK, arguments, CreateResults::read);
    }

    /** MKNOD. */
    public CompletableFuture<NfsReply<CreateResults>> makeNode(MkNod.Arguments arguments) {
        return call(Procedure.MKNOD, arguments, CreateResults::read);
    }

    /** REMOVE. */
    public CompletableFuture<NfsReply<ChangeResults>> remove(Remove.Arguments arguments) {
        return call(Procedure.REMOVE, arguments, ChangeResults::read);
    }

    /** RMDIR. */
    public CompletableFuture<NfsReply<ChangeResults>> removeDirectory(RmDir.Arguments arguments) {
        return call(Procedure.RMDIR, arguments, ChangeResults::read);
    }

    /** RENAME. */
    public CompletableFuture<NfsReply<Rename.Results>> rename(Rename.Arguments arguments) {
        return call(Procedure.RENAME, arguments, Rename.Results::read);
    }

    /** LINK. */
    public CompletableFuture<NfsReply<Link.Results>> link(Link.Arguments arguments) {
        return call(Procedure.LINK, arguments, Link.Results::read);
    }

    /** READDIR. */
    public CompletableFuture<NfsReply<ReadDir.Results>> readDirectory(ReadDir.Arguments arguments) {
        return call(
                Procedure.READDIR,
                arguments,
                DIRECTORY_REPLY_SLACK + arguments.count(),
                null,
                (in, reply) -> ReadDir.Results.read(in));
    }

    /** READDIRPLUS. */
    public CompletableFuture<NfsReply<ReadDirPlus.Results>> readDirectoryPlus(ReadDirPlus.Arguments arguments) {
        return call(
                Procedure.READDIRPLUS,
                arguments,
                DIRECTORY_REPLY_SLACK + arguments.maxCount(),
                null,
                (in, reply) -> ReadDirPlus.Results.read(in));
    }

    /** FSSTAT. */
    public CompletableFuture<NfsReply<FsStat.Results>> statFilesystem(FsStat.Arguments arguments) {
        return call(Procedure.FSSTAT, arguments, FsStat.Results::read);
    }

    /** FSINFO. */
    public CompletableFuture<NfsReply<FsInfo.Results>> filesystemInfo(FsInfo.Arguments arguments) {
        return call(Procedure.FSINFO, arguments, FsInfo.Results::read);
    }

    /** PATHCONF. */
    public CompletableFuture<NfsReply<PathConf.Results>> pathConfiguration(PathConf.Arguments arguments) {
        return call(Procedure.PATHCONF, arguments, PathConf.Results::read);
    }

    /** COMMIT. */
    public CompletableFuture<NfsReply<Commit.Results>> commit(Commit.Arguments arguments) {
        return call(Procedure.COMMIT, arguments, Commit.Results::read);
    }
}
