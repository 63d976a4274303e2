// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.rpcrdma4j.transport.rpc.ProgramTable;

/** Serves a table of RPC programs: each call is dispatched and answered on a thread of the executor. */
final class ProgramService implements RecordService {

    private static final int MOST_KEPT = 256;

    private final ProgramTable programs;
    private final Executor executor;
    private final ArrayBlockingQueue<ProgramCall> kept = new ArrayBlockingQueue<>(MOST_KEPT);

    ProgramService(ProgramTable programs, Executor executor) {
        this.programs = programs;
        this.executor = executor;
    }

    @Override
    public RecordHandler accept(RecordConnection connection) {
        return this::onRecord;
    }

    private void onRecord(InboundRecord record) {
        try {
            executor.execute(() -> serve(record));
        } catch (RejectedExecutionException e) {
            record.drop();
            record.connection().abort("the executor refuses calls: " + e.getMessage());
        }
    }

    private void serve(InboundRecord record) {
        ProgramCall call = kept.poll();
        if (call == null) {
            call = new ProgramCall(programs, this::keep);
        }
        call.serve(record);
    }

    /** For a later call; if enough are kept, it is let go of. */
    @SuppressWarnings("ReturnValueIgnored") // the bound is the point
    private void keep(ProgramCall call) {
        boolean _ = kept.offer(call);
    }
}
