// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.ServerUser;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.transport.rpc.AuthFlavor;
import org.rpcrdma4j.transport.rpc.AuthStatus;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.OpaqueAuth;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** Who may do what, when the server is root and so has to look itself; each call anew. */
class AccessTest {

    private static final Credential ANNA = new Credential.Sys(0, "test", 1001, 1001, List.of());
    private static final Credential BERT = new Credential.Sys(0, "test", 1002, 1002, List.of());
    private static final Credential ROOT = new Credential.Sys(0, "test", 0, 0, List.of());

    @TempDir
    private Path directory;

    @BeforeEach
    void needsRoot() throws IOException {
        assumeThat(ServerUser.current().privileged())
                .as("the tests run as root")
                .isTrue();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    private ServerFixture fixture() throws IOException {
        return new ServerFixture(directory, ExportOptions.DEFAULT, NfsServerOptions.DEFAULT);
    }

    private static CreateResults.Ok create(Caller caller, String name, int mode) {
        return (CreateResults.Ok) caller.call(
                Procedure.CREATE,
                new Create.Arguments(
                        ServerFixture.root(caller),
                        FileName.of(name),
                        new Create.Guarded(SetAttributes.NONE.withMode(mode))),
                CreateResults::read);
    }

    private static Status read(Caller caller, FileHandle file) {
        return Caller.results(
                        Caller.await(caller.sendAsync(Procedure.READ, new Read.Arguments(file, 0, 10))),
                        in -> Read.Results.read(in, 0, 10))
                .status();
    }

    private static Status write(Caller caller, FileHandle file) {
        return caller.call(
                        Procedure.WRITE,
                        new Write.Arguments(
                                file, 0, StableHow.UNSTABLE, List.of(MemorySegment.ofArray(new byte[] {1, 2, 3}))),
                        Write.Results::read)
                .status();
    }

    @Test
    void aFileIsItsOwnersAndTheModeHoldsForOthersAtEachCall() throws IOException {
        try (ServerFixture fixture = fixture()) {
            Caller anna = fixture.caller(ANNA, fixture.address());
            Caller bert = fixture.caller(BERT, fixture.address());
            CreateResults.Ok made = create(anna, "file", 0600);
            assertThat(made.attributes()).extracting(Attributes::uid).isEqualTo(1001);
            FileHandle file = ServerFixture.lookup(bert, ServerFixture.root(bert), "file");
            assertThat(write(anna, file)).isEqualTo(Status.OK);
            assertThat(read(bert, file)).isEqualTo(Status.ACCES);
            assertThat(write(bert, file)).isEqualTo(Status.ACCES);
            // The file is open for Anna; what it allows to Bert is looked up again.
            Files.setPosixFilePermissions(directory.resolve("file"), PosixFilePermissions.fromString("rw-r--r--"));
            assertThat(read(bert, file)).isEqualTo(Status.OK);
            assertThat(write(bert, file)).isEqualTo(Status.ACCES);
            Files.setPosixFilePermissions(directory.resolve("file"), PosixFilePermissions.fromString("rw-------"));
            assertThat(read(bert, file)).isEqualTo(Status.ACCES);
        }
    }

    @Test
    void rootAndCallersWithoutNameAreNobody() throws IOException {
        Files.writeString(directory.resolve("secret"), "text");
        Files.setPosixFilePermissions(directory.resolve("secret"), PosixFilePermissions.fromString("rw-------"));
        ExportOptions strict = ExportOptions.DEFAULT.withSquash(Squash.ROOT_STRICT);
        try (ServerFixture fixture = new ServerFixture(directory, strict, NfsServerOptions.DEFAULT)) {
            for (Credential credential : List.of(ROOT, Credential.None.INSTANCE)) {
                Caller caller = fixture.caller(credential, fixture.address());
                FileHandle secret = ServerFixture.lookup(caller, ServerFixture.root(caller), "secret");
                assertThat(read(caller, secret)).isEqualTo(Status.ACCES);
                CreateResults.Ok made =
                        create(caller, "by-" + credential.getClass().getSimpleName(), 0644);
                assertThat(made.attributes()).extracting(Attributes::uid).isEqualTo(65534);
            }
        }
    }

    /** Whom a file belongs to that the caller makes. */
    private static Integer userOf(CreateResults.Ok made) {
        return Objects.requireNonNull(made.attributes()).uid();
    }

    @Test
    void rootOfThisMachineIsRoot() throws IOException {
        try (ServerFixture fixture = fixture()) {
            Caller root = fixture.caller(ROOT, fixture.address());
            assertThat(userOf(create(root, "file", 0600))).isZero();
            Credential inGroup = new Credential.Sys(0, "test", 1001, 0, List.of());
            CreateResults.Ok made = create(fixture.caller(inGroup, fixture.address()), "of-group", 0600);
            assertThat(made.attributes()).extracting(Attributes::gid).isEqualTo(0);
        }
    }

    @Test
    void anotherUserOfThisMachineWhoSaysToBeRootIsNobody() throws IOException {
        AtomicInteger owner = new AtomicInteger(1001);
        SocketOwners owners = (local, remote) -> OptionalInt.of(owner.get());
        try (ServerFixture fixture =
                new ServerFixture(directory, ExportOptions.DEFAULT, NfsServerOptions.DEFAULT, owners)) {
            Caller forger = fixture.caller(ROOT, fixture.address());
            assertThat(userOf(create(forger, "forged", 0600))).isEqualTo(65534);
            owner.set(0);
            Caller root = fixture.caller(ROOT, fixture.address());
            assertThat(userOf(create(root, "made", 0600))).isZero();
            assertThat(userOf(create(forger, "forged-again", 0600))).isEqualTo(65534);
        }
    }

    @Test
    void whereNobodyTellsRootIsNobody() throws IOException {
        SocketOwners owners = (local, remote) -> {
            throw new IOException("no /proc");
        };
        try (ServerFixture fixture =
                new ServerFixture(directory, ExportOptions.DEFAULT, NfsServerOptions.DEFAULT, owners)) {
            Caller root = fixture.caller(ROOT, fixture.address());
            assertThat(userOf(create(root, "file", 0600))).isEqualTo(65534);
        }
    }

    @Test
    void otherFlavoursAreToBeginAnew() throws IOException, XdrException {
        try (ServerFixture fixture = fixture()) {
            Credential gss = new Credential.Other(
                    new OpaqueAuth(AuthFlavor.RPCSEC_GSS.value(), MemorySegment.ofArray(new byte[20])));
            Caller caller = fixture.caller(gss, fixture.address());
            byte[] reply = caller.reply(5, Procedure.GETATTR, out -> out.writeOpaque(new byte[8]));
            assertThat(ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(reply))))
                    .isEqualTo(new ReplyHeader.AuthError(5, AuthStatus.AUTH_REJECTEDCRED));
        }
    }
}
