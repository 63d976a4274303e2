// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.util.List;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.ReplyCache;

/** The programs of a server and what they share, for whatever transport calls come by. */
final class NfsServices {

    private final NfsServerOptions options;
    private final Counters<NfsServerCounter> counters = new Counters<>(NfsServerCounter.class);
    private final ReplyCache replies;
    private final NfsProgram nfs;
    private final ProgramTable table;

    NfsServices(Export export, NfsServerOptions options, SocketOwners owners) {
        this.options = options;
        replies = new ReplyCache(options.rememberedCalls(), options.rememberedBytes());
        nfs = new NfsProgram(export, new FileData(export, counters), new LocalRoot(owners), counters);
        MountProgram mount =
                new MountProgram(export, options.exportName(), new MountTable(options.maxMounts()), counters);
        // One table, and so one memory of replies: a client that lost its connection may come again by another
        // transport.
        table = new ProgramTable(List.of(nfs.program(), mount.program()), replies);
    }

    NfsServerOptions options() {
        return options;
    }

    Counters<NfsServerCounter> counters() {
        return counters;
    }

    Counters<Procedure> calls() {
        return nfs.calls();
    }

    ReplyCache replies() {
        return replies;
    }

    ProgramTable table() {
        return table;
    }
}
