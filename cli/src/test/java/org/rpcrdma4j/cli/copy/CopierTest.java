// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;

/** The engine between two local trees; with volumes it is the same but for the sides. */
class CopierTest {
    private static final CopyOptions PLAIN = new CopyOptions(false, false, false, false, 4);
    private static final CopyOptions TREE = new CopyOptions(true, false, false, false, 4);
    private static final CopyOptions ALL = new CopyOptions(true, true, false, true, 16);

    private final RecordingListener heard = new RecordingListener();

    @TempDir
    private Path directory;

    private Path from;
    private Path to;

    @BeforeEach
    void name() {
        from = directory.resolve("from");
        to = directory.resolve("to");
    }

    private void copy(CopyOptions options, Path source, Path target) throws IOException {
        Side here = new LocalSide(source);
        Side there = new LocalSide(Objects.requireNonNull(target.getParent()));
        NfsFile file = Objects.requireNonNull(here.find(NfsPath.ROOT, !options.recursive()));
        try (Copier copier = new Copier(options, heard)) {
            copier.copy(new Route(here, there), file, NfsPath.parse(String.valueOf(target.getFileName())));
            assertThat(copier.await()).isTrue();
        }
    }

    @Test
    void aTreeIsTheSameAfterwards() throws IOException {
        SampleTree.create(from, 200);

        copy(ALL, from, to);

        assertThat(heard.failures).isEmpty();
        SampleTree.assertSame(from, to, true);
        SampleTree.assertNoTemporaryIn(to);
    }

    @Test
    void aTreeOverItselfFromBeforeIsReplacedFileByFile() throws IOException {
        SampleTree.create(from, 20);
        copy(TREE, from, to);
        Files.writeString(to.resolve("large"), "old");
        Files.delete(to.resolve("links/relative"));
        Files.writeString(to.resolve("links/relative"), "a file where the link should be");

        copy(TREE, from, to);

        assertThat(heard.failures).isEmpty();
        SampleTree.assertSame(from, to, false);
    }

    @Test
    void blocksOfZerosAreNotWritten() throws IOException {
        SampleTree.create(from, 0);

        copy(PLAIN, from.resolve("sparse"), to);

        assertThat(Files.size(to)).isEqualTo(SampleTree.SPARSE_BYTES);
        assertThat(Files.mismatch(from.resolve("sparse"), to)).isEqualTo(-1);
        assertThat(heard.bytes).hasValue(SampleTree.SPARSE_BYTES);
    }

    @Test
    void keepsFilesThatAreThereIfAsked() throws IOException {
        Files.writeString(from, "new");
        Files.writeString(to, "old");

        copy(new CopyOptions(false, false, true, false, 1), from, to);

        assertThat(to).hasContent("old");
        assertThat(heard.files).hasValue(0);
        assertThat(heard.failures).isEmpty();
    }

    @Test
    void aLinkIsFollowedWithoutRecursionAndKeptWithIt() throws IOException {
        Files.writeString(from, "behind the link");
        Path link = Files.createSymbolicLink(directory.resolve("link"), from);

        copy(PLAIN, link, to);
        copy(TREE, link, directory.resolve("other"));

        assertThat(Files.isRegularFile(to, LinkOption.NOFOLLOW_LINKS)).isTrue();
        assertThat(Files.readSymbolicLink(directory.resolve("other"))).isEqualTo(from);
    }

