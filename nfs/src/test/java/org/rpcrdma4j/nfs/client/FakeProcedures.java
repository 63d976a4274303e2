// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.FakeTree.Refusal;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.MkDir;
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
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.nfs.protocol.Time;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.WriteVerifier;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.rpc.RpcProcedure;
import org.rpcrdma4j.transport.rpc.RpcProgram;

/** The procedures of a {@link FakeNfs}. */
final class FakeProcedures {
    private final FakeNfs server;
    private final FakeTree tree;

    FakeProcedures(FakeNfs server, FakeTree tree) {
        this.server = server;
        this.tree = tree;
    }

    @FunctionalInterface
    private interface Action<A> {
        NfsResults act(A arguments) throws Refusal;
    }

    RpcProgram program() {
        RpcProgram.Builder builder = RpcProgram.program(Nfs3.PROGRAM, "nfs");
        serve(
                builder,
                Procedure.GETATTR,
                GetAttr.Arguments::read,
                a -> new GetAttr.Ok(tree.node(a.file()).attributes()),
                GetAttr.Failed::new);
        serve(
                builder,
                Procedure.SETATTR,
                SetAttr.Arguments::read,
                a -> {
                    tree.node(a.file()).set(a.attributes());
                    return new ChangeResults(Status.OK, change(tree.node(a.file())));
                },
                s -> new ChangeResults(s, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.LOOKUP,
                Lookup.Arguments::read,
                a -> {
                    FakeNode found = tree.child(a.directory(), a.name());
                    return new Lookup.Ok(found.handle(), told(found), null);
                },
                s -> new Lookup.Failed(s, null));
        serve(
                builder,
                Procedure.ACCESS,
                Access.Arguments::read,
                a -> new Access.Ok(told(tree.node(a.file())), a.access() & ~Access.MODIFY),
                s -> new Access.Failed(s, null));
        serve(
                builder,
                Procedure.READLINK,
                ReadLink.Arguments::read,
                a -> new ReadLink.Ok(null, tree.node(a.link()).target),
                s -> new ReadLink.Failed(s, null));
        serve(builder, Procedure.READ, Read.Arguments::read, this::read, s -> new Read.Failed(s, null));
        serve(
                builder,
                Procedure.WRITE,
                Write.Arguments::read,
                this::write,
                s -> new Write.Failed(s, WeakCacheData.NONE));
        serve(builder, Procedure.CREATE, Create.Arguments::read, this::create, FakeProcedures::notCreated);
        serve(
                builder,
                Procedure.MKDIR,
                MkDir.Arguments::read,
                a -> created(tree.fresh(a.directory(), a.name(), FileType.DIRECTORY)),
                FakeProcedures::notCreated);
        serve(
                builder,
                Procedure.SYMLINK,
                SymLink.Arguments::read,
                a -> {
                    FakeNode link = tree.fresh(a.directory(), a.name(), FileType.SYMBOLIC_LINK);
                    link.target = a.target();
                    return created(link);
                },
                FakeProcedures::notCreated);
        serve(
                builder,
                Procedure.REMOVE,
                Remove.Arguments::read,
                a -> {
                    if (tree.child(a.directory(), a.name()).type == FileType.DIRECTORY) {
                        throw new Refusal(Status.ISDIR);
                    }
                    tree.node(a.directory()).children.remove(a.name());
                    return new ChangeResults(Status.OK, WeakCacheData.NONE);
                },
                s -> new ChangeResults(s, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.RMDIR,
                RmDir.Arguments::read,
                a -> {
                    if (!tree.child(a.directory(), a.name()).children.isEmpty()) {
                        throw new Refusal(Status.NOTEMPTY);
                    }
                    tree.node(a.directory()).children.remove(a.name());
                    return new ChangeResults(Status.OK, WeakCacheData.NONE);
                },
                s -> new ChangeResults(s, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.RENAME,
                Rename.Arguments::read,
                a -> {
                    FakeNode moved = tree.child(a.fromDirectory(), a.fromName());
                    tree.node(a.fromDirectory()).children.remove(a.fromName());
                    tree.node(a.toDirectory()).children.put(a.toName(), moved);
                    return new Rename.Results(Status.OK, WeakCacheData.NONE, WeakCacheData.NONE);
                },
                s -> new Rename.Results(s, WeakCacheData.NONE, WeakCacheData.NONE));
        serve(
                builder,
                Procedure.LINK,
                Link.Arguments::read,
                a -> {
                    if (tree.node(a.directory()).children.putIfAbsent(a.name(), tree.node(a.file())) != null) {
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
                        server.transferBytes,
                        server.transferBytes,
                        4096,
                        server.transferBytes,
                        server.transferBytes,
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
                    tree.node(a.file()).durable = tree.node(a.file()).data.clone();
                    return new Commit.Ok(WeakCacheData.NONE, new WriteVerifier(server.verifier));
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
            synchronized (server) {
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
        server.calls.merge(procedure, 1, Integer::sum);
        if (server.busy.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
            return failed.apply(Status.JUKEBOX);
        }
        Function<XdrValue, @Nullable NfsResults> other = server.instead.get(procedure);
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

    private @Nullable Attributes told(FakeNode node) {
        return server.tellsAttributes ? node.attributes() : null;
    }

    private static WeakCacheData change(FakeNode node) {
        return WeakCacheData.of(null, node.attributes());
    }

    private CreateResults created(FakeNode node) {
        return new CreateResults.Ok(server.tellsAttributes ? node.handle() : null, told(node), WeakCacheData.NONE);
    }

    private static CreateResults notCreated(Status status) {
        return new CreateResults.Failed(status, WeakCacheData.NONE);
    }

    private CreateResults create(Create.Arguments a) throws Refusal {
        FakeNode there = tree.node(a.directory()).children.get(a.name());
        return switch (a.how()) {
            case Create.Unchecked unchecked -> {
                FakeNode file = there == null ? tree.fresh(a.directory(), a.name(), FileType.REGULAR) : there;
                if (file.type == FileType.REGULAR) {
                    file.set(unchecked.attributes());
                }
                yield created(file);
            }
            case Create.Guarded guarded -> {
                FakeNode file = tree.fresh(a.directory(), a.name(), FileType.REGULAR);
                file.set(guarded.attributes());
                yield created(file);
            }
            case Create.Exclusive exclusive -> {
                if (!server.knowsExclusive) {
                    throw new Refusal(Status.NOTSUPP);
                }
                if (there != null && there.exclusiveVerifier == exclusive.verifier()) {
                    yield created(there);
                }
                FakeNode file = tree.fresh(a.directory(), a.name(), FileType.REGULAR);
                file.exclusiveVerifier = exclusive.verifier();
                yield created(file);
            }
        };
    }

    private Read.Results read(Read.Arguments a) throws Refusal {
        FakeNode file = tree.node(a.file());
        int from = (int) Math.min(a.offset(), file.data.length);
        int length = (int) Math.min(Math.min(a.count(), server.mostRead), file.data.length - from);
        MemorySegment data = MemorySegment.ofArray(Arrays.copyOfRange(file.data, from, from + length));
        return Read.Ok.of(told(file), from + length == file.data.length, data);
    }

    private Write.Results write(Write.Arguments a) throws Refusal {
        FakeNode file = tree.node(a.file());
        int length = (int) Math.min(a.count(), server.mostWritten);
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
        return new Write.Ok(change(file), length, a.stable(), new WriteVerifier(server.verifier));
    }

    private ReadDir.Results list(ReadDir.Arguments a) throws Refusal {
        List<ReadDir.Entry> entries = new ArrayList<>();
        List<Map.Entry<FileName, FakeNode>> all = tree.entries(a.directory());
        int end = (int) Math.min(all.size(), a.cookie() + server.entriesPerPage);
        for (int i = (int) a.cookie(); i < end; i++) {
            entries.add(new ReadDir.Entry(all.get(i).getValue().id, all.get(i).getKey(), i + 1));
        }
        return new ReadDir.Ok(null, CookieVerifier.NONE, entries, end == all.size());
    }

    private ReadDirPlus.Results listPlus(ReadDirPlus.Arguments a) throws Refusal {
        if (!server.knowsPlus) {
            throw new Refusal(Status.NOTSUPP);
        }
        List<ReadDirPlus.Entry> entries = new ArrayList<>();
        List<Map.Entry<FileName, FakeNode>> all = tree.entries(a.directory());
        int end = (int) Math.min(all.size(), a.cookie() + server.entriesPerPage);
        for (int i = (int) a.cookie(); i < end; i++) {
            FakeNode node = all.get(i).getValue();
            entries.add(new ReadDirPlus.Entry(
                    node.id, all.get(i).getKey(), i + 1, told(node), server.tellsAttributes ? node.handle() : null));
        }
        return new ReadDirPlus.Ok(null, CookieVerifier.NONE, entries, end == all.size());
    }
}
