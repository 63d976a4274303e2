// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.nfs.export.Caller.patiently;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Status;

class HandleTest {

    @TempDir
    Path root;

    private Export export;
    private Caller caller;

    @BeforeEach
    void open() throws IOException {
        open(ExportOptions.DEFAULT);
    }

    private void open(ExportOptions options) throws IOException {
        export = Export.open(root, options);
        caller = new Caller(export, Identity.ROOT);
    }

    @AfterEach
    void close() {
        export.close();
    }

    private void restart() throws IOException {
        export.close();
        open();
    }

    private Status statusOf(FileHandle handle) {
        return patiently(() -> caller.getAttr(handle)).status();
    }

    /** Asks for all before it waits for one, so that few scans do. */
    private List<Status> statusesOf(List<FileHandle> handles) {
        handles.forEach(handle -> caller.getAttr(handle));
        return handles.stream().map(this::statusOf).toList();
    }

    @Test
    void allHardLinksOfAFileHaveOneHandle() {
        FileHandle file = caller.file(caller.root(), "one");
        FileHandle directory = caller.directory(caller.root(), "d");
        assertThat(caller.link(file, directory, "two").status()).isEqualTo(Status.OK);
        assertThat(caller.at("d/two")).isEqualTo(file);
        assertThat(caller.attributes(file).links()).isEqualTo(2);
    }

    @Test
    void aHandleWorksAsLongAsOneNameOfTheFileIsLeft() {
        FileHandle file = caller.file(caller.root(), "one");
        FileHandle directory = caller.directory(caller.root(), "d");
        caller.link(file, directory, "two");
        assertThat(caller.remove(caller.root(), "one").status()).isEqualTo(Status.OK);
        assertThat(caller.getAttr(file)).isInstanceOf(GetAttr.Ok.class);
        assertThat(caller.remove(directory, "two").status()).isEqualTo(Status.OK);
        assertThat(caller.getAttr(file).status()).isEqualTo(Status.STALE);
    }

    @Test
    void aNameThatTheServerHasNotSeenKeepsAHandleWorkingToo() throws IOException {
        FileHandle file = caller.file(caller.root(), "one");
        Files.createDirectory(root.resolve("d"));
        Files.createLink(root.resolve("d/unseen"), root.resolve("one"));
        assertThat(caller.remove(caller.root(), "one").status()).isEqualTo(Status.OK);
        assertThat(statusOf(file)).isEqualTo(Status.OK);
    }

    @Test
    void theHandleOfARemovedFileOrDirectoryIsStaleAtOnce() {
        FileHandle file = caller.file(caller.root(), "f");
        FileHandle directory = caller.directory(caller.root(), "d");
        caller.remove(caller.root(), "f");
        caller.rmDir(caller.root(), "d");
        assertThat(caller.getAttr(file).status()).isEqualTo(Status.STALE);
        assertThat(caller.getAttr(directory).status()).isEqualTo(Status.STALE);
        assertThat(caller.create(directory, "x").status()).isEqualTo(Status.STALE);
        assertThat(caller.lookup(directory, "x").status()).isEqualTo(Status.STALE);
    }