    @Test
    void pipesAreSkippedAndTheRestIsCopied() throws Exception {
        Files.createDirectory(from);
        Files.writeString(from.resolve("file"), "text");
        assertThat(new ProcessBuilder("mkfifo", from.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();

        copy(TREE, from, to);

        assertThat(to.resolve("file")).hasContent("text");
        assertThat(to.resolve("pipe")).doesNotExist();
        assertThat(heard.failures).containsExactly("skipped " + from.resolve("pipe") + ": it is a pipe");
    }

    @Test
    void aDirectoryNeedsRecursion() throws IOException {
        Files.createDirectory(from);

        copy(PLAIN, from, to);

        assertThat(heard.failures).containsExactly("cannot copy " + from + ": it is a directory, which needs -r");
    }

    @Test
    void aDirectoryIsNotReplacedByAFileNorAFileByADirectory() throws IOException {
        Files.createDirectories(from.resolve("a"));
        Files.writeString(from.resolve("b"), "text");
        Files.createDirectories(to.resolve("b"));
        Files.writeString(to.resolve("a"), "text");

        copy(TREE, from, to);

        assertThat(heard.failures)
                .containsExactlyInAnyOrder(
                        "cannot replace " + to.resolve("b") + " by a file: it is a directory",
                        "cannot replace " + to.resolve("a") + " by a directory: it is a file");
    }

    @Test
    void aTreeIsNotCopiedIntoItself() throws IOException {
        Files.createDirectories(from.resolve("inside"));
        Files.writeString(from.resolve("file"), "text");

        copy(TREE, from, from.resolve("copy"));

        assertThat(heard.failures).singleElement().asString().contains("leads into itself");
        assertThat(from.resolve("copy/copy")).doesNotExist();
    }

    @Test
    void aFileIsNotCopiedToItself() throws IOException {
        Files.writeString(from, "text");

        copy(PLAIN, from, from);

        assertThat(heard.failures).singleElement().asString().endsWith("is the same file");
        assertThat(from).hasContent("text");
    }

    @Test
    void aLinkInTheTargetIsReplacedNotFollowed() throws IOException {
        Files.createDirectory(from);
        Files.writeString(from.resolve("file"), "new");
        Files.createDirectory(to);
        Path outside = Files.writeString(directory.resolve("outside"), "untouched");
        Files.createSymbolicLink(to.resolve("file"), outside);

        copy(TREE, from, to);

        assertThat(outside).hasContent("untouched");
        assertThat(to.resolve("file")).hasContent("new");
    }

    @Test
    void dataOfUnknownLengthComesAndGoes() throws IOException {
        byte[] data = new byte[(3 << 20) + 7];
        new Random(1).nextBytes(data);
        Side side = new LocalSide(directory);
        NfsPath path = NfsPath.parse("to");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Copier copier = new Copier(PLAIN, heard)) {
            copier.copyStream(Channels.newChannel(new ByteArrayInputStream(data)), "standard input", side, path);
            copier.copyToStream(side, Objects.requireNonNull(side.find(path, true)), Channels.newChannel(out));
        }

        assertThat(heard.failures).isEmpty();
        assertThat(out.toByteArray()).isEqualTo(data);
    }

    @Test
    void aFileThatBecomesShorterIsAnErrorAndNothingHasItsName() throws IOException {
        SampleTree.write(from, new Random(1), 3 << 20);
        NfsFile found = Objects.requireNonNull(new LocalSide(from).find(NfsPath.ROOT, true));
        SampleTree.write(from, new Random(1), 2 << 20);

        try (Copier copier = new Copier(PLAIN, heard)) {
            copier.copy(new Route(new LocalSide(from), new LocalSide(directory)), found, NfsPath.parse("to"));
            assertThat(copier.await()).isTrue();
        }

        assertThat(heard.failures)
                .containsExactly(
                        "cannot read " + from + ": it became shorter while it was read, from 3145728 to 2097152 bytes");
        assertThat(to).doesNotExist();
        SampleTree.assertNoTemporaryIn(directory);
    }

    @Test
    void whatIsStoppedLeavesNoHalfFile() throws Exception {
        Files.writeString(to, "old");
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        ReadableByteChannel endless = new ReadableByteChannel() {
            @Override
            public int read(ByteBuffer into) throws IOException {
                begun.countDown();
                if (into.position() > 0) {
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new java.io.InterruptedIOException("interrupted");
                    }
                }
                into.put((byte) 1);
                return 1;
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {}
        };
        try (Copier copier = new Copier(PLAIN, heard)) {
            Thread copying = Thread.ofVirtual()
                    .start(() -> copier.copyStream(endless, "endless", new LocalSide(directory), NfsPath.parse("to")));
            assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

            assertThat(copier.stop(Duration.ofSeconds(10))).isEmpty();
            assertThat(copying.join(Duration.ofSeconds(20))).isTrue();
        }

        assertThat(to).hasContent("old");
        SampleTree.assertNoTemporaryIn(directory);
    }
}
