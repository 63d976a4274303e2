// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.Time;
import org.rpcrdma4j.transport.rpc.Credential;

/** Who may do what. */
class PermissionsTest {

    private static final Identity ALICE = new Identity(1001, 1001, List.of(2000));
    private static final Identity BOB = new Identity(1002, 1002, List.of());

    @TempDir
    Path root;

    private Export export;
    private Caller admin;
    private Caller alice;
    private Caller bob;

    @BeforeEach
    void open() throws IOException {
        open(ExportOptions.DEFAULT);
    }

    private void open(ExportOptions options) throws IOException {
        export = Export.open(root, options);
        admin = new Caller(export, Identity.ROOT);
        alice = new Caller(export, ALICE);
        bob = new Caller(export, BOB);
    }

    @AfterEach
    void close() {
        export.close();
    }

    private static void assumeRoot() throws IOException {
        assumeTrue(ServerUser.current().privileged(), "needs root");
    }

    private FileHandle home(Caller owner, String name) {
        FileHandle home = admin.directory(admin.root(), name);
        SetAttributes theirs = SetAttributes.NONE
                .withUid(owner.who().uid())
                .withGid(owner.who().gid())
                .withMode(0755);
        assertThat(admin.setAttr(home, theirs).status()).isEqualTo(Status.OK);
        return home;
    }

    private Status chmod(Caller caller, FileHandle file, int mode) {
        return caller.setAttr(file, SetAttributes.NONE.withMode(mode)).status();
    }

    @Test
    void callersAreSquashedAsConfigured() throws IOException {
        assumeRoot();
        Credential rootCredential = new Credential.Sys(1, "host", 0, 0, List.of(0, 5));
        Credential user = new Credential.Sys(1, "host", 1001, 0, List.of(0, 5));
        Identity nobody = ExportOptions.DEFAULT.anonymous();
        assertThat(export.identify(rootCredential)).isEqualTo(nobody);
        assertThat(export.identify(user)).isEqualTo(new Identity(1001, 65534, List.of(65534, 5)));
        assertThat(export.identify(Credential.None.INSTANCE)).isEqualTo(nobody);
        try (Export trusting = Export.open(root, ExportOptions.DEFAULT.withSquash(Squash.NONE))) {
            assertThat(trusting.identify(rootCredential)).isEqualTo(new Identity(0, 0, List.of(0, 5)));
            assertThat(trusting.identify(Credential.None.INSTANCE)).isEqualTo(nobody);
        }
        try (Export distrusting = Export.open(root, ExportOptions.DEFAULT.withSquash(Squash.ALL))) {
            assertThat(distrusting.identify(user)).isEqualTo(nobody);
        }
    }

    @Test
    void userMinusOneIsAnonymousForItWouldMakeFilesOfTheServers() throws IOException {
        assumeRoot();
        try (Export trusting = Export.open(root, ExportOptions.DEFAULT.withSquash(Squash.NONE))) {
            Identity nobody = ExportOptions.DEFAULT.anonymous();
            assertThat(trusting.identify(new Credential.Sys(1, "host", -1, 5, List.of())))
                    .isEqualTo(nobody);
            assertThat(trusting.identify(new Credential.Sys(1, "host", 5, -1, List.of())))
                    .isEqualTo(nobody);
        }
        FileHandle shared = admin.directory(admin.root(), "shared");
        chmod(admin, shared, 0777);
        SetAttributes wished = SetAttributes.NONE.withUid(-1).withGid(-1).withMode(04755);
        CreateResults made = alice.create(shared, FileName.of("f"), new Create.Guarded(wished));
        assertThat(alice.attributes(Caller.handleOf(made)).uid()).isEqualTo(1001);
        CreateResults admins = admin.create(shared, FileName.of("g"), new Create.Guarded(wished));
        assertThat(admin.attributes(Caller.handleOf(admins)).uid()).isZero();
    }

