// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.cli.copy.SampleTree;
import org.rpcrdma4j.nfs.protocol.Procedure;

/** Copies to, from and between servers in this process. */
class CpCommandTest {
    @TempDir
    private Path directory;

    private Path exported;
    private Path local;
    private ServedDirectory export;
    private final CommandRun run = CommandRun.piped();

    @BeforeEach
    void serve() throws IOException {
        exported = Files.createDirectory(directory.resolve("exported"));
        local = Files.createDirectory(directory.resolve("local"));
        export = ServedDirectory.start(exported);
    }

    @AfterEach
    void end() throws IOException {
        export.close();
    }

    @Test
    @Timeout(120)
    void aTreeGoesThereAndBackAndIsTheSame() throws IOException {
        Path tree = SampleTree.create(local.resolve("tree"), 300);

        run.succeeds("cp", "-r", "-p", tree.toString(), export.url("/there"));
        SampleTree.assertSame(tree, exported.resolve("there"), true);
        run.succeeds(
                "cp",
                "-r",
                "-p",
                "--check",
                export.url("/there"),
                local.resolve("back").toString());
        SampleTree.assertSame(tree, local.resolve("back"), true);

        assertThat(run.err()).isEmpty();
        SampleTree.assertNoTemporaryIn(directory);
    }

    @Test
    @Timeout(120)
    void aTreeGoesFromServerToServer() throws IOException {
        Path tree = SampleTree.create(exported.resolve("tree"), 50);
        Path other = Files.createDirectory(directory.resolve("other"));
        try (ServedDirectory second = ServedDirectory.start(other)) {
            run.succeeds("cp", "-r", export.url("/tree"), second.url("/"));
        }

        SampleTree.assertSame(tree, other.resolve("tree"), false);
    }

    @Test
    @Timeout(180)
    void aServerThatIsRestartedThreeTimesLosesNothing() throws Exception {
        Path tree = SampleTree.create(local.resolve("tree"), 600);
        SampleTree.write(tree.resolve("very large"), new Random(5), 48 << 20);

        whileRestarting(Procedure.WRITE, "cp", "-r", tree.toString(), export.url("/there"));
        SampleTree.assertSame(tree, exported.resolve("there"), false);
        whileRestarting(
                Procedure.READ,
                "cp",
                "-r",
                export.url("/there"),
                local.resolve("back").toString());
        SampleTree.assertSame(tree, local.resolve("back"), false);

        assertThat(run.err()).isEmpty();
        SampleTree.assertNoTemporaryIn(directory);
    }

