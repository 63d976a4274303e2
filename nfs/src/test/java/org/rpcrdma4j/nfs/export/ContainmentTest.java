// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.ReadLink;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.Time;

/** Nothing leaves the root. */
class ContainmentTest {

    private static final int ROUNDS = 300;

    @TempDir
    Path root;

    @TempDir
    Path outside;

    private Export export;
    private Caller caller;

    @BeforeEach
    void open() throws IOException {
        Files.writeString(outside.resolve("secret"), "secret");
        export = Export.open(root, ExportOptions.DEFAULT);
        caller = new Caller(export, Identity.ROOT);
    }

    @AfterEach
    void close() {
        export.close();
    }

    @Test
    void theRootIsItsOwnParent() {
        assertThat(((Lookup.Ok) caller.lookup(caller.root(), "..")).file()).isEqualTo(caller.root());
        assertThat(((Lookup.Ok) caller.lookup(caller.root(), ".")).file()).isEqualTo(caller.root());
        FileHandle below = caller.directory(caller.root(), "d");
        assertThat(((Lookup.Ok) caller.lookup(below, "..")).file()).isEqualTo(caller.root());
        assertThat(((Lookup.Ok) caller.lookup(below, ".")).file()).isEqualTo(below);
    }

    @Test
    void aNameIsOneStepAndNoPath() throws IOException {
        Files.createDirectory(root.resolve("d"));
        for (String name : new String[] {"d/..", "../" + outside.getFileName(), "/etc", "d/", "/", "a\0b"}) {
            assertThat(caller.lookup(caller.root(), name).status()).as(name).isEqualTo(Status.INVAL);
            assertThat(caller.create(caller.root(), name).status()).as(name).isEqualTo(Status.INVAL);
            assertThat(caller.mkDir(caller.root(), name).status()).as(name).isEqualTo(Status.INVAL);
            assertThat(caller.remove(caller.root(), name).status()).as(name).isEqualTo(Status.INVAL);
            assertThat(caller.rename(caller.root(), "d", caller.root(), name).status())
                    .as(name)
                    .isEqualTo(Status.INVAL);
        }
    }

    @Test
    void aSymbolicLinkIsAFileToTheServer() throws IOException {
        Files.createSymbolicLink(root.resolve("dir"), outside);
        Files.createSymbolicLink(root.resolve("file"), outside.resolve("secret"));
        FileHandle dir = caller.at("dir");
        FileHandle file = caller.at("file");
        assertThat(caller.attributes(dir).isSymbolicLink()).isTrue();
        assertThat(caller.lookup(dir, "secret").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.create(dir, "new").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.readDirPlus(dir, 0, 4096, 4096).status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.rename(dir, "secret", caller.root(), "mine").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.statusOfOpening(file, OpenMode.READ)).isEqualTo(Status.INVAL);
        assertThat(caller.statusOfOpening(file, OpenMode.WRITE)).isEqualTo(Status.INVAL);
        assertThat(caller.setAttr(file, SetAttributes.NONE.withSize(0)).status())
                .isEqualTo(Status.INVAL);
        assertThat(((ReadLink.Ok) caller.readLink(file)).target())
                .isEqualTo(PathBytes.of(outside.resolve("secret").toString()));
        assertThat(outside.resolve("secret")).hasContent("secret");
        assertThat(outside.resolve("new")).doesNotExist();
    }

    @Test
    void attributesOfALinkAreSetOnTheLinkItself() throws IOException {
        Files.createSymbolicLink(root.resolve("file"), outside.resolve("secret"));
        FileStatus before = FileStatus.read(outside.resolve("secret"));
        FileHandle file = caller.at("file");
        SetTime time = new SetTime.To(new Time(1000, 5));
        assertThat(caller.setAttr(file, SetAttributes.NONE.withMode(0777).withTimes(time, time))
                        .status())
                .isEqualTo(Status.OK);
        assertThat(caller.attributes(file).modifyTime()).isEqualTo(new Time(1000, 5));
        FileStatus after = FileStatus.read(outside.resolve("secret"));
        assertThat(after)
                .usingRecursiveComparison()
                .ignoringFields("accessTime")
                .isEqualTo(before);
    }

