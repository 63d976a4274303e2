// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * MOUNT version 3 (RFC 1813, Section 5): blocking, over a client that stays the caller's. Failures are {@link CallFailedException}; where the
 * server has no such program, the cause is {@link RpcException.ProgramUnavailable}.
 */
public final class MountClient {

    private static final long MAX_MOUNT_BYTES = 4096;
    private static final long MAX_LIST_BYTES = 128 << 10;

    private static final XdrValue NOTHING = out -> {};

    private final RpcClient rpc;
    private final ProgramCall calls;
    private final String host;

    @FunctionalInterface
    private interface Decoder<R> {
        R read(XdrReader in) throws XdrException;
    }

    /**
     * A client.
     *
     * @param host for messages
     * @param timeout of each call
     */
    public MountClient(RpcClient rpc, String host, Credential credential, Duration timeout) {
        this.rpc = rpc;
        this.host = host;
        calls = new ProgramCall(Mount.PROGRAM, Mount.VERSION, credential, timeout);
    }

    private <R> R call(int procedure, XdrValue arguments, long maxReplyBytes, Decoder<R> decoder, String action)
            throws IOException {
        CallMessage message = calls.message(rpc, procedure, arguments, maxReplyBytes, null);
        CompletableFuture<Reply> pending = rpc.send(message);
        Reply reply = Waiting.await(pending, action, host);
        try {
            return ProgramCall.results(reply, message.xid(), (in, ignored) -> decoder.read(in));
        } catch (RpcException | XdrException e) {
            throw Waiting.failure(e, action, host);
        }
    }

    /** MNT: asks for the handle of a directory. */
    public Mount.Results mount(PathBytes directory) throws IOException {
        return call(Mount.MNT, directory, MAX_MOUNT_BYTES, Mount.Results::read, "mount");
    }

    /** UMNT: says that a directory is no longer used. */
    public void unmount(PathBytes directory) throws IOException {
        call(Mount.UMNT, directory, MAX_MOUNT_BYTES, in -> MemorySegment.NULL, "unmount");
    }

    /** UMNTALL: says that none of the caller's directories is used any more. */
    public void unmountAll() throws IOException {
        call(Mount.UMNTALL, NOTHING, MAX_MOUNT_BYTES, in -> MemorySegment.NULL, "unmount");
    }

    /** EXPORT: which directories may be mounted. */
    public List<Mount.Export> exports() throws IOException {
        return call(Mount.EXPORT, NOTHING, MAX_LIST_BYTES, Mount::readExports, "list the exports of");
    }

    /** DUMP: who has mounted what. */
    public List<Mount.Entry> entries() throws IOException {
        return call(Mount.DUMP, NOTHING, MAX_LIST_BYTES, Mount::readEntries, "list the mounts of");
    }
}
