// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.MountStatus;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.AuthFlavor;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.rpc.RpcRequest;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * MOUNT version 3 (RFC 1813, Section 5) of one export: gives the handle of the export and of any directory below it. Any thread.
 *
 * <p>A path is the export's name, or that and a path below it. Extra slashes do not matter; there is no meaning in "." and "..".
 */
final class MountProgram {

    /** RFC 1813, Section 5.2.1: the flavours that may be used, the preferred one first. */
    private static final List<Integer> FLAVORS = List.of(AuthFlavor.AUTH_SYS.value(), AuthFlavor.AUTH_NONE.value());

    private final Export export;
    private final PathBytes name;
    private final MountTable table;
    private final Counters<NfsServerCounter> counters;

    MountProgram(Export export, PathBytes name, MountTable table, Counters<NfsServerCounter> counters) {
        this.export = export;
        this.name = name;
        this.table = table;
        this.counters = counters;
    }

    /** The program. Nothing of it must not run twice. */
    RpcProgram program() {
        int version = Mount.VERSION;
        return RpcProgram.program(Mount.PROGRAM, "mount")
                .procedure(version, Mount.MNT, RpcProcedure.of(Mount::readPath, this::mount))
                .procedure(version, Mount.DUMP, request -> {
                    request.endOfArguments();
                    Mount.writeList(request.results(), table.list());
                })
                .procedure(version, Mount.UMNT, RpcProcedure.of(Mount::readPath, (path, request, results) -> {
                    table.remove(request.context().remoteAddress().getAddress(), path);
                }))
                .procedure(version, Mount.UMNTALL, request -> {
                    request.endOfArguments();
                    table.removeAll(request.context().remoteAddress().getAddress());
                })
                .procedure(version, Mount.EXPORT, request -> {
                    request.endOfArguments();
                    // No groups: everybody may mount it.
                    Mount.writeList(request.results(), List.of(new Mount.Export(name, List.of())));
                })
                .build();
    }

    private void mount(PathBytes path, RpcRequest request, XdrWriter results) {
        Mount.Results result = mount(path);
        if (result instanceof Mount.Ok) {
            table.add(request.context().remoteAddress().getAddress(), path);
            counters.increment(NfsServerCounter.MOUNTS);
        } else {
            counters.increment(NfsServerCounter.MOUNTS_REFUSED);
        }
        result.write(results);
    }

    private Mount.Results mount(PathBytes path) {
        PathBytes below = below(path.bytes());
        if (below == null) {
            // RFC 1813, Section 5.2.1 leaves open what a path outside all exports gets; as Linux, which does not say
            // what else is there.
            return new Mount.Failed(MountStatus.ACCES);
        }
        try {
            FileHandle directory = export.mount(below);
            return new Mount.Ok(directory, FLAVORS);
        } catch (NfsException e) {
            return new Mount.Failed(statusOf(e));
        }
    }

    private static MountStatus statusOf(NfsException e) {
        for (MountStatus status : MountStatus.values()) {
            if (status.status() == e.status()) {
                return status;
            }
        }
        return MountStatus.SERVERFAULT;
    }

    /** What follows the export's name, without slashes in front; null if the path is not in the export. */
    private @Nullable PathBytes below(byte[] path) {
        byte[] prefix = trimmed(name.bytes());
        int at = 0;
        while (at < path.length && path[at] == '/') {
            at++;
        }
        if (path.length - at < prefix.length
                || !Arrays.equals(path, at, at + prefix.length, prefix, 0, prefix.length)) {
            return null;
        }
        at += prefix.length;
        if (prefix.length > 0 && at < path.length && path[at] != '/') {
            return null;
        }
        while (at < path.length && path[at] == '/') {
            at++;
        }
        return PathBytes.of(Arrays.copyOfRange(path, at, path.length));
    }

    /** Without the slashes at both ends. */
    private static byte[] trimmed(byte[] path) {
        int from = 0;
        int to = path.length;
        while (from < to && path[from] == '/') {
            from++;
        }
        while (to > from && path[to - 1] == '/') {
            to--;
        }
        return Arrays.copyOfRange(path, from, to);
    }
}
