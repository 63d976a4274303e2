// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.Identity;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.Create;
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
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.CallContext;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProcedure.Decoder;
import org.rpcrdma4j.transport.rpc.RpcProgram;

/**
 * NFS version 3 (RFC 1813, Section 3) of one export: each procedure is decoded, done by the {@link Export} or by {@link FileData} as the
 * caller, counted, and its results written. Any thread.
 *
 * <p>Those that change something run once for a call, however often it comes (RFC 1813, Section 4.5). WRITE too: a late second run of it
 * would undo what was written meanwhile.
 */
final class NfsProgram {

    private final Export export;
    private final FileData data;
    private final LocalRoot localRoot;
    private final Counters<NfsServerCounter> counters;
    private final Counters<Procedure> calls = new Counters<>(Procedure.class);
    private final RpcProgram.Builder builder = RpcProgram.program(Nfs3.PROGRAM, "nfs");

    /** What a procedure does. */
    @FunctionalInterface
    private interface Operation<A> {
        NfsResults run(Identity caller, A arguments, CallContext context);
    }

    /** What the export does for it. */
    @FunctionalInterface
    private interface ExportOperation<A> {
        NfsResults run(Identity caller, A arguments);
    }

    NfsProgram(Export export, FileData data, LocalRoot localRoot, Counters<NfsServerCounter> counters) {
        this.export = export;
        this.data = data;
        this.localRoot = localRoot;
        this.counters = counters;
    }

    /** How often each procedure was run. */
    Counters<Procedure> calls() {
        return calls;
    }

    /** The program; called once. */
    RpcProgram program() {
        builder.version(Nfs3.VERSION);
        repeatable(Procedure.GETATTR, GetAttr.Arguments::read, export::getAttr);
        once(Procedure.SETATTR, SetAttr.Arguments::read, export::setAttr);
        repeatable(Procedure.LOOKUP, Lookup.Arguments::read, export::lookup);
        repeatable(Procedure.ACCESS, Access.Arguments::read, export::access);
        repeatable(Procedure.READLINK, ReadLink.Arguments::read, export::readLink);
        builder.procedure(
                Nfs3.VERSION, Procedure.READ.number(), code(Procedure.READ, Read.Arguments::read, data::read));
        builder.once(
                Nfs3.VERSION,
                Procedure.WRITE.number(),
                code(Procedure.WRITE, Write.Arguments::read, (caller, write, context) -> data.write(caller, write)));
        once(Procedure.CREATE, Create.Arguments::read, export::create);
        once(Procedure.MKDIR, MkDir.Arguments::read, export::mkDir);
        once(Procedure.SYMLINK, SymLink.Arguments::read, export::symLink);
        once(Procedure.MKNOD, MkNod.Arguments::read, export::mkNod);
        once(Procedure.REMOVE, Remove.Arguments::read, export::remove);
        once(Procedure.RMDIR, RmDir.Arguments::read, export::rmDir);
        once(Procedure.RENAME, Rename.Arguments::read, export::rename);
        once(Procedure.LINK, Link.Arguments::read, export::link);
        repeatable(Procedure.READDIR, ReadDir.Arguments::read, export::readDir);
        repeatable(Procedure.READDIRPLUS, ReadDirPlus.Arguments::read, export::readDirPlus);
        repeatable(Procedure.FSSTAT, FsStat.Arguments::read, export::fsStat);
        repeatable(Procedure.FSINFO, FsInfo.Arguments::read, export::fsInfo);
        repeatable(Procedure.PATHCONF, PathConf.Arguments::read, export::pathConf);
        repeatable(Procedure.COMMIT, Commit.Arguments::read, data::commit);
        return builder.build();
    }

    private <A> void repeatable(Procedure procedure, Decoder<A> decoder, ExportOperation<A> operation) {
        builder.procedure(Nfs3.VERSION, procedure.number(), code(procedure, decoder, without(operation)));
    }

    private <A> void once(Procedure procedure, Decoder<A> decoder, ExportOperation<A> operation) {
        builder.once(Nfs3.VERSION, procedure.number(), code(procedure, decoder, without(operation)));
    }

    private static <A> Operation<A> without(ExportOperation<A> operation) {
        return (caller, arguments, context) -> operation.run(caller, arguments);
    }

    private <A> RpcProcedure code(Procedure procedure, Decoder<A> decoder, Operation<A> operation) {
        return RpcProcedure.of(decoder, (arguments, request, results) -> {
            calls.increment(procedure);
            CallContext context = request.context();
            Identity caller = export.identify(request.credential(), () -> localRoot.isAt(context.connection()));
            NfsResults outcome = operation.run(caller, arguments, context);
            if (!outcome.isOk()) {
                countFailure(outcome.status());
            }
            outcome.write(results);
        });
    }

    private void countFailure(Status status) {
        counters.increment(NfsServerCounter.FAILURES);
        switch (status) {
            case STALE, BADHANDLE -> counters.increment(NfsServerCounter.STALE_HANDLES);
            case JUKEBOX -> counters.increment(NfsServerCounter.JUKEBOX);
            default -> {}
        }
    }
}