    @Test
    void anInodeThatIsUsedAgainDoesNotBringAHandleBack() throws IOException {
        List<FileHandle> old = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            old.add(caller.file(caller.root(), "f" + i));
        }
        for (int i = 0; i < 50; i++) {
            // By another process, so that the table is not told.
            Files.delete(root.resolve("f" + i));
        }
        for (int i = 0; i < 50; i++) {
            caller.file(caller.root(), "g" + i);
        }
        assertThat(statusesOf(old)).containsOnly(Status.STALE);
    }

    @Test
    void everythingBelowARenamedDirectoryKeepsItsHandle() {
        FileHandle a = caller.directory(caller.root(), "a");
        FileHandle b = caller.directory(a, "b");
        FileHandle file = caller.file(b, "f");
        FileHandle other = caller.directory(caller.root(), "other");
        assertThat(caller.rename(caller.root(), "a", other, "moved").status()).isEqualTo(Status.OK);
        assertThat(caller.getAttr(file)).isInstanceOf(GetAttr.Ok.class);
        assertThat(caller.lookup(b, "f")).isInstanceOf(Lookup.Ok.class);
        assertThat(((Lookup.Ok) caller.lookup(a, "..")).file()).isEqualTo(other);
        assertThat(caller.at("other/moved/b/f")).isEqualTo(file);
    }

    @Test
    void handlesWorkAfterARestart() throws IOException {
        FileHandle a = caller.directory(caller.root(), "a");
        FileHandle b = caller.directory(a, "b");
        FileHandle file = caller.file(b, "f");
        FileHandle rootHandle = caller.root();
        restart();
        assertThat(caller.root()).isEqualTo(rootHandle);
        // The first call finds nothing in the table yet; it is a matter of luck whether the scan is faster than the
        // next.
        assertThat(caller.getAttr(file).status()).isIn(Status.JUKEBOX, Status.OK);
        assertThat(statusOf(file)).isEqualTo(Status.OK);
        assertThat(patiently(() -> caller.lookup(b, "f"))).isInstanceOf(Lookup.Ok.class);
        assertThat(patiently(() -> caller.create(a, "new")).status()).isEqualTo(Status.OK);
    }

    @Test
    void handlesOfFilesThatWereRemovedWhileTheServerWasDownAreStale() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        FileHandle kept = caller.file(caller.root(), "kept");
        export.close();
        Files.delete(root.resolve("f"));
        open();
        assertThat(statusOf(file)).isEqualTo(Status.STALE);
        assertThat(statusOf(kept)).isEqualTo(Status.OK);
        assertThat(caller.getAttr(file).status()).as("no second scan").isEqualTo(Status.STALE);
    }

    @Test
    void filesThatAnotherProcessMovedAreFoundAgain() throws IOException {
        FileHandle a = caller.directory(caller.root(), "a");
        FileHandle file = caller.file(a, "f");
        FileHandle b = caller.directory(caller.root(), "b");
        Files.move(root.resolve("a/f"), root.resolve("b/g"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(statusOf(file)).isEqualTo(Status.OK);
        Files.move(root.resolve("b"), root.resolve("c"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(statusOf(file)).isEqualTo(Status.OK);
        assertThat(patiently(() -> caller.lookup(b, "g")).status()).isEqualTo(Status.OK);
    }

    @Test
    void aDirectoryThatAnotherProcessMovedOutOfTheRootIsStaleAndSoIsWhatIsBelow(@TempDir Path outside)
            throws IOException {
        FileHandle a = caller.directory(caller.root(), "a");
        FileHandle file = caller.file(a, "f");
        Files.move(root.resolve("a"), outside.resolve("a"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(statusOf(a)).isEqualTo(Status.STALE);
        assertThat(patiently(() -> caller.create(a, "new")).status()).isEqualTo(Status.STALE);
        assertThat(statusOf(file)).isEqualTo(Status.STALE);
        assertThat(outside.resolve("a/new")).doesNotExist();
    }

    @Test
    void theRootItselfMayBeRenamedWhileItIsExported(@TempDir Path parent) throws IOException {
        export.close();
        root = Files.createDirectory(parent.resolve("before"));
        open();
        FileHandle a = caller.directory(caller.root(), "a");
        Files.move(root, parent.resolve("after"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(caller.create(a, "f").status()).isEqualTo(Status.OK);
        assertThat(parent.resolve("after/a/f")).exists();
    }

    @Test
    void bytesThatNobodyGaveOutAreABadHandle() {
        assertThat(caller.getAttr(FileHandle.of((byte) 1)).status()).isEqualTo(Status.BADHANDLE);
        assertThat(caller.getAttr(FileHandle.of(new byte[64])).status()).isEqualTo(Status.BADHANDLE);
        byte[] wrong = caller.root().bytes();
        wrong[0] ^= 1;
        assertThat(caller.getAttr(FileHandle.of(wrong)).status()).isEqualTo(Status.BADHANDLE);
    }

    @Test
    void aHandleWithoutOrWithAnotherBirthIsStale() {
        byte[] other = caller.file(caller.root(), "f").bytes();
        other[27] ^= 1;
        assertThat(caller.getAttr(FileHandle.of(other)).status()).isEqualTo(Status.STALE);
        Arrays.fill(other, 20, 28, (byte) 0);
        assertThat(caller.getAttr(FileHandle.of(other)).status()).isEqualTo(Status.STALE);
    }

    @Test
    void aHandleOfAnotherExportIsStale(@TempDir Path other) throws IOException {
        try (Export second = Export.open(other, ExportOptions.DEFAULT)) {
            assertThat(caller.getAttr(second.root()).status()).isEqualTo(Status.STALE);
            assertThat(export.isOwn(second.root())).isFalse();
            assertThat(export.isOwn(export.root())).isTrue();
        }
    }

    @Test
    void everyInodeThatSomebodyMadeUpEndsStale() {
        List<FileHandle> madeUp = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            byte[] bytes = caller.root().bytes();
            bytes[19] ^= (byte) (i + 1);
            bytes[12] = 77;
            madeUp.add(FileHandle.of(bytes));
        }
        assertThat(statusesOf(madeUp)).containsOnly(Status.STALE);
    }

    @Test
    void filesBeyondTheBoundOfTheTableAreFoundByScans() throws IOException {
        export.close();
        open(ExportOptions.DEFAULT.withMaxNodes(16).withMaxOpenDirectories(4));
        List<FileHandle> all = new ArrayList<>();
        for (int d = 0; d < 4; d++) {
            FileHandle directory = caller.directory(caller.root(), "d" + d);
            for (int f = 0; f < 6; f++) {
                all.add(caller.file(directory, "f" + f));
            }
        }
        assertThat(all).allSatisfy(handle -> assertThat(statusOf(handle)).isEqualTo(Status.OK));
    }

    @Test
    void veryDeepDirectoriesWorkAndAreFoundAgain() throws IOException {
        FileHandle at = caller.root();
        String name = "x".repeat(200);
        for (int i = 0; i < 60; i++) {
            at = caller.directory(at, name);
        }
        FileHandle file = caller.file(at, "deep");
        restart();
        assertThat(statusOf(file)).isEqualTo(Status.OK);
        // For whoever cleans up by paths: nothing deep is left.
        FileHandle up = at;
        assertThat(patiently(() -> caller.remove(up, "deep")).status()).isEqualTo(Status.OK);
        for (int i = 0; i < 60; i++) {
            FileHandle parent = ((Lookup.Ok) caller.lookup(at, "..")).file();
            assertThat(caller.rmDir(parent, name).status()).isEqualTo(Status.OK);
            at = parent;
        }
    }

    @Test
    void mountGivesDirectoriesBelowTheRootAndNothingElse() throws IOException {
        FileHandle a = caller.directory(caller.root(), "a");
        FileHandle b = caller.directory(a, "b");
        caller.file(a, "f");
        caller.symLink(a, "out", PathBytes.of("/"));
        assertThat(export.mount(PathBytes.of(""))).isEqualTo(caller.root());
        assertThat(export.mount(PathBytes.of("//a/./b/"))).isEqualTo(b);
        assertThat(export.mount(PathBytes.of("../../a/b/.."))).isEqualTo(a);
        assertStatusOfMount("a/none", Status.NOENT);
        assertStatusOfMount("a/f", Status.NOTDIR);
        assertStatusOfMount("a/out", Status.NOTDIR);
        assertStatusOfMount("a/out/etc", Status.NOTDIR);
    }

    private void assertStatusOfMount(String path, Status status) {
        assertThatThrownBy(() -> export.mount(PathBytes.of(path)))
                .isInstanceOfSatisfying(
                        NfsException.class, e -> assertThat(e.status()).isEqualTo(status));
    }
}
