// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.MountStatus;
import org.rpcrdma4j.nfs.protocol.Nfs3;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.PathBytes;
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
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.nfs.protocol.Time;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.WriteVerifier;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProgram;

/** A small NFS server in memory, that can be told to behave badly. One lock for everything. */
final class FakeNfs {

    final FakeNode root = new FakeNode(FileType.DIRECTORY, 1);
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

    private final Map<Long, FakeNode> nodes = new HashMap<>();
    private long lastId = 1;

    FakeNfs() {
        nodes.put(1L, root);
    }

    /** The server dies and comes back: what was not committed is gone. */
    synchronized void crash() {
        verifier++;
        for (FakeNode node : nodes.values()) {
            node.data = node.durable.clone();
        }
    }

    synchronized FakeNode add(FakeNode directory, String name, FileType type) {
        FakeNode node = new FakeNode(type, ++lastId);
        nodes.put(node.id, node);
        directory.children.put(FileName.of(name), node);
        return node;
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
        nodes.remove(node.id);
    }

    synchronized int count(Procedure procedure) {
        return calls.getOrDefault(procedure, 0);
    }

    ProgramTable table() {
        List<RpcProgram> programs = new ArrayList<>();
        programs.add(nfs());
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

    @FunctionalInterface
    private interface Action<A> {
        NfsResults act(A arguments) throws Refusal;
    }

    private static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;
        private final Status status;

        Refusal(Status status) {
            super(status.name(), null, false, false);
            this.status = status;
        }
    }