    @Test
    void creatingOverALinkDoesNotFollowIt() throws IOException {
        Files.createSymbolicLink(root.resolve("dangling"), outside.resolve("made"));
        Files.createSymbolicLink(root.resolve("file"), outside.resolve("secret"));
        SetAttributes cut = SetAttributes.NONE.withSize(0);
        for (String name : new String[] {"dangling", "file"}) {
            assertThat(caller.create(caller.root(), FileName.of(name), new Create.Unchecked(cut))
                            .status())
                    .isEqualTo(Status.EXIST);
        }
        assertThat(outside.resolve("made")).doesNotExist();
        assertThat(outside.resolve("secret")).hasContent("secret");
    }

    @Test
    void aHardLinkToALinkIsAnotherLink() throws IOException {
        Files.createSymbolicLink(root.resolve("file"), outside.resolve("secret"));
        assertThat(caller.link(caller.at("file"), caller.root(), "again").status())
                .isEqualTo(Status.OK);
        assertThat(Files.isSymbolicLink(root.resolve("again"))).isTrue();
    }

    /** Another process puts a link to a directory outside in the place of one inside, and back, while clients work in it. */
    @Test
    void aDirectoryThatBecomesALinkLeadsNobodyOut() throws Exception {
        Path inside = Files.createDirectories(root.resolve("a/victim"));
        Files.writeString(inside.resolve("secret"), "inside");
        Files.createSymbolicLink(root.resolve("a/link"), outside);
        FileHandle a = caller.at("a");
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger swaps = new AtomicInteger();
        Thread swapper = Thread.ofPlatform().start(() -> swap(done, swaps));
        try {
            long end = System.nanoTime() + Caller.PATIENCE.toNanos();
            for (int round = 0; round < ROUNDS || (swaps.get() < ROUNDS && System.nanoTime() < end); round++) {
                attack(a, round);
            }
        } finally {
            done.set(true);
            swapper.join();
        }
        try (Stream<Path> left = Files.list(outside)) {
            assertThat(left).containsExactly(outside.resolve("secret"));
        }
        assertThat(outside.resolve("secret")).hasContent("secret");
    }

    private void swap(AtomicBoolean done, AtomicInteger swaps) {
        Path victim = root.resolve("a/victim");
        Path link = root.resolve("a/link");
        Path parked = root.resolve("a/parked");
        while (!done.get()) {
            try {
                Files.move(victim, parked, StandardCopyOption.ATOMIC_MOVE);
                Files.move(link, victim, StandardCopyOption.ATOMIC_MOVE);
                Files.move(victim, link, StandardCopyOption.ATOMIC_MOVE);
                Files.move(parked, victim, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            swaps.incrementAndGet();
        }
    }

    private void attack(FileHandle a, int round) throws IOException {
        if (!(caller.lookup(a, "victim") instanceof Lookup.Ok victim)) {
            return;
        }
        String name = "new" + round;
        caller.create(victim.file(), name);
        caller.mkDir(victim.file(), name + "d");
        caller.symLink(victim.file(), name + "l", PathBytes.of("x"));
        caller.remove(victim.file(), name);
        caller.rmDir(victim.file(), name + "d");
        caller.remove(victim.file(), name + "l");
        if (caller.lookup(victim.file(), "secret") instanceof Lookup.Ok secret) {
            if (caller.statusOfOpening(secret.file(), OpenMode.READ) == Status.OK) {
                assertThat(caller.read(secret.file())).isEqualTo("inside");
            }
            caller.setAttr(secret.file(), SetAttributes.NONE.withMode(0600 | (round & 077)));
        }
        if (caller.readDirPlus(victim.file(), 0, 8192, 8192) instanceof ReadDirPlus.Ok page) {
            assertThat(page.entries()).anyMatch(entry -> entry.name().equals(FileName.of("secret")));
        }
    }
}