    @Test
    void aServerThatIsNotRootActsAsItselfForEverybody() throws IOException {
        ServerUser self = ServerUser.current().unprivileged();
        try (Export unprivileged = Export.open(root, ExportOptions.DEFAULT.withUser(self))) {
            Identity who = unprivileged.identify(new Credential.Sys(1, "host", 1001, 1001, List.of()));
            assertThat(who).isEqualTo(self.identity());
            Caller caller = new Caller(unprivileged, who);
            FileHandle file = caller.file(caller.root(), "f");
            Attributes attributes = caller.attributes(file);
            assertThat(attributes.uid()).isEqualTo(self.identity().uid());
            // The owner writes what nobody may: the client let them open it before.
            assertThat(chmod(caller, file, 0444)).isEqualTo(Status.OK);
            assertThat(caller.write(file, "text", 0)).isEqualTo(Status.OK);
            assertThat(caller.read(file)).isEqualTo("text");
            assertThat(caller.remove(caller.root(), "f").status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void newObjectsBelongToTheCaller() throws IOException {
        assumeRoot();
        FileHandle home = home(alice, "alice");
        Attributes file = alice.attributes(alice.file(home, "f"));
        assertThat(file.uid()).isEqualTo(1001);
        assertThat(file.gid()).isEqualTo(1001);
        Attributes directory = alice.attributes(alice.directory(home, "d"));
        assertThat(directory.uid()).isEqualTo(1001);
        Attributes link = alice.attributes(Caller.handleOf(alice.symLink(home, "l", PathBytes.of("f"))));
        assertThat(link.uid()).isEqualTo(1001);
        // Somebody else's is not for a user to choose; a group of their own is.
        SetAttributes wished = SetAttributes.NONE.withUid(0).withGid(2000).withMode(0644);
        CreateResults made = alice.create(home, FileName.of("g"), new Create.Guarded(wished));
        Attributes wishedFile = alice.attributes(Caller.handleOf(made));
        assertThat(wishedFile.uid()).isEqualTo(1001);
        assertThat(wishedFile.gid()).isEqualTo(2000);
    }

    @Test
    void aDirectoryWithTheSetGroupBitGivesItsGroupOn() throws IOException {
        assumeRoot();
        FileHandle shared = admin.directory(admin.root(), "shared");
        admin.setAttr(shared, SetAttributes.NONE.withGid(3000).withMode(02777));
        assertThat(alice.attributes(alice.file(shared, "f")).gid()).isEqualTo(3000);
        Attributes directory = alice.attributes(alice.directory(shared, "d"));
        assertThat(directory.gid()).isEqualTo(3000);
        assertThat(directory.mode()).isEqualTo(02755);
    }

    @Test
    void directoriesAreSearchedReadAndChangedByTheirModeBits() throws IOException {
        assumeRoot();
        FileHandle home = home(alice, "alice");
        FileHandle file = alice.file(home, "f");
        assertThat(bob.lookup(home, "f").status()).isEqualTo(Status.OK);
        assertThat(bob.create(home, "x").status()).isEqualTo(Status.ACCES);
        assertThat(bob.mkDir(home, "x").status()).isEqualTo(Status.ACCES);
        assertThat(bob.symLink(home, "x", PathBytes.of("y")).status()).isEqualTo(Status.ACCES);
        assertThat(bob.remove(home, "f").status()).isEqualTo(Status.ACCES);
        assertThat(bob.rename(home, "f", home, "g").status()).isEqualTo(Status.ACCES);
        assertThat(bob.link(file, home, "g").status()).isEqualTo(Status.ACCES);
        chmod(alice, home, 0744);
        assertThat(bob.lookup(home, "f").status()).isEqualTo(Status.ACCES);
        assertThat(bob.lookup(home, "none").status())
                .as("nothing is told of names")
                .isEqualTo(Status.ACCES);
        assertThat(bob.remove(home, "none").status()).isEqualTo(Status.ACCES);
        assertThat(bob.create(home, FileName.of("f"), new Create.Unchecked(SetAttributes.NONE))
                        .status())
                .isEqualTo(Status.ACCES);
        assertThat(bob.create(home, "f").status()).isEqualTo(Status.ACCES);
        assertThat(bob.mkDir(home, "f").status()).isEqualTo(Status.ACCES);
        assertThat(bob.create(home, FileName.of("f"), new Create.Exclusive(1)).status())
                .isEqualTo(Status.ACCES);
        assertThat(bob.list(home, 4096))
                .singleElement()
                .satisfies(entry -> assertThat(entry.file()).isNull())
                .satisfies(entry -> assertThat(entry.attributes()).isNull());
        chmod(alice, home, 0711);
        assertThat(bob.readDirPlus(home, 0, 4096, 4096).status()).isEqualTo(Status.ACCES);
        assertThat(bob.lookup(home, "f").status()).isEqualTo(Status.OK);
    }

    @Test
    void filesAreReadAndWrittenByTheirModeBitsAndAlwaysByTheirOwner() throws IOException {
        assumeRoot();
        FileHandle file = alice.file(home(alice, "alice"), "f");
        chmod(alice, file, 0);
        assertThat(alice.write(file, "text", 0)).isEqualTo(Status.OK);
        assertThat(alice.read(file)).isEqualTo("text");
        assertThat(bob.statusOfOpening(file, OpenMode.READ)).isEqualTo(Status.ACCES);
        assertThat(bob.statusOfOpening(file, OpenMode.WRITE)).isEqualTo(Status.ACCES);
        chmod(alice, file, 0604);
        assertThat(bob.statusOfOpening(file, OpenMode.READ)).isEqualTo(Status.OK);
        assertThat(bob.statusOfOpening(file, OpenMode.WRITE)).isEqualTo(Status.ACCES);
        chmod(alice, file, 0601);
        assertThat(bob.statusOfOpening(file, OpenMode.READ)).as("to execute it").isEqualTo(Status.OK);
        chmod(alice, file, 0606);
        assertThat(bob.statusOfOpening(file, OpenMode.WRITE)).isEqualTo(Status.OK);
        // An open channel in the cache is nobody's permission.
        chmod(alice, file, 0600);
        assertThat(bob.statusOfOpening(file, OpenMode.WRITE)).isEqualTo(Status.ACCES);
    }

    @Test
    void accessTellsWhatTheModeBitsGive() throws IOException {
        assumeRoot();
        FileHandle home = home(alice, "alice");
        FileHandle file = alice.file(home, "f");
        chmod(alice, file, 0640);
        int write = Access.MODIFY | Access.EXTEND;
        assertThat(alice.access(file)).isEqualTo(Access.READ | write);
        assertThat(bob.access(file)).isZero();
        assertThat(admin.access(file)).isEqualTo(Access.READ | write);
        chmod(alice, file, 0755);
        assertThat(bob.access(file)).isEqualTo(Access.READ | Access.EXECUTE);
        assertThat(bob.access(home)).isEqualTo(Access.READ | Access.LOOKUP);
        assertThat(alice.access(home)).isEqualTo(Access.READ | Access.LOOKUP | write | Access.DELETE);
    }

    @Test
    void inAStickyDirectoryOnlyOwnersRemoveAndRename() throws IOException {
        assumeRoot();
        FileHandle shared = admin.directory(admin.root(), "tmp");
        chmod(admin, shared, 01777);
        alice.file(shared, "a");
        bob.file(shared, "b");
        assertThat(bob.remove(shared, "a").status()).isEqualTo(Status.PERM);
        assertThat(bob.rename(shared, "a", shared, "mine").status()).isEqualTo(Status.PERM);
        assertThat(bob.rename(shared, "b", shared, "a").status()).isEqualTo(Status.PERM);
        assertThat(alice.remove(shared, "a").status()).isEqualTo(Status.OK);
        assertThat(admin.remove(shared, "b").status()).isEqualTo(Status.OK);
    }

    @Test
    void onlyTheOwnerSetsModeAndTimesAndOnlyRootGivesAway() throws IOException {
        assumeRoot();
        FileHandle file = alice.file(home(alice, "alice"), "f");
        chmod(alice, file, 0666);
        SetTime time = new SetTime.To(new Time(1, 1));
        SetTime keep = SetTime.Keep.INSTANCE;
        assertThat(chmod(bob, file, 0777)).isEqualTo(Status.PERM);
        assertThat(bob.setAttr(file, SetAttributes.NONE.withTimes(keep, time)).status())
                .isEqualTo(Status.PERM);
        assertThat(bob.setAttr(file, SetAttributes.NONE.withTimes(keep, SetTime.Server.INSTANCE))
                        .status())
                .as("who may write may touch")
                .isEqualTo(Status.OK);
        assertThat(bob.setAttr(file, SetAttributes.NONE.withSize(0)).status()).isEqualTo(Status.OK);
        assertThat(alice.setAttr(file, SetAttributes.NONE.withUid(1002)).status())
                .isEqualTo(Status.PERM);
        assertThat(alice.setAttr(file, SetAttributes.NONE.withUid(1001)).status())
                .isEqualTo(Status.OK);
        assertThat(alice.setAttr(file, SetAttributes.NONE.withGid(1002)).status())
                .isEqualTo(Status.PERM);
        assertThat(bob.setAttr(file, SetAttributes.NONE.withGid(1002)).status()).isEqualTo(Status.PERM);
        assertThat(alice.setAttr(file, SetAttributes.NONE.withGid(2000)).status())
                .isEqualTo(Status.OK);
        assertThat(alice.attributes(file).gid()).isEqualTo(2000);
        assertThat(admin.setAttr(file, SetAttributes.NONE.withUid(1002).withGid(1002))
                        .status())
                .isEqualTo(Status.OK);
        assertThat(admin.setAttr(file, SetAttributes.NONE.withUid(-1)).status()).isEqualTo(Status.INVAL);
        chmod(bob, file, 0600);
        assertThat(alice.setAttr(file, SetAttributes.NONE.withSize(0)).status()).isEqualTo(Status.ACCES);
        assertThat(alice.setAttr(file, SetAttributes.NONE.withTimes(keep, SetTime.Server.INSTANCE))
                        .status())
                .isEqualTo(Status.ACCES);
    }

    @Test
    void rightsThatAProgramGivesGoWhenSomebodyChangesIt() throws IOException {
        assumeRoot();
        FileHandle home = home(alice, "alice");
        FileHandle file = alice.file(home, "f");
        chmod(alice, file, 06777);
        assertThat(alice.attributes(file).mode()).isEqualTo(06777);
        bob.write(file, "trojan", 0);
        assertThat(bob.attributes(file).mode()).isEqualTo(0777);
        chmod(alice, file, 06777);
        bob.setAttr(file, SetAttributes.NONE.withSize(0));
        assertThat(bob.attributes(file).mode()).isEqualTo(0777);
        chmod(alice, file, 06777);
        bob.create(home, FileName.of("f"), new Create.Unchecked(SetAttributes.NONE.withSize(0)));
        assertThat(bob.attributes(file).mode()).isEqualTo(0777);
        chmod(alice, file, 06777);
        alice.setAttr(file, SetAttributes.NONE.withGid(2000));
        assertThat(alice.attributes(file).mode()).isEqualTo(0777);
        admin.setAttr(file, SetAttributes.NONE.withGid(3000));
        chmod(alice, file, 02755);
        assertThat(alice.attributes(file).mode())
                .as("of a group that alice is not in")
                .isEqualTo(0755);
    }

    @Test
    void whatSomebodyCannotReadAndWriteTheyCannotLink() throws IOException {
        assumeRoot();
        FileHandle shared = admin.directory(admin.root(), "tmp");
        chmod(admin, shared, 0777);
        FileHandle secret = admin.file(shared, "secret");
        chmod(admin, secret, 0600);
        FileHandle program = admin.file(shared, "program");
        chmod(admin, program, 04777);
        FileHandle open = admin.file(shared, "open");
        chmod(admin, open, 0666);
        assertThat(bob.link(secret, shared, "mine").status()).isEqualTo(Status.PERM);
        assertThat(bob.link(program, shared, "mine").status()).isEqualTo(Status.PERM);
        assertThat(bob.link(open, shared, "mine").status()).isEqualTo(Status.OK);
    }

    @Test
    void aDirectoryIsMovedOnlyByWhoMayWriteIt() throws IOException {
        assumeRoot();
        FileHandle shared = admin.directory(admin.root(), "a");
        FileHandle other = admin.directory(admin.root(), "b");
        chmod(admin, shared, 0777);
        chmod(admin, other, 0777);
        alice.directory(shared, "d");
        assertThat(bob.rename(shared, "d", other, "d").status()).isEqualTo(Status.ACCES);
        assertThat(bob.rename(shared, "d", shared, "e").status()).isEqualTo(Status.OK);
    }

    @Test
    void aReadOnlyExportChangesNothing() throws IOException {
        FileHandle d = admin.directory(admin.root(), "d");
        FileHandle file = admin.file(d, "f");
        Files.writeString(root.resolve("d/f"), "text");
        export.close();
        open(ExportOptions.DEFAULT.withReadOnly(true));
        assertThat(Caller.patiently(() -> admin.getAttr(file)).status()).isEqualTo(Status.OK);
        assertThat(admin.create(d, "x").status()).isEqualTo(Status.ROFS);
        assertThat(admin.mkDir(d, "x").status()).isEqualTo(Status.ROFS);
        assertThat(export.mkDir(Identity.ROOT, new MkDir.Arguments(d, FileName.of("f"), SetAttributes.NONE))
                        .status())
                .isEqualTo(Status.EXIST);
        assertThat(admin.symLink(d, "x", PathBytes.of("y")).status()).isEqualTo(Status.ROFS);
        assertThat(admin.link(file, d, "x").status()).isEqualTo(Status.ROFS);
        assertThat(admin.remove(d, "f").status()).isEqualTo(Status.ROFS);
        assertThat(admin.rmDir(admin.root(), "d").status()).isEqualTo(Status.ROFS);
        assertThat(admin.rename(d, "f", d, "g").status()).isEqualTo(Status.ROFS);
        assertThat(chmod(admin, file, 0)).isEqualTo(Status.ROFS);
        assertThat(admin.setAttr(file, SetAttributes.NONE.withSize(0)).status()).isEqualTo(Status.ROFS);
        assertThat(admin.statusOfOpening(file, OpenMode.WRITE)).isEqualTo(Status.ROFS);
        assertThat(admin.create(d, FileName.of("f"), new Create.Unchecked(SetAttributes.NONE.withSize(0)))
                        .status())
                .isEqualTo(Status.ROFS);
        assertThat(admin.access(file) & (Access.MODIFY | Access.EXTEND)).isZero();
        assertThat(admin.read(file)).isEqualTo("text");
    }
}