    private void whileRestarting(Procedure procedure, String... arguments) throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        Thread copying = Thread.ofPlatform().start(() -> {
            try {
                run.succeeds(arguments);
            } finally {
                ended.set(true);
            }
        });
        for (int i = 0; i < 3; i++) {
            export.await("calls are made", () -> ended.get() || export.calls(procedure) >= 40);
            export.restart();
        }
        copying.join(TimeUnit.SECONDS.toMillis(100));
        assertThat(ended).isTrue();
    }

    @Test
    void aSmallFileTakesThreeCalls() throws IOException {
        Path tree = Files.createDirectory(local.resolve("tree"));
        for (int i = 0; i < 50; i++) {
            Files.writeString(tree.resolve("f" + i), "text");
        }

        run.succeeds("cp", "-r", tree.toString(), export.url("/there"));

        for (Procedure procedure : new Procedure[] {Procedure.CREATE, Procedure.WRITE, Procedure.RENAME}) {
            assertThat(export.calls(procedure)).as(procedure.name()).isEqualTo(50);
        }
        for (Procedure procedure : new Procedure[] {Procedure.COMMIT, Procedure.SETATTR, Procedure.REMOVE}) {
            assertThat(export.calls(procedure)).as(procedure.name()).isZero();
        }
    }

    @Test
    void standardInputBecomesAFileAndAFileStandardOutput() throws IOException {
        byte[] data = new byte[(2 << 20) + 3];
        new Random(2).nextBytes(data);

        assertThat(run.in(data).run("cp", "-", export.url("/file")))
                .as(run.toString())
                .isZero();
        assertThat(exported.resolve("file")).hasBinaryContent(data);
        run.succeeds("cp", export.url("/file"), "-");

        assertThat(run.bytes()).isEqualTo(data);
    }

    @Test
    void intoADirectoryAFileKeepsItsName() throws IOException {
        Files.writeString(local.resolve("a"), "A");
        Files.writeString(local.resolve("b"), "B");
        Files.createDirectory(exported.resolve("d"));

        run.succeeds("cp", local.resolve("a").toString(), local.resolve("b").toString(), export.url("/d"));

        assertThat(exported.resolve("d/a")).hasContent("A");
        assertThat(exported.resolve("d/b")).hasContent("B");
    }

    @Test
    void aLinkIsFollowedOnBothSides() throws IOException {
        Files.writeString(exported.resolve("file"), "text");
        Files.createSymbolicLink(exported.resolve("link"), Path.of("file"));
        Files.writeString(local.resolve("target"), "old");
        Files.createSymbolicLink(local.resolve("link"), Path.of("target"));

        run.succeeds("cp", export.url("/link"), local.resolve("link").toString());

        assertThat(local.resolve("target")).hasContent("text");
        assertThat(Files.isSymbolicLink(local.resolve("link"))).isTrue();
    }

    @Test
    void aDeviceIsWrittenToAndNotReplaced() throws IOException {
        Files.writeString(exported.resolve("file"), "text");

        run.succeeds("cp", export.url("/file"), "/dev/null");

        assertThat(Files.isRegularFile(Path.of("/dev/null"), LinkOption.NOFOLLOW_LINKS))
                .isFalse();
    }

    @Test
    void whatFailsIsOneLineAndTheRestIsCopied() throws IOException {
        Files.createDirectories(local.resolve("tree/d"));
        Files.writeString(local.resolve("tree/d/file"), "text");
        Files.writeString(local.resolve("tree/x"), "text");
        Files.createDirectories(exported.resolve("tree/x"));

        assertThat(run.run("cp", "-r", local.resolve("tree").toString(), export.url("/")))
                .isEqualTo(1);

        assertThat(run.err().lines())
                .containsExactly(
                        "rpcrdma cp: cannot replace " + export.url("/tree/x") + " by a file: it is a directory",
                        "rpcrdma cp: 1 file copied, 1 failed");
        assertThat(exported.resolve("tree/d/file")).hasContent("text");
    }

    @Test
    void whatIsNotThereIsOneLine() {
        assertThat(run.run("cp", export.url("/nothing"), local.toString())).isEqualTo(1);
        assertThat(run.run("cp", local.resolve("nothing").toString(), export.url("/")))
                .isEqualTo(1);
        assertThat(run.run(
                        "cp", export.url("/nothing"), local.resolve("no/where").toString()))
                .isEqualTo(1);

        assertThat(run.err())
                .contains("cannot copy " + export.url("/nothing") + ": no such file or directory")
                .contains("cannot copy " + local.resolve("nothing") + ": no such file or directory")
                .contains("cannot create " + local.resolve("no/where") + ": no such directory")
                .doesNotContain("\tat ");
    }

    @Test
    void wrongUsageIsSaid() {
        assertThat(run.run("cp", "a", "b")).isEqualTo(2);
        assertThat(run.run("cp", "-r", "-", export.url("/"))).isEqualTo(2);
        assertThat(run.run("cp", "-r", export.url("/x"), "-")).isEqualTo(2);
        assertThat(run.run("cp", "nfs://:x/", "b")).isEqualTo(2);
        assertThat(run.run("cp", "a")).isEqualTo(2);
    }

    @Test
    void aPersonSeesTheBarAndAtTheEndOneLine() throws IOException {
        CommandRun seen = CommandRun.onTerminal();
        SampleTree.create(local.resolve("tree"), 20);

        assertThat(seen.run("cp", "-r", "--stats", local.resolve("tree").toString(), export.url("/")))
                .as(seen.toString())
                .isZero();

        assertThat(seen.drawn()).contains(" files ");
        assertThat(seen.err()).contains("xprt:");
    }
}
