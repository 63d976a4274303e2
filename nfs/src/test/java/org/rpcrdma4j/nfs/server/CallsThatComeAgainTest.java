// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.MkNod;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.RmDir;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.XdrValue;
import org.rpcrdma4j.testkit.proxy.Direction;
import org.rpcrdma4j.testkit.proxy.FaultProxy;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** A client that lost its connection sends its calls again: they run once, and get the answer of that run. */
class CallsThatComeAgainTest {

    @TempDir
    private Path directory;

    /** A call that must not run twice. */
    record Change(Procedure procedure, Target arguments) {
        interface Target {
            XdrValue of(FileHandle root, FileHandle file);
        }

        @Override
        public String toString() {
            return procedure.name();
        }
    }

    private static FileName name(String text) {
        return FileName.of(text);
    }

    static Stream<Change> changes() {
        return Stream.of(
                new Change(
                        Procedure.SETATTR, (root, file) -> new SetAttr.Arguments(file, SetAttributes.NONE.withSize(2))),
                new Change(
                        Procedure.WRITE,
                        (root, file) -> new Write.Arguments(
                                file, 3, StableHow.UNSTABLE, List.of(MemorySegment.ofArray(new byte[200])))),
                new Change(
                        Procedure.CREATE,
                        (root, file) ->
                                new Create.Arguments(root, name("new"), new Create.Guarded(SetAttributes.NONE))),
                new Change(
                        Procedure.MKDIR,
                        (root, file) -> new MkDir.Arguments(root, name("new"), SetAttributes.NONE.withMode(0755))),
                new Change(
                        Procedure.SYMLINK,
                        (root, file) ->
                                new SymLink.Arguments(root, name("new"), SetAttributes.NONE, PathBytes.of("there"))),
                new Change(
                        Procedure.MKNOD,
                        (root, file) -> new MkNod.Arguments(
                                root, name("new"), new MkNod.Pipe(FileType.FIFO, SetAttributes.NONE))),
                new Change(Procedure.REMOVE, (root, file) -> new Remove.Arguments(root, name("file"))),
                new Change(Procedure.RMDIR, (root, file) -> new RmDir.Arguments(root, name("dir"))),
                new Change(
                        Procedure.RENAME, (root, file) -> new Rename.Arguments(root, name("file"), root, name("new"))),
                new Change(Procedure.LINK, (root, file) -> new Link.Arguments(file, root, name("new"))));
    }

    private static Status status(Reply reply) {
        return Caller.results(reply, in -> {
            Status status = Status.read(in);
            in.skip(in.remaining());
            return status;
        });
    }

    @ParameterizedTest
    @MethodSource("changes")
    void aChangeWhoseAnswerWasLostIsAnsweredAgainAndMadeOnce(Change change) throws IOException {
        Files.writeString(directory.resolve("file"), "some text");
        Files.createDirectory(directory.resolve("dir"));
        try (ServerFixture fixture = new ServerFixture(directory);
                FaultProxy proxy = FaultProxy.start(0, fixture.address())) {
            Caller caller = fixture.caller(ServerFixture.USER, proxy.address());
            FileHandle root = ServerFixture.root(caller);
            FileHandle file = ServerFixture.lookup(caller, root, "file");
            proxy.cutNext(Direction.DOWN);
            Reply reply = caller.send(
                    caller.client.nextXid(),
                    change.procedure(),
                    change.arguments().of(root, file));
            assertThat(proxy.status().cuts()).isEqualTo(1);
            assertThat(reply.transmissions()).isEqualTo(2);
            // No device or pipe is made here, which is remembered too.
            assertThat(status(reply)).isEqualTo(change.procedure() == Procedure.MKNOD ? Status.NOTSUPP : Status.OK);
            assertThat(fixture.server.calls().get(change.procedure())).isEqualTo(1);
            assertThat(fixture.server.replyCache().hits()
                            + fixture.server.replyCache().waits())
                    .isEqualTo(1);
        }
    }

    @Test
    void theSameXidByAnotherConnectionGetsTheSameBytesAndAnotherXidDoesNot() throws IOException {
        Files.createFile(directory.resolve("file"));
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller one = fixture.caller();
            Caller two = fixture.caller();
            FileHandle root = ServerFixture.root(one);
            Remove.Arguments remove = new Remove.Arguments(root, name("file"));
            byte[] first = one.reply(77, Procedure.REMOVE, remove);
            assertThat(two.reply(77, Procedure.REMOVE, remove)).isEqualTo(first);
            assertThat(one.reply(77, Procedure.REMOVE, remove)).isEqualTo(first);
            assertThat(one.call(78, Procedure.REMOVE, remove, ChangeResults::read)
                            .status())
                    .isEqualTo(Status.NOENT);
            // A failure is remembered as well.
            Files.createFile(directory.resolve("file"));
            assertThat(two.call(78, Procedure.REMOVE, remove, ChangeResults::read)
                            .status())
                    .isEqualTo(Status.NOENT);
            assertThat(directory.resolve("file")).exists();
        }
    }

    @Test
    void aLateWriteDoesNotUndoALaterOne() throws IOException {
        Files.createFile(directory.resolve("file"));
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle file = ServerFixture.lookup(caller, ServerFixture.root(caller), "file");
            Write.Arguments old = write(file, "old");
            assertThat(call(caller, 1001, old).isOk()).isTrue();
            assertThat(call(caller, 1002, write(file, "new")).isOk()).isTrue();
            assertThat(call(caller, 1001, old).isOk()).isTrue();
            assertThat(Files.readString(directory.resolve("file"))).isEqualTo("new");
        }
    }

    private static Write.Arguments write(FileHandle file, String text) {
        return new Write.Arguments(
                file, 0, StableHow.UNSTABLE, List.of(MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII))));
    }

    private static NfsResults call(Caller caller, int xid, Write.Arguments arguments) {
        return caller.call(xid, Procedure.WRITE, arguments, (XdrReader in) -> Write.Results.read(in));
    }
}
