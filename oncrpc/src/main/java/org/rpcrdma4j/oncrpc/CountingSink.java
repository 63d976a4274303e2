// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;

/** Counts the answers that go through it. */
record CountingSink(CallSink sink, Counters<ServiceCounter> counters) implements CallSink {

    @Override
    public void reply(ReplyPieces pieces) {
        sink.reply(pieces);
        counters.increment(ServiceCounter.ANSWERED);
    }

    @Override
    public void replyError(ReplyHeader header) {
        sink.replyError(header);
        counters.increment(ServiceCounter.ANSWERED);
    }

    @Override
    public void refuse() {
        sink.refuse();
        counters.increment(ServiceCounter.ANSWERED);
    }

    @Override
    public boolean isAnswered() {
        return sink.isAnswered();
    }

    @Override
    public @Nullable MemorySegment allocate(int bytes) {
        return sink.allocate(bytes);
    }

    @Override
    public boolean takesResults() {
        return sink.takesResults();
    }

    @Override
    public boolean isOfCall(MemorySegment bytes) {
        return sink.isOfCall(bytes);
    }

    @Override
    public InetSocketAddress localAddress() {
        return sink.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return sink.remoteAddress();
    }

    @Override
    public RpcTransport peer() {
        return sink.peer();
    }
}
