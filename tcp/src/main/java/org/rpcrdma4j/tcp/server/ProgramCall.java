// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.CallContext;
import org.rpcrdma4j.transport.rpc.CallerConnection;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcRequest;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What serves one call, and after its reply was written, another. Used by one thread at a time. */
final class ProgramCall implements CallContext {

    /** With a reply that large in its own memory, it isn't used again. */
    private static final long LARGEST_KEPT = 64 << 10;

    private final ProgramTable programs;
    private final Consumer<ProgramCall> keeper;
    private final XdrReader call = new XdrReader();
    private final XdrWriter reply = new XdrWriter();
    private final RpcRequest request = new RpcRequest(call, reply, this);
    private final List<MemorySegment> pieces = new ArrayList<>();
    private @Nullable InboundRecord record;
    private @Nullable Runnable released;

    ProgramCall(ProgramTable programs, Consumer<ProgramCall> keeper) {
        this.programs = programs;
        this.keeper = keeper;
    }

    /** Dispatches the call and answers it. */
    void serve(InboundRecord inbound) {
        record = inbound;
        released = null;
        reply.reset();
        call.reset(inbound.message());
        ProgramTable.Outcome outcome;
        try {
            outcome = programs.dispatch(request);
        } finally {
            call.clear();
            record = null;
        }
        if (outcome == ProgramTable.Outcome.REPLIED) {
            pieces.clear();
            reply.pieces(pieces);
            Runnable task = released;
            inbound.replyAndWrite(pieces, () -> onReleased(task));
        } else {
            // RFC 5531, Section 9: what is no call has no answer; a client that sends such things has lost its place.
            inbound.drop();
            inbound.connection().abort("not a call: " + outcome);
        }
    }

    private void onReleased(@Nullable Runnable task) {
        try {
            if (task != null) {
                task.run();
            }
        } finally {
            if (reply.reducedLength() <= LARGEST_KEPT) {
                pieces.clear();
                reply.reset();
                keeper.accept(this);
            }
        }
    }

    private InboundRecord current() {
        InboundRecord current = record;
        if (current == null) {
            throw new IllegalStateException("no procedure is running");
        }
        return current;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return current().connection().remoteAddress();
    }

    @Override
    public CallerConnection connection() {
        return current().connection();
    }

    @Override
    public MemorySegment allocate(long bytes) {
        return current().allocate(bytes);
    }

    @Override
    public void whenReleased(Runnable task) {
        current();
        released = task;
    }
}
