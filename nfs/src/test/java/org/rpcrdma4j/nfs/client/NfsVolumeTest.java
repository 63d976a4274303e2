// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;

/** Operations on paths, against a server in memory. */
@Timeout(60)
class NfsVolumeTest {

    private final FakeNfs nfs = new FakeNfs();
    private Volumes volumes;
    private NfsVolume volume;

    NfsVolumeTest() throws IOException {
        volumes = new Volumes(nfs);
        volume = volumes.volume;
    }

    @BeforeEach
    void makeTree() {
        FakeNode directory = nfs.add(nfs.root, "dir", FileType.DIRECTORY);
        nfs.addFile(directory, "file", new byte[10]);
        FakeNode below = nfs.add(directory, "below", FileType.DIRECTORY);
        nfs.addFile(below, "deep", new byte[3]);
    }

    @AfterEach
    void close() {
        volumes.close();
    }

    private void again() throws IOException {
        volumes.close();
        volumes = new Volumes(nfs);
        volume = volumes.volume;
    }

    private static NfsPath path(String text) {
        return NfsPath.parse(text);
    }

    private static void assertStatus(ThrowingCallable code, Status status, String message) {
        assertThatThrownBy(code)
                .isInstanceOfSatisfying(
                        NfsException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessage(message);
    }

    @Test
    void aPathIsWalkedNameByName() throws IOException {
        assertThat(volume.attributes(path("dir/file"), true).size()).isEqualTo(10);
        assertThat(volume.attributes(NfsPath.ROOT, true).isDirectory()).isTrue();
        assertThat(volume.attributes(path("dir/./below/../file"), true).size()).isEqualTo(10);
        assertThat(volume.attributes(path("../../dir/file"), true).size())
                .as("above the root")
                .isEqualTo(10);
        assertThat(volume.file(path("dir/below/deep"), true).path()).isEqualTo(path("dir/below/deep"));
    }

    @Test
    void failuresAreToldInOneLine() {
        assertStatus(
                () -> volume.file(path("dir/none"), true),
                Status.NOENT,
                "cannot find nfs://fake/export/dir/none: no such file or directory");
        assertStatus(
                () -> volume.file(path("dir/file/x"), true),
                Status.NOTDIR,
                "cannot find nfs://fake/export/dir/file/x: not a directory");
        assertStatus(
                () -> volume.openRead(path("dir")), Status.ISDIR, "cannot read nfs://fake/export/dir: is a directory");
        assertStatus(
                () -> volume.remove(NfsPath.ROOT),
                Status.INVAL,
                "cannot remove nfs://fake/export: it is the root of the export");
    }

    @Test
    void symbolicLinksAreFollowedFromWhereTheyAre() throws IOException {
        FakeNode directory = nfs.root.children.get(FileName.of("dir"));
        nfs.addLink(directory, "up", "../dir/below");
        nfs.addLink(nfs.root, "absolute", "/dir/up/deep");
        nfs.addLink(nfs.root, "outside", "../../../dir/file");
        assertThat(volume.attributes(path("dir/up/deep"), false).size()).isEqualTo(3);
        assertThat(volume.attributes(path("absolute"), true).size()).isEqualTo(3);
        assertThat(volume.attributes(path("outside"), true).size()).isEqualTo(10);
        assertThat(volume.file(path("absolute"), true).path()).isEqualTo(path("dir/below/deep"));
        assertThat(volume.attributes(path("absolute"), false).isSymbolicLink()).isTrue();
        assertThat(volume.readLink(path("absolute"))).isEqualTo(PathBytes.of("/dir/up/deep"));
        assertThat(volume.attributes(path("dir/up/../file"), true).size())
                .as(".. of a link's target")
                .isEqualTo(10);
    }

    @Test
    void aCircleOfLinksIsAnError() {
        nfs.addLink(nfs.root, "a", "b");
        nfs.addLink(nfs.root, "b", "a");
        assertStatus(
                () -> volume.file(path("a"), true),
                Status.INVAL,
                "cannot find nfs://fake/export/a: too many levels of symbolic links");
    }

    @Test
    void handlesOfDirectoriesAreKeptAndLookedUpAgainWhenStale() throws IOException {
        volume.file(path("dir/below/deep"), true);
        int lookups = nfs.count(Procedure.LOOKUP);
        volume.file(path("dir/below/deep"), true);
        assertThat(nfs.count(Procedure.LOOKUP)).isEqualTo(lookups + 1);
        FakeNode directory = nfs.root.children.get(FileName.of("dir"));
        nfs.forget(directory);
        FakeNode other = nfs.add(nfs.root, "dir", FileType.DIRECTORY);
        nfs.addFile(other, "file", new byte[77]);
        assertThat(volume.attributes(path("dir/file"), true).size()).isEqualTo(77);
    }

    @Test
    void aHandleThatStaysStaleIsAnError() {
        nfs.instead.put(Procedure.LOOKUP, a -> new Lookup.Failed(Status.STALE, null));
        assertStatus(
                () -> volume.file(path("dir"), true),
                Status.STALE,
                "cannot find nfs://fake/export/dir: stale file handle");
        assertThat(nfs.count(Procedure.LOOKUP)).isEqualTo(2);
    }

    @Test
    void filesAreMadeAndRemovedAndRenamed() throws IOException {
        NfsFile file = volume.createFile(path("dir/new"), CreateMode.NEW, SetAttributes.NONE.withMode(0600));
        assertThat(file.attributes().mode()).isEqualTo(0600);
        assertStatus(
                () -> volume.createFile(path("dir/new"), CreateMode.NEW, SetAttributes.NONE),
                Status.EXIST,
                "cannot create nfs://fake/export/dir/new: file exists");
        assertThat(volume.createFile(path("dir/new"), CreateMode.EXISTING_TOO, SetAttributes.NONE)
                        .handle())
                .isEqualTo(file.handle());
        volume.createDirectory(path("made"), SetAttributes.NONE);
        volume.rename(path("dir/new"), path("made/moved"));
        volume.createLink(path("made/other"), path("made/moved"));
        volume.createSymbolicLink(path("made/link"), PathBytes.of("moved"), SetAttributes.NONE);
        assertThat(volume.file(path("made/link"), true).handle()).isEqualTo(file.handle());
        assertThat(volume.file(path("made/other"), true).handle()).isEqualTo(file.handle());
        assertStatus(
                () -> volume.removeDirectory(path("made")),
                Status.NOTEMPTY,
                "cannot remove nfs://fake/export/made: directory not empty");
        for (String name : new String[] {"moved", "other", "link"}) {
            volume.remove(path("made/" + name));
        }
        volume.removeDirectory(path("made"));
        assertThat(nfs.root.children).containsOnlyKeys(FileName.of("dir"));
    }

    @Test
    void creatingFollowsALinkUnlessTheFileIsToBeNew() throws IOException {
        nfs.addLink(nfs.root, "link", "dir/file");
        NfsFile file = volume.createFile(path("link"), CreateMode.EXISTING_TOO, SetAttributes.NONE.withSize(0));
        assertThat(file.path()).isEqualTo(path("dir/file"));
        assertThat(volume.attributes(path("dir/file"), false).size()).isZero();
        assertStatus(
                () -> volume.createFile(path("link"), CreateMode.NEW, SetAttributes.NONE),
                Status.EXIST,
                "cannot create nfs://fake/export/link: file exists");
        assertStatus(
                () -> volume.createFile(path("dir"), CreateMode.EXISTING_TOO, SetAttributes.NONE),
                Status.ISDIR,
                "cannot create nfs://fake/export/dir: is a directory");
    }

    @Test
    void aServerThatTellsNeitherHandlesNorAttributesIsAskedForThem() throws IOException {
        nfs.tellsAttributes = false;
        NfsFile file = volume.createFile(path("new"), CreateMode.NEW, SetAttributes.NONE);
        assertThat(file.attributes().isRegular()).isTrue();
        assertThat(volume.file(path("new"), true).handle()).isEqualTo(file.handle());
    }

    @Test
    void aServerWithoutExclusiveCreateIsAskedForGuarded() throws IOException {
        nfs.knowsExclusive = false;
        volume.createFile(path("new"), CreateMode.NEW, SetAttributes.NONE.withMode(0600));
        assertStatus(
                () -> volume.createFile(path("new"), CreateMode.NEW, SetAttributes.NONE),
                Status.EXIST,
                "cannot create nfs://fake/export/new: file exists");
    }

    @Test
    void whatACallThatWasSentTwiceHasDoneIsTakenAsDone() throws IOException {
        volumes.rpc.runs = 2;
        volume.createFile(path("exclusive"), CreateMode.NEW, SetAttributes.NONE);
        nfs.knowsExclusive = false;
        volume.createFile(path("guarded"), CreateMode.NEW, SetAttributes.NONE);
        volume.createDirectory(path("made"), SetAttributes.NONE);
        volume.createSymbolicLink(path("link"), PathBytes.of("x"), SetAttributes.NONE);
        volume.createLink(path("hard"), path("dir/file"));
        volume.rename(path("hard"), path("moved"));
        volume.remove(path("moved"));
        volume.removeDirectory(path("made"));
        assertThat(nfs.root.children.keySet())
                .containsExactlyInAnyOrder(
                        FileName.of("dir"), FileName.of("exclusive"), FileName.of("guarded"), FileName.of("link"));
    }

    @Test
    void whatSomebodyElseHasDoneIsNotTakenAsDone() throws IOException {
        volume.createLink(path("dir/hard"), path("dir/below/deep"));
        volumes.rpc.runs = 2;
        nfs.addLink(nfs.root, "link", "elsewhere");
        assertStatus(
                () -> volume.createSymbolicLink(path("link"), PathBytes.of("here"), SetAttributes.NONE),
                Status.EXIST,
                "cannot create nfs://fake/export/link: file exists");
        assertStatus(
                () -> volume.createLink(path("dir/hard"), path("dir/file")),
                Status.EXIST,
                "cannot link nfs://fake/export/dir/hard: file exists");
        assertStatus(
                () -> volume.createDirectory(path("dir/file"), SetAttributes.NONE),
                Status.EXIST,
                "cannot create nfs://fake/export/dir/file: file exists");
        assertStatus(
                () -> volume.rename(path("none"), path("other")),
                Status.NOENT,
                "cannot rename nfs://fake/export/other: no such file or directory");
    }

    @Test
    void aBusyServerIsAskedAgain() throws IOException {
        nfs.busy.set(3);
        assertThat(volume.attributes(path("dir/file"), true).size()).isEqualTo(10);
        assertThat(nfs.busy).hasValue(0);
    }

    @Test
    void aServerThatStaysBusyIsAnErrorInTheEnd() throws IOException {
        volumes.close();
        volumes = new Volumes(
                nfs, Volumes.options().withTimeouts(java.time.Duration.ofSeconds(5), java.time.Duration.ofMillis(100)));
        volume = volumes.volume;
        nfs.busy.set(Integer.MAX_VALUE);
        assertStatus(
                () -> volume.file(path("dir"), true),
                Status.JUKEBOX,
                "cannot find nfs://fake/export/dir: not available at the moment");
    }

    @Test
    void aServerThatDoesNotAnswerIsAnErrorInOneLine() {
        volumes.rpc.isDead = true;
        assertThatThrownBy(() -> volume.file(path("dir"), true))
                .isInstanceOf(CallFailedException.class)
                .hasMessage("cannot find nfs://fake/export/dir: the server does not answer");
    }

    @Test
    void attributesAreSetAndAccessAsked() throws IOException {
        Attributes set = volume.setAttributes(
                path("dir/file"), SetAttributes.NONE.withMode(0400).withSize(4), true);
        assertThat(set.mode()).isEqualTo(0400);
        assertThat(set.size()).isEqualTo(4);
        assertThat(volume.access(path("dir"), Access.READ | Access.MODIFY)).isEqualTo(Access.READ);
        assertThat(volume.statFilesystem().availableBytes()).isEqualTo(8);
        assertThat(volume.limits().readBytes()).isEqualTo(1024);
    }

    @Test
    void urlsBelowTheExportBecomePaths() {
        assertThat(volume.pathOf(NfsUrl.parse("nfs://fake/export/dir/file"))).isEqualTo(path("dir/file"));
        assertThat(volume.pathOf(Volumes.EXPORT)).isEqualTo(NfsPath.ROOT);
        assertThatThrownBy(() -> volume.pathOf(NfsUrl.parse("nfs://fake/other")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anInterruptedThreadGivesUp() throws Exception {
        nfs.busy.set(Integer.MAX_VALUE);
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                volume.file(path("dir"), true);
            } catch (IOException e) {
                end.set(e);
            }
        });
        thread.interrupt();
        thread.join();
        assertThat(end.get()).isInstanceOf(InterruptedIOException.class);
        nfs.busy.set(0);
    }

    @Test
    void aNewVolumeSeesWhatIsThere() throws IOException {
        volume.createDirectory(path("made"), SetAttributes.NONE);
        again();
        assertThat(volume.attributes(path("made"), true).isDirectory()).isTrue();
        assertThat(Map.copyOf(nfs.calls)).containsKey(Procedure.MKDIR);
    }

    @Test
    void asMuchMemoryAsACommitGivesBackAtOnceIsUsedAgain() throws IOException {
        MountOptions options = Volumes.options().withStreams(1, 1, 64 << 10);
        try (Volumes large = new Volumes(nfs, options);
                NfsWriter writer = large.volume.openWrite(large.volume.file(path("dir/file"), false))) {
            Set<MemorySegment> before = borrowed(writer, 64);
            assertThat(borrowed(writer, 64)).isEqualTo(before);
        }
    }

    private static Set<MemorySegment> borrowed(NfsWriter writer, int count) throws IOException {
        List<NfsBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            buffers.add(writer.buffer());
        }
        Set<MemorySegment> memory = new HashSet<>();
        for (NfsBuffer buffer : buffers) {
            memory.add(buffer.memory());
            buffer.close();
        }
        return memory;
    }
}
