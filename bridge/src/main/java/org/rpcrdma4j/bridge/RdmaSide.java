// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;
import org.rpcrdma4j.transport.server.RequestHandler;
import org.rpcrdma4j.transport.server.ServerRequest;

/** Clients over RDMA. */
final class RdmaSide implements RequestHandler {

    /** So many ended connections are remembered, for calls whose handler comes after the end. */
    private static final int MOST_ENDED = 1024;

    private final Supplier<Upstream> upstreams;
    private final Map<Long, Upstream> byConnection = new HashMap<>();
    private final LinkedHashSet<Long> ended = new LinkedHashSet<>();

    RdmaSide(Supplier<Upstream> upstreams) {
        this.upstreams = upstreams;
    }

    @Override
    public void onRequest(ServerRequest request) {
        Upstream upstream;
        synchronized (byConnection) {
            long id = request.connectionId();
            upstream = ended.contains(id) ? null : byConnection.computeIfAbsent(id, any -> upstreams.get());
        }
        if (upstream == null) {
            request.dropConnection("it has ended");
        } else {
            upstream.forward(new Call(request));
        }
    }

    @Override
    public void onConnectionEnd(long connectionId) {
        Upstream upstream;
        synchronized (byConnection) {
            upstream = byConnection.remove(connectionId);
            ended.add(connectionId);
            if (ended.size() > MOST_ENDED) {
                ended.removeFirst();
            }
        }
        if (upstream != null) {
            upstream.close();
        }
    }

    /** A call that came in a message, parts of it perhaps by RDMA Read. */
    private record Call(ServerRequest request) implements ForwardedCall {

        @Override
        public List<MemorySegment> message() {
            return request.message();
        }

        @Override
        public MemorySegment allocate(long bytes) {
            return request.allocate(bytes);
        }

        @Override
        public boolean sendsFromAllocated() {
            return false;
        }

        @Override
        public void reply(ReplyPieces reply) {
            request.reply(reply);
        }

        @Override
        public void replyHeader(ReplyHeader header) {
            request.replyError(header);
        }

        @Override
        public void dropDuplicate() {
            // RFC 8166, Section 4.2.1 has each call answered on its connection; a second one of an XID can't be told
            // from the first.
            request.dropConnection("a second call of an XID that is under way");
        }

        @Override
        public void dropConnection(String reason) {
            request.dropConnection(reason);
        }
    }
}
