// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.MkNod;
import org.rpcrdma4j.nfs.protocol.Nfs3;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Arguments that no honest client sends: refused as such, and the server goes on. */
class HostileArgumentsTest {

    @TempDir
    private Path directory;

    /** Good arguments of each procedure. */
    private static List<Sample> samples(FileHandle root, FileHandle file) {
        FileName name = FileName.of("name");
        return List.of(
                new Sample(Procedure.GETATTR, new GetAttr.Arguments(file)),
                new Sample(Procedure.SETATTR, new SetAttr.Arguments(file, SetAttributes.NONE.withMode(0644))),
                new Sample(Procedure.LOOKUP, new Lookup.Arguments(root, name)),
                new Sample(Procedure.ACCESS, new Access.Arguments(file, 0x3f)),
                new Sample(Procedure.READLINK, new GetAttr.Arguments(file)),
                new Sample(Procedure.READ, new Read.Arguments(file, 0, 100)),
                new Sample(
                        Procedure.WRITE,
                        new Write.Arguments(
                                file, 0, StableHow.FILE_SYNC, List.of(MemorySegment.ofArray(new byte[] {1, 2, 3})))),
                new Sample(
                        Procedure.CREATE,
                        new Create.Arguments(root, name, new Create.Unchecked(SetAttributes.NONE.withSize(3)))),
                new Sample(Procedure.MKDIR, new MkDir.Arguments(root, name, SetAttributes.NONE)),
                new Sample(
                        Procedure.SYMLINK,
                        new SymLink.Arguments(root, name, SetAttributes.NONE, PathBytes.of("where"))),
                new Sample(
                        Procedure.MKNOD,
                        new MkNod.Arguments(root, name, new MkNod.Pipe(FileType.FIFO, SetAttributes.NONE))),
                new Sample(Procedure.REMOVE, new Remove.Arguments(root, name)),
                new Sample(Procedure.RMDIR, new Remove.Arguments(root, name)),
                new Sample(Procedure.RENAME, new Rename.Arguments(root, name, root, FileName.of("other"))),
                new Sample(Procedure.LINK, new Link.Arguments(file, root, name)),
                new Sample(Procedure.READDIR, new ReadDir.Arguments(root, 0, CookieVerifier.NONE, 4096)),
                new Sample(Procedure.READDIRPLUS, new ReadDirPlus.Arguments(root, 0, CookieVerifier.NONE, 1000, 4096)),
                new Sample(Procedure.FSSTAT, new GetAttr.Arguments(root)),
                new Sample(Procedure.FSINFO, new GetAttr.Arguments(root)),
                new Sample(Procedure.PATHCONF, new GetAttr.Arguments(root)),
                new Sample(Procedure.COMMIT, new Commit.Arguments(file, 0, 0)));
    }

    private record Sample(Procedure procedure, XdrValue arguments) {}

    private static byte[] bytes(XdrValue arguments) {
        XdrWriter out = new XdrWriter();
        arguments.write(out);
        return out.toByteArray();
    }

    private static AcceptStatus call(Caller caller, Procedure procedure, byte... arguments) {
        return caller.raw(Nfs3.PROGRAM, Nfs3.VERSION, procedure.number(), MemorySegment.ofArray(arguments));
    }

    @Test
    void argumentsThatAreCutOrGoOnAreGarbageAndDoNothing() throws IOException {
        Files.createFile(directory.resolve("file"));
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            FileHandle file = ServerFixture.lookup(caller, root, "file");
            for (Sample sample : samples(root, file)) {
                byte[] good = bytes(sample.arguments());
                for (int length = 0; length < good.length; length += 4) {
                    assertThat(call(caller, sample.procedure(), Arrays.copyOf(good, length)))
                            .as("%s cut to %d", sample.procedure(), length)
                            .isEqualTo(AcceptStatus.GARBAGE_ARGS);
                }
                assertThat(call(caller, sample.procedure(), Arrays.copyOf(good, good.length + 4)))
                        .as("%s with 4 bytes more", sample.procedure())
                        .isEqualTo(AcceptStatus.GARBAGE_ARGS);
            }
            try (Stream<Path> left = Files.list(directory)) {
                assertThat(left).containsExactly(directory.resolve("file"));
            }
            assertThat(directory.resolve("file")).isEmptyFile();
        }
    }

    /** Every answer is one that RPC knows, and the server serves the next call. */
    @Test
    void anyBytesAreAnswered() throws IOException {
        Files.createFile(directory.resolve("file"));
        long seed = Long.getLong("rpcrdma.seed", 20_26L);
        Random random = new Random(seed);
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            FileHandle file = ServerFixture.lookup(caller, root, "file");
            List<Sample> samples = samples(root, file);
            for (int i = 0; i < 1500; i++) {
                Sample sample = samples.get(random.nextInt(samples.size()));
                byte[] damaged = bytes(sample.arguments());
                for (int n = 1 + random.nextInt(3); n > 0; n--) {
                    damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
                }
                assertThat(call(caller, sample.procedure(), damaged))
                        .as("seed %d, round %d: %s", seed, i, sample.procedure())
                        .isIn(AcceptStatus.SUCCESS, AcceptStatus.GARBAGE_ARGS);
            }
            assertThat(ServerFixture.root(caller)).isEqualTo(root);
        }
    }

    @Test
    void aCountThatIsNotTheLengthOfTheDataIsGarbage() throws IOException {
        Files.createFile(directory.resolve("file"));
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle file = ServerFixture.lookup(caller, ServerFixture.root(caller), "file");
            for (int count : new int[] {0, 7, 9, -1}) {
                XdrWriter out = new XdrWriter();
                file.write(out);
                out.writeHyper(0);
                out.writeInt(count);
                out.writeInt(0);
                out.writeOpaque(new byte[8]);
                assertThat(call(caller, Procedure.WRITE, out.toByteArray()))
                        .as("count %d", count)
                        .isEqualTo(AcceptStatus.GARBAGE_ARGS);
            }
            assertThat(directory.resolve("file")).isEmptyFile();
        }
    }

    @Test
    void namesThatLeadOutOfTheExportDoNot() throws IOException {
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.writeString(directory.resolve("outside"), "secret");
        Files.createSymbolicLink(export.resolve("link"), Path.of(".."));
        try (ServerFixture fixture = new ServerFixture(export)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            assertThat(ServerFixture.lookup(caller, root, "..")).isEqualTo(root);
            FileHandle link = ServerFixture.lookup(caller, root, "link");
            for (String name : List.of("outside", "../outside", "a/b", "/etc/passwd", "")) {
                for (FileHandle from : List.of(root, link)) {
                    Lookup.Results found = caller.call(
                            Procedure.LOOKUP, new Lookup.Arguments(from, FileName.of(name)), Lookup.Results::read);
                    assertThat(found.status()).as(name).isNotEqualTo(Status.OK);
                }
            }
        }
    }
}
