// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;

/** Where a received call's reply goes, and what there is for making it: a server's request, or a reverse call at a client. */
interface CallSink {

    /** Answers. @throws IllegalStateException if the call was answered already */
    void reply(ReplyPieces pieces);

    /** Answers with a header without results. */
    void replyError(ReplyHeader header);

    /** Ends a call that cannot be answered in RPC terms. */
    void refuse();

    /** Whether it was answered. */
    boolean isAnswered();

    /** Registered memory for results, or null if there is none. */
    @Nullable
    MemorySegment allocate(int bytes);

    /** Whether the caller offers memory for eligible results. */
    boolean takesResults();

    /** Whether the bytes lie in the call's own memory, which goes when it is answered. */
    boolean isOfCall(MemorySegment bytes);

    InetSocketAddress localAddress();

    InetSocketAddress remoteAddress();

    /** For calls to the caller. */
    RpcTransport peer();
}
