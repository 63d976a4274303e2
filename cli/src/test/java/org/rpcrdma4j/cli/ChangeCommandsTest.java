// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** mkdir, rm and mv against a server in this process. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ChangeCommandsTest {
    @TempDir
    Path root;

    private final CommandRun run = CommandRun.piped();
    private ServedDirectory served;

    @BeforeEach
    void start() throws IOException {
        served = ServedDirectory.start(root);
    }

    @AfterEach
    void stop() throws IOException {
        served.close();
    }

    @Test
    void mkdirMakesOneDirectoryWithTheModeAsked() throws IOException {
        run.succeeds("mkdir", "-m", "750", served.url("/d"));

        assertThat(Files.getPosixFilePermissions(root.resolve("d")))
                .isEqualTo(PosixFilePermissions.fromString("rwxr-x---"));
        run.fails(List.of(served.url("/d"), "file exists"), "mkdir", served.url("/d"));
    }

    @Test
    void mkdirWithParentsMakesAllAndTakesWhatIsThere() throws IOException {
        Files.createDirectory(root.resolve("a"));

        run.succeeds("mkdir", "-p", served.url("/a/b/c"));
        run.succeeds("mkdir", "-p", served.url("/a/b/c"));
        run.succeeds("mkdir", "-p", served.url("/"));

        assertThat(root.resolve("a/b/c")).isDirectory();
    }

    @Test
    void mkdirDoesNotTakeAFileForADirectory() throws IOException {
        served.file("f", "");

        run.fails(List.of(served.url("/f"), "not a directory"), "mkdir", "-p", served.url("/f"));
    }

    @Test
    void rmRemovesFilesAndLinksNeverWhatLinksLeadTo() throws IOException {
        served.file("f", "");
        served.file("kept", "");
        Files.createSymbolicLink(root.resolve("link"), Path.of("kept"));

        run.succeeds("rm", served.url("/f"), served.url("/link"));

        assertThat(root.toFile().list()).containsExactly("kept");
    }

    @Test
    void rmOfADirectoryNeedsRecursion() throws IOException {
        Files.createDirectories(root.resolve("d/sub"));
        for (int i = 0; i < 100; i++) {
            served.file("d/sub/" + i, "");
        }
        Files.createSymbolicLink(root.resolve("d/up"), Path.of(".."));
        served.file("kept", "");

        run.fails(List.of(served.url("/d"), "is a directory", "-r"), "rm", served.url("/d"));
        CommandRun recursive = CommandRun.piped();
        assertThat(recursive.run("rm", "-r", served.url("/d")))
                .as("%s", recursive)
                .isZero();

        assertThat(root.toFile().list()).containsExactly("kept");
    }

    @Test
    void rmOfWhatIsNotThereIsAnErrorUnlessForced() {
        run.succeeds("rm", "-f", served.url("/missing"));
        run.fails(List.of(served.url("/missing"), "no such file or directory"), "rm", served.url("/missing"));
    }

    @Test
    void rmRefusesTheRootAndDots() throws IOException {
        Files.createDirectory(root.resolve("d"));

        assertThat(run.run("rm", "-r", served.url("/"), served.url("/d/.."), served.url("/d/.")))
                .isEqualTo(1);

        assertThat(run.err().lines()).hasSize(3).allMatch(line -> line.contains("cannot remove"));
        assertThat(root.resolve("d")).isDirectory();
    }

    @Test
    void rmRemovesATreeDeeperThanAStack() throws IOException {
        Path at = root;
        for (int i = 0; i < 300; i++) {
            at = Files.createDirectory(at.resolve("d"));
        }

        run.succeeds("rm", "-r", served.url("/d"));

        assertThat(root.toFile().list()).isEmpty();
    }

    @Test
    void mvRenamesAndReplaces() throws IOException {
        served.file("a", "a");
        served.file("b", "b");

        run.succeeds("mv", served.url("/a"), served.url("/b"));

        assertThat(root.toFile().list()).containsExactly("b");
        assertThat(root.resolve("b")).hasContent("a");
    }

    @Test
    void mvDoesNotReplaceIfAskedNotTo() throws IOException {
        served.file("a", "a");
        served.file("b", "b");

        run.succeeds("mv", "-n", served.url("/a"), served.url("/b"));

        assertThat(root.resolve("a")).hasContent("a");
        assertThat(root.resolve("b")).hasContent("b");
    }

    @Test
    void mvMovesSeveralIntoADirectory() throws IOException {
        served.file("a", "a");
        served.file("b", "b");
        Files.createDirectory(root.resolve("d"));

        run.succeeds("mv", served.url("/a"), served.url("/b"), served.url("/d"));

        assertThat(root.resolve("d").toFile().list()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void mvOfSeveralNeedsADirectory() throws IOException {
        served.file("a", "a");
        served.file("b", "b");

        run.fails(List.of("not a directory"), "mv", served.url("/a"), served.url("/b"), served.url("/c"));
    }

    @Test
    void mvBetweenExportsIsRefused() throws IOException {
        Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
        served.file("a", "a");
        try (ServedDirectory other = ServedDirectory.start(elsewhere)) {
            run.fails(List.of("not in one export"), "mv", served.url("/a"), other.url("/a"));
        }
        assertThat(root.resolve("a")).exists();
    }
}
