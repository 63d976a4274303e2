// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcRequest;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Serves a table of RPC programs. Each call is dispatched and answered on the thread that it comes on.
 *
 * <p>A procedure that makes large results gets {@linkplain ServerRequest#allocate registered memory} from {@link #current}, and writes
 * them with {@link XdrWriter#writeItem}: then they go to the client without being copied.
 */
public final class ProgramHandler implements RequestHandler {

    private static final ThreadLocal<Carriers> CARRIERS = ThreadLocal.withInitial(Carriers::new);

    private final ProgramTable programs;

    /** A handler for these programs. */
    public ProgramHandler(ProgramTable programs) {
        this.programs = programs;
    }

    /** What a thread uses for each call anew. */
    private static final class Carriers {
        private final XdrReader call = new XdrReader();
        private final XdrWriter reply = new XdrWriter();
        private final RpcRequest rpc = new RpcRequest(call, reply);
        private final ReplyPieces pieces = new ReplyPieces();
        private @Nullable ServerRequest request;
        private @Nullable Runnable released;
    }

    /**
     * The request whose procedure the calling thread runs. It is answered by the handler, not by the procedure.
     *
     * @throws IllegalStateException if the thread runs none
     */
    public static ServerRequest current() {
        ServerRequest request = CARRIERS.get().request;
        if (request == null) {
            throw new IllegalStateException("no procedure is running on this thread");
        }
        return request;
    }

    /**
     * For the procedure that the calling thread runs: its native result memory stays as it is until the task is run, so it is sent from
     * where it lies. See {@link ReplyPieces#whenReleased}.
     *
     * @throws IllegalStateException if the thread runs none
     */
    public static void whenReleased(Runnable task) {
        current();
        CARRIERS.get().released = task;
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
        if (outcome == ProgramTable.Outcome.REPLIED) {
            ReplyPieces pieces = carriers.pieces.clear().message(carriers.reply);
            Runnable released = carriers.released;
            request.reply(released == null ? pieces : pieces.whenReleased(released));
            carriers.pieces.clear();
        } else {
            // RFC 8166, Section 4.5.2: what is no call cannot be answered in RPC terms.
            request.refuse();
        }
    }
}
