// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
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
import org.rpcrdma4j.nfs.protocol.MkNod;
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
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.nfs.protocol.Time;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.rpc.AcceptStatus;

/** Every procedure through the wire: the arguments reach the export, and its results the client. */
class ProceduresTest {

    @TempDir
    private Path directory;

    private static FileName name(String text) {
        return FileName.of(text);
    }

    @Test
    void aTreeIsMadeListedRenamedAndRemoved() throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            CreateResults.Ok made = (CreateResults.Ok) caller.call(
                    Procedure.MKDIR,
                    new MkDir.Arguments(root, name("dir"), SetAttributes.NONE.withMode(0755)),
                    CreateResults::read);
            assertThat(directory.resolve("dir")).isDirectory();
            assertThat(made.attributes()).extracting(Attributes::type).isEqualTo(FileType.DIRECTORY);
            assertThat(made.directoryChange().after()).isNotNull();
            FileHandle dir = ServerFixture.lookup(caller, root, "dir");
            assertThat(made.file()).isEqualTo(dir);
            caller.call(
                    Procedure.SYMLINK,
                    new SymLink.Arguments(dir, name("link"), SetAttributes.NONE, PathBytes.of("to/where")),
                    CreateResults::read);
            assertThat(Files.readSymbolicLink(directory.resolve("dir/link"))).hasToString("to/where");
            ReadLink.Ok link = (ReadLink.Ok) caller.call(
                    Procedure.READLINK,
                    new ReadLink.Arguments(ServerFixture.lookup(caller, dir, "link")),
                    ReadLink.Results::read);
            assertThat(link.target()).isEqualTo(PathBytes.of("to/where"));
            CreateResults.Ok file = (CreateResults.Ok) caller.call(
                    Procedure.CREATE,
                    new Create.Arguments(
                            dir,
                            name("file"),
                            new Create.Unchecked(
                                    SetAttributes.NONE.withMode(0640).withSize(10))),
                    CreateResults::read);
            assertThat(Files.size(directory.resolve("dir/file"))).isEqualTo(10);
            FileHandle handle = ServerFixture.lookup(caller, dir, "file");
            assertThat(file.file()).isEqualTo(handle);
            Link.Results linked =
                    caller.call(Procedure.LINK, new Link.Arguments(handle, root, name("hard")), Link.Results::read);
            assertThat(linked.status()).isEqualTo(Status.OK);
            assertThat(linked.attributes()).extracting(Attributes::links).isEqualTo(2);
            assertThat(ServerFixture.lookup(caller, root, "hard")).isEqualTo(handle);
            Rename.Results renamed = caller.call(
                    Procedure.RENAME,
                    new Rename.Arguments(dir, name("file"), root, name("moved")),
                    Rename.Results::read);
            assertThat(renamed.status()).isEqualTo(Status.OK);
            assertThat(directory.resolve("moved")).exists();
            assertThat(remove(caller, Procedure.RMDIR, new RmDir.Arguments(root, name("dir"))))
                    .isEqualTo(Status.NOTEMPTY);
            for (String gone : List.of("hard", "moved")) {
                assertThat(remove(caller, Procedure.REMOVE, new Remove.Arguments(root, name(gone))))
                        .isEqualTo(Status.OK);
            }
            assertThat(remove(caller, Procedure.REMOVE, new Remove.Arguments(dir, name("link"))))
                    .isEqualTo(Status.OK);
            assertThat(remove(caller, Procedure.RMDIR, new RmDir.Arguments(root, name("dir"))))
                    .isEqualTo(Status.OK);
            assertThat(directory).isEmptyDirectory();
            assertThat(fixture.server.calls().get(Procedure.REMOVE)).isEqualTo(3);
            assertThat(fixture.server.counters().get(NfsServerCounter.FAILURES)).isEqualTo(1);
        }
    }

    private static Status remove(Caller caller, Procedure procedure, XdrValue arguments) {
        return caller.call(procedure, arguments, ChangeResults::read).status();
    }

    @Test
    void attributesAreReadAndSetAndTheGuardIsKept() throws IOException {
        Files.writeString(directory.resolve("file"), "some text");
        try (ServerFixture fixture = new ServerFixture(directory, ServerFixture.OPTIONS, NfsServerOptions.DEFAULT)) {
            Caller caller = fixture.caller();
            FileHandle file = ServerFixture.lookup(caller, ServerFixture.root(caller), "file");
            Attributes before = attributes(caller, file);
            assertThat(before.size()).isEqualTo(9);
            assertThat(before.isRegular()).isTrue();
            Time wrong = new Time(1, 2);
            assertThat(caller.call(
                                    Procedure.SETATTR,
                                    new SetAttr.Arguments(file, SetAttributes.NONE.withSize(4), wrong),
                                    ChangeResults::read)
                            .status())
                    .isEqualTo(Status.NOT_SYNC);
            ChangeResults set = caller.call(
                    Procedure.SETATTR,
                    new SetAttr.Arguments(file, SetAttributes.NONE.withSize(4).withMode(0600), before.changeTime()),
                    ChangeResults::read);
            assertThat(set.status()).isEqualTo(Status.OK);
            assertThat(set.change().before()).isNotNull();
            assertThat(set.change().after()).isEqualTo(attributes(caller, file));
            assertThat(Files.readString(directory.resolve("file"))).isEqualTo("some");
            Access.Ok access =
                    (Access.Ok) caller.call(Procedure.ACCESS, new Access.Arguments(file, 0x3f), Access.Results::read);
            assertThat(access.access() & (Access.READ | Access.MODIFY)).isEqualTo(Access.READ | Access.MODIFY);
        }
    }

    private static Attributes attributes(Caller caller, FileHandle file) {
        return ((GetAttr.Ok) caller.call(Procedure.GETATTR, new GetAttr.Arguments(file), GetAttr.Results::read))
                .attributes();
    }

    @Test
    void theFileSystemIsDescribedWithTheLimitsOfTheData() throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            FsInfo.Ok info =
                    (FsInfo.Ok) caller.call(Procedure.FSINFO, new FsInfo.Arguments(root), FsInfo.Results::read);
            assertThat(info.readMax()).isEqualTo(1 << 20);
            assertThat(info.writeMax()).isEqualTo(1 << 20);
            assertThat(caller.call(Procedure.FSSTAT, new FsStat.Arguments(root), FsStat.Results::read)
                            .isOk())
                    .isTrue();
            assertThat(caller.call(Procedure.PATHCONF, new PathConf.Arguments(root), PathConf.Results::read)
                            .isOk())
                    .isTrue();
            assertThat(caller.raw(100003, 3, 0, Caller.encode())).isEqualTo(AcceptStatus.SUCCESS);
        }
    }

    /** In a message, and in Reply chunks up to the largest. */
    @Test
    void aDirectoryIsListedInPartsOfAnySize() throws IOException {
        Set<String> names = new TreeSet<>();
        for (int i = 0; i < 700; i++) {
            String name = "entry-with-a-rather-long-name-to-fill-the-reply-" + i;
            names.add(name);
            Files.createFile(directory.resolve(name));
        }
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            for (int count : new int[] {900, 8192, (1 << 20) - 1024}) {
                assertThat(list(caller, root, count)).as("READDIR %d", count).isEqualTo(names);
                assertThat(listPlus(caller, root, count))
                        .as("READDIRPLUS %d", count)
                        .isEqualTo(names);
            }
        }
    }

    private static void add(Set<String> names, FileName name) {
        if (!name.toString().equals(".") && !name.toString().equals("..")) {
            assertThat(names.add(name.toString())).isTrue();
        }
    }

    private static Set<String> list(Caller caller, FileHandle root, int count) {
        Set<String> names = new TreeSet<>();
        long cookie = 0;
        CookieVerifier verifier = CookieVerifier.NONE;
        while (true) {
            ReadDir.Ok part = (ReadDir.Ok) caller.callFor(
                    count + 200,
                    Procedure.READDIR,
                    new ReadDir.Arguments(root, cookie, verifier, count),
                    ReadDir.Results::read);
            part.entries().forEach(entry -> add(names, entry.name()));
            if (part.endOfDirectory()) {
                return names;
            }
            cookie = part.entries().getLast().cookie();
            verifier = part.cookieVerifier();
        }
    }

    private static Set<String> listPlus(Caller caller, FileHandle root, int count) {
        Set<String> names = new TreeSet<>();
        long cookie = 0;
        CookieVerifier verifier = CookieVerifier.NONE;
        while (true) {
            ReadDirPlus.Ok part = (ReadDirPlus.Ok) caller.callFor(
                    count + 200,
                    Procedure.READDIRPLUS,
                    new ReadDirPlus.Arguments(root, cookie, verifier, count, count),
                    ReadDirPlus.Results::read);
            part.entries().forEach(entry -> add(names, entry.name()));
            if (part.endOfDirectory()) {
                return names;
            }
            cookie = part.entries().getLast().cookie();
            verifier = part.cookieVerifier();
        }
    }

    @Test
    void failuresComeWithTheirStatus() throws IOException {
        Files.createFile(directory.resolve("file"));
        Files.createDirectory(directory.resolve("dir"));
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            FileHandle file = ServerFixture.lookup(caller, root, "file");
            assertThat(lookup(caller, root, "nothing")).isEqualTo(Status.NOENT);
            assertThat(lookup(caller, file, "below")).isEqualTo(Status.NOTDIR);
            assertThat(lookup(caller, root, "x".repeat(256))).isEqualTo(Status.NAMETOOLONG);
            assertThat(lookup(caller, FileHandle.of(new byte[] {1, 2, 3}), "x")).isIn(Status.BADHANDLE, Status.STALE);
            assertThat(caller.call(
                                    Procedure.MKDIR,
                                    new MkDir.Arguments(root, name("dir"), SetAttributes.NONE),
                                    CreateResults::read)
                            .status())
                    .isEqualTo(Status.EXIST);
            Files.delete(directory.resolve("file"));
            assertThat(caller.call(Procedure.GETATTR, new GetAttr.Arguments(file), GetAttr.Results::read)
                            .status())
                    .isIn(Status.STALE, Status.JUKEBOX);
            assertThat(fixture.server.counters().get(NfsServerCounter.FAILURES)).isEqualTo(6);
        }
    }

    private static Status lookup(Caller caller, FileHandle directory, String name) {
        return caller.call(Procedure.LOOKUP, new Lookup.Arguments(directory, FileName.of(name)), Lookup.Results::read)
                .status();
    }

    @Test
    void aReadOnlyExportChangesNothing() throws IOException {
        Files.writeString(directory.resolve("file"), "text");
        Files.createDirectory(directory.resolve("dir"));
        try (ServerFixture fixture =
                new ServerFixture(directory, ServerFixture.OPTIONS.withReadOnly(true), NfsServerOptions.DEFAULT)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            FileHandle file = ServerFixture.lookup(caller, root, "file");
            List<NfsResults> results = new ArrayList<>();
            results.add(caller.call(
                    Procedure.SETATTR,
                    new SetAttr.Arguments(file, SetAttributes.NONE.withSize(0)),
                    ChangeResults::read));
            results.add(caller.call(
                    Procedure.WRITE,
                    new Write.Arguments(file, 0, StableHow.UNSTABLE, List.of(MemorySegment.ofArray(new byte[9]))),
                    Write.Results::read));
            results.add(caller.call(
                    Procedure.CREATE,
                    new Create.Arguments(root, name("new"), new Create.Exclusive(7)),
                    CreateResults::read));
            results.add(caller.call(
                    Procedure.MKDIR, new MkDir.Arguments(root, name("new"), SetAttributes.NONE), CreateResults::read));
            results.add(caller.call(
                    Procedure.SYMLINK,
                    new SymLink.Arguments(root, name("new"), SetAttributes.NONE, PathBytes.of("x")),
                    CreateResults::read));
            results.add(caller.call(
                    Procedure.MKNOD,
                    new MkNod.Arguments(root, name("new"), new MkNod.Pipe(FileType.FIFO, SetAttributes.NONE)),
                    CreateResults::read));
            results.add(caller.call(Procedure.REMOVE, new Remove.Arguments(root, name("file")), ChangeResults::read));
            results.add(caller.call(Procedure.RMDIR, new RmDir.Arguments(root, name("dir")), ChangeResults::read));
            results.add(caller.call(
                    Procedure.RENAME,
                    new Rename.Arguments(root, name("file"), root, name("new")),
                    Rename.Results::read));
            results.add(caller.call(Procedure.LINK, new Link.Arguments(file, root, name("new")), Link.Results::read));
            assertThat(results).extracting(NfsResults::status).containsOnly(Status.ROFS);
            assertThat(Files.readString(directory.resolve("file"))).isEqualTo("text");
            try (var listed = Files.list(directory)) {
                assertThat(listed).hasSize(2);
            }
            Read.Results read = Caller.results(
                    Caller.await(caller.sendAsync(Procedure.READ, new Read.Arguments(file, 0, 4))),
                    in -> Read.Results.read(in, 0, 4));
            assertThat(read.isOk()).isTrue();
        }
    }

    @Test
    void handlesAreGoodAfterARestart() throws IOException {
        Files.createDirectories(directory.resolve("a/b"));
        Files.writeString(directory.resolve("a/b/file"), "text");
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            FileHandle b = ServerFixture.lookup(caller, ServerFixture.lookup(caller, root, "a"), "b");
            FileHandle file = ServerFixture.lookup(caller, b, "file");
            Attributes before = attributes(caller, file);
            fixture.restart();
            Caller later = fixture.caller();
            fixture.await(
                    "the file is found",
                    () -> later.call(Procedure.GETATTR, new GetAttr.Arguments(file), GetAttr.Results::read)
                            .isOk());
            assertThat(attributes(later, file)).isEqualTo(before);
            assertThat(ServerFixture.lookup(later, b, "file")).isEqualTo(file);
            assertThat(ServerFixture.root(later)).isEqualTo(root);
        }
    }
}