    private RpcProgram nfs() {
        RpcProgram.Builder builder = RpcProgram.program(Nfs3.PROGRAM, "nfs");
        serve(
                builder,
                Procedure.GETATTR,
                GetAttr.Arguments::read,
                a -> new GetAttr.Ok(node(a.file()).attributes()),
                GetAttr.Failed::new);
        serve(
                builder,
                Procedure.SETATTR,
                SetAttr.Arguments::read,
                a -> {
                    node(a.file()).set(a.attributes());
                    return new ChangeResults(Status.OK, change(node(a.file())));
                },
                s -> new ChangeResults(s, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.LOOKUP,
                Lookup.Arguments::read,
                a -> {
                    FakeNode found = child(a.directory(), a.name());
                    return new Lookup.Ok(found.handle(), told(found), null);
                },
                s -> new Lookup.Failed(s, null));
        serve(
                builder,
                Procedure.ACCESS,
                Access.Arguments::read,
                a -> new Access.Ok(told(node(a.file())), a.access() & ~Access.MODIFY),
                s -> new Access.Failed(s, null));
        serve(
                builder,
                Procedure.READLINK,
                ReadLink.Arguments::read,
                a -> new ReadLink.Ok(null, node(a.link()).target),
                s -> new ReadLink.Failed(s, null));
        serve(builder, Procedure.READ, Read.Arguments::read, this::read, s -> new Read.Failed(s, null));
        serve(
                builder,
                Procedure.WRITE,
                Write.Arguments::read,
                this::write,
                s -> new Write.Failed(s, WeakCacheData.NONE));
        serve(builder, Procedure.CREATE, Create.Arguments::read, this::create, FakeNfs::notCreated);
        serve(
                builder,
                Procedure.MKDIR,
                MkDir.Arguments::read,
                a -> created(fresh(a.directory(), a.name(), FileType.DIRECTORY)),
                FakeNfs::notCreated);
        serve(
                builder,
                Procedure.SYMLINK,
                SymLink.Arguments::read,
                a -> {
                    FakeNode link = fresh(a.directory(), a.name(), FileType.SYMBOLIC_LINK);
                    link.target = a.target();
                    return created(link);
                },
                FakeNfs::notCreated);
        serve(
                builder,
                Procedure.REMOVE,
                Remove.Arguments::read,
                a -> {
                    if (child(a.directory(), a.name()).type == FileType.DIRECTORY) {
                        throw new Refusal(Status.ISDIR);
                    }
                    node(a.directory()).children.remove(a.name());
                    return new ChangeResults(Status.OK, WeakCacheData.NONE);
                },
                s -> new ChangeResults(s, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.RMDIR,
                RmDir.Arguments::read,
                a -> {
                    if (!child(a.directory(), a.name()).children.isEmpty()) {
                        throw new Refusal(Status.NOTEMPTY);
                    }
                    node(a.directory()).children.remove(a.name());
                    return new ChangeResults(Status.OK, WeakCacheData.NONE);
                },
                s -> new ChangeResults(s, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.RENAME,
                Rename.Arguments::read,
                a -> {
                    FakeNode moved = child(a.fromDirectory(), a.fromName());
                    node(a.fromDirectory()).children.remove(a.fromName());
                    node(a.toDirectory()).children.put(a.toName(), moved);
                    return new Rename.Results(Status.OK, WeakCacheData.NONE, WeakCacheData.NONE);
                },
                s -> new Rename.Results(s, WeakCacheData.NONE, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.LINK,
                Link.Arguments::read,
                a -> {
                    if (node(a.directory()).children.putIfAbsent(a.name(), node(a.file())) != null) {
                        throw new Refusal(Status.EXIST);
                    }
                    return new Link.Results(Status.OK, null, WeakCacheData.NONE);
                },
                s -> new Link.Results(s, null, WeakCacheData.NONE));
        serve(builder, Procedure.READDIR, ReadDir.Arguments::read, this::list, s -> new ReadDir.Failed(s, null));
        serve(
                builder,
                Procedure.READDIRPLUS,
                ReadDirPlus.Arguments::read,
                this::listPlus,
                s -> new ReadDirPlus.Failed(s, null));
        serve(
                builder,
                Procedure.FSSTAT,
                FsStat.Arguments::read,
                a -> new FsStat.Ok(null, 10, 9, 8, 7, 6, 5, 0),
                s -> new FsStat.Failed(s, null));
        serve(
                builder,
                Procedure.FSINFO,
                FsInfo.Arguments::read,
                a -> new FsInfo.Ok(
                        null,
                        transferBytes,
                        transferBytes,
                        4096,
                        transferBytes,
                        transferBytes,
                        4096,
                        65536,
                        Long.MAX_VALUE,
                        new Time(0, 1),
                        0x1b),
                s -> new FsInfo.Failed(s, null));
        serve(
                builder,
                Procedure.PATHCONF,
                PathConf.Arguments::read,
                a -> new PathConf.Ok(null, 10, 255, true, true, false, true),
                s -> new PathConf.Failed(s, null));
        serve(
                builder,
                Procedure.COMMIT,
                Commit.Arguments::read,
                a -> {
                    node(a.file()).durable = node(a.file()).data.clone();
                    return new Commit.Ok(WeakCacheData.NONE, new WriteVerifier(verifier));
                },
                s -> new Commit.Failed(s, WeakCacheData.NONE));
        return builder.build();
    }

    private <A extends XdrValue> void serve(
            RpcProgram.Builder builder,
            Procedure procedure,
            RpcProcedure.Decoder<A> decoder,
            Action<A> action,
            Function<Status, NfsResults> failed) {
        builder.procedure(Nfs3.VERSION, procedure.number(), RpcProcedure.of(decoder, (arguments, request, out) -> {
            NfsResults results;
            synchronized (this) {
                results = answer(procedure, arguments, action, failed);
            }
            if (results instanceof Read.Ok ok && !ok.data().isEmpty()) {
                MemorySegment data = request.context().allocate(Math.max(1, ok.count()));
                data = data.asSlice(0, ok.count()).copyFrom(ok.data().getFirst());
                results = new Read.Ok(ok.attributes(), ok.count(), ok.endOfFile(), List.of(data));
            }
            results.write(out);
        }));
    }

    private <A extends XdrValue> NfsResults answer(
            Procedure procedure, A arguments, Action<A> action, Function<Status, NfsResults> failed) {
        calls.merge(procedure, 1, Integer::sum);
        if (busy.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
            return failed.apply(Status.JUKEBOX);
        }
        Function<XdrValue, @Nullable NfsResults> other = instead.get(procedure);
        NfsResults results = other == null ? null : other.apply(arguments);
        if (results != null) {
            return results;
        }
        try {
            return action.act(arguments);
        } catch (Refusal e) {
            return failed.apply(e.status);
        }
    }

    private FakeNode node(FileHandle handle) throws Refusal {
        byte[] bytes = handle.bytes();
        long id = 0;
        for (int i = 0; i < 8; i++) {
            id |= (bytes[i] & 0xffL) << (8 * i);
        }
        FakeNode node = nodes.get(id);
        if (node == null) {
            throw new Refusal(Status.STALE);
        }
        return node;
    }

    private FakeNode child(FileHandle directory, FileName name) throws Refusal {
        FakeNode parent = node(directory);
        if (parent.type != FileType.DIRECTORY) {
            throw new Refusal(Status.NOTDIR);
        }
        FakeNode found = parent.children.get(name);
        if (found == null) {
            throw new Refusal(Status.NOENT);
        }
        return found;
    }

    private FakeNode fresh(FileHandle directory, FileName name, FileType type) throws Refusal {
        FakeNode parent = node(directory);
        if (parent.children.containsKey(name)) {
            throw new Refusal(Status.EXIST);
        }
        FakeNode node = new FakeNode(type, ++lastId);
        nodes.put(node.id, node);
        parent.children.put(name, node);
        return node;
    }

    private @Nullable Attributes told(FakeNode node) {
        return tellsAttributes ? node.attributes() : null;
    }

    private static WeakCacheData change(FakeNode node) {
        return WeakCacheData.of(null, node.attributes());
    }

    private CreateResults created(FakeNode node) {
        return new CreateResults.Ok(tellsAttributes ? node.handle() : null, told(node), WeakCacheData.NONE);
    }

    private static CreateResults notCreated(Status status) {
        return new CreateResults.Failed(status, WeakCacheData.NONE);
    }

    private CreateResults create(Create.Arguments a) throws Refusal {
        FakeNode there = node(a.directory()).children.get(a.name());
        return switch (a.how()) {
            case Create.Unchecked unchecked -> {
                FakeNode file = there == null ? fresh(a.directory(), a.name(), FileType.REGULAR) : there;
                if (file.type == FileType.REGULAR) {
                    file.set(unchecked.attributes());
                }
                yield created(file);
            }
            case Create.Guarded guarded -> {
                FakeNode file = fresh(a.directory(), a.name(), FileType.REGULAR);
                file.set(guarded.attributes());
                yield created(file);
            }
            case Create.Exclusive exclusive -> {
                if (!knowsExclusive) {
                    throw new Refusal(Status.NOTSUPP);
                }
                if (there != null && there.exclusiveVerifier == exclusive.verifier()) {
                    yield created(there);
                }
                FakeNode file = fresh(a.directory(), a.name(), FileType.REGULAR);
                file.exclusiveVerifier = exclusive.verifier();
                yield created(file);
            }
        };
    }

    private Read.Results read(Read.Arguments a) throws Refusal {
        FakeNode file = node(a.file());
        int from = (int) Math.min(a.offset(), file.data.length);
        int length = (int) Math.min(Math.min(a.count(), mostRead), file.data.length - from);
        MemorySegment data = MemorySegment.ofArray(Arrays.copyOfRange(file.data, from, from + length));
        return Read.Ok.of(told(file), from + length == file.data.length, data);
    }

    private Write.Results write(Write.Arguments a) throws Refusal {
        FakeNode file = node(a.file());
        int length = (int) Math.min(a.count(), mostWritten);
        int end = (int) a.offset() + length;
        if (file.data.length < end) {
            file.data = Arrays.copyOf(file.data, end);
        } else {
            file.data = file.data.clone();
        }
        int at = (int) a.offset();
        for (MemorySegment piece : a.data()) {
            int n = (int) Math.min(piece.byteSize(), end - at);
            MemorySegment.copy(piece, ValueLayout.JAVA_BYTE, 0, file.data, at, n);
            at += n;
        }
        if (a.stable() != StableHow.UNSTABLE) {
            file.durable = file.data.clone();
        }
        return new Write.Ok(change(file), length, a.stable(), new WriteVerifier(verifier));
    }

    private ReadDir.Results list(ReadDir.Arguments a) throws Refusal {
        List<ReadDir.Entry> entries = new ArrayList<>();
        List<Map.Entry<FileName, FakeNode>> all = all(a.directory());
        int end = (int) Math.min(all.size(), a.cookie() + entriesPerPage);
        for (int i = (int) a.cookie(); i < end; i++) {
            entries.add(new ReadDir.Entry(all.get(i).getValue().id, all.get(i).getKey(), i + 1));
        }
        return new ReadDir.Ok(null, CookieVerifier.NONE, entries, end == all.size());
    }

    private ReadDirPlus.Results listPlus(ReadDirPlus.Arguments a) throws Refusal {
        if (!knowsPlus) {
            throw new Refusal(Status.NOTSUPP);
        }
        List<ReadDirPlus.Entry> entries = new ArrayList<>();
        List<Map.Entry<FileName, FakeNode>> all = all(a.directory());
        int end = (int) Math.min(all.size(), a.cookie() + entriesPerPage);
        for (int i = (int) a.cookie(); i < end; i++) {
            FakeNode node = all.get(i).getValue();
            entries.add(new ReadDirPlus.Entry(
                    node.id, all.get(i).getKey(), i + 1, told(node), tellsAttributes ? node.handle() : null));
        }
        return new ReadDirPlus.Ok(null, CookieVerifier.NONE, entries, end == all.size());
    }

    private List<Map.Entry<FileName, FakeNode>> all(FileHandle directory) throws Refusal {
        FakeNode node = node(directory);
        List<Map.Entry<FileName, FakeNode>> all = new ArrayList<>();
        all.add(Map.entry(FileName.of("."), node));
        all.add(Map.entry(FileName.of(".."), node));
        all.addAll(node.children.entrySet());
        return all;
    }
}
