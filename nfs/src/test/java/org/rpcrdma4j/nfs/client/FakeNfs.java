// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.MountStatus;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProgram;

/** A small NFS server in memory, that can be told to behave badly. One lock for everything. */
final class FakeNfs {

    private final FakeTree tree = new FakeTree();
    final FakeNode root = tree.root;
    /** Calls served, by procedure. */
    final Map<Procedure, Integer> calls = new EnumMap<>(Procedure.class);
    /** How many of the next calls of any procedure but NULL are answered with NFS3ERR_JUKEBOX. */
    final AtomicInteger busy = new AtomicInteger();
    /** Results that take the place of the proper ones, by procedure; null from the function for the proper ones. */
    final Map<Procedure, Function<XdrValue, @Nullable NfsResults>> instead = new EnumMap<>(Procedure.class);

    int mostRead = Integer.MAX_VALUE;
    int mostWritten = Integer.MAX_VALUE;
    int transferBytes = 1 << 20;
    int entriesPerPage = 7;
    boolean knowsPlus = true;
    boolean knowsExclusive = true;
    boolean tellsAttributes = true;
    boolean servesMount = true;
    String exportName = "/export";
    long verifier = 100;

    /** The server dies and comes back: what was not committed is gone. */
    synchronized void crash() {
        verifier++;
        tree.crash();
    }

    synchronized FakeNode add(FakeNode directory, String name, FileType type) {
        return tree.add(directory, FileName.of(name), type);
    }

    FakeNode addFile(FakeNode directory, String name, byte[] data) {
        FakeNode node = add(directory, name, FileType.REGULAR);
        node.data = data;
        node.durable = data;
        return node;
    }

    FakeNode addLink(FakeNode directory, String name, String target) {
        FakeNode node = add(directory, name, FileType.SYMBOLIC_LINK);
        node.target = PathBytes.of(target);
        return node;
    }

    /** Makes the file's handle stale. */
    synchronized void forget(FakeNode node) {
        tree.forget(node);
    }

    synchronized int count(Procedure procedure) {
        return calls.getOrDefault(procedure, 0);
    }

    ProgramTable table() {
        List<RpcProgram> programs = new ArrayList<>();
        programs.add(new FakeProcedures(this, tree).program());
        if (servesMount) {
            programs.add(mount());
        }
        return new ProgramTable(programs);
    }

    private RpcProgram mount() {
        return RpcProgram.program(Mount.PROGRAM, "mount")
                .procedure(Mount.VERSION, Mount.MNT, RpcProcedure.of(Mount::readPath, (path, request, out) -> {
                    boolean isExport = path.equals(PathBytes.of(exportName));
                    XdrValue results =
                            isExport ? new Mount.Ok(root.handle(), List.of(1)) : new Mount.Failed(MountStatus.NOENT);
                    results.write(out);
                }))
                .procedure(Mount.VERSION, Mount.UMNT, RpcProcedure.of(Mount::readPath, (path, request, out) -> {}))
                .procedure(
                        Mount.VERSION,
                        Mount.EXPORT,
                        RpcProcedure.of(
                                in -> 0,
                                (nothing, request, out) -> Mount.writeList(
                                        out, List.of(new Mount.Export(PathBytes.of(exportName), List.of())))))
                .build();
    }
}
