// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.CallContext;
import org.rpcrdma4j.transport.rpc.CallerConnection;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcRequest;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Serves a table of RPC programs. Each call is dispatched and answered on the thread that it comes on.
 *
 * <p>A procedure that makes large results gets {@linkplain ServerRequest#allocate registered memory} from its {@link RpcRequest#context},
 * and writes them with {@link XdrWriter#writeItem}: then they go to the client without being copied.
 */
public final class ProgramHandler implements RequestHandler {

    private static final ThreadLocal<Carriers> CARRIERS = ThreadLocal.withInitial(Carriers::new);

    private final ProgramTable programs;

    /** A handler for these programs. */
    public ProgramHandler(ProgramTable programs) {
        this.programs = programs;
    }

    /** What a thread uses for each call anew; the procedure that the thread runs sees it as its context. */
    private static final class Carriers implements CallContext {
        private final XdrReader call = new XdrReader();
        private final XdrWriter reply = new XdrWriter();
        private final RpcRequest rpc = new RpcRequest(call, reply, this);
        private final ReplyPieces pieces = new ReplyPieces();
        private @Nullable ServerRequest request;
        private @Nullable Runnable released;

        private ServerRequest current() {
            ServerRequest current = request;
            if (current == null) {
                throw new IllegalStateException("no procedure is running on this thread");
            }
            return current;
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return current().remoteAddress();
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

        @Override
        public Consumer<XdrWriter> answerLater() {
            ServerRequest waiting = current();
            return waiting::reply;
        }
    }

    @Override
    public void onRequest(ServerRequest request) {
        Carriers carriers = CARRIERS.get();
        carriers.request = request;
        carriers.call.reset(request.pieces());
        carriers.reply.reset();
        carriers.released = null;
        ProgramTable.Outcome outcome;
        try {
            outcome = programs.dispatch(carriers.rpc);
        } finally {
            carriers.request = null;
            carriers.call.clear();
        }
        switch (outcome) {
            case REPLIED -> {
                ReplyPieces pieces = carriers.pieces.clear().message(carriers.reply);
                Runnable released = carriers.released;
                request.reply(released == null ? pieces : pieces.whenReleased(released));
                carriers.pieces.clear();
            }
            case ANSWERED_LATER -> {}
            // RFC 8166, Section 4.5.2: what is no call cannot be answered in RPC terms.
            case NOT_A_CALL, TOO_SHORT -> request.refuse();
        }
    }
}
