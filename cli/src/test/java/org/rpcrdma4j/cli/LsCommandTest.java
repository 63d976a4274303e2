// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** ls against a server in this process. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class LsCommandTest {
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
    void lsSortsNamesByBytesAndHidesThoseWithADot() throws IOException {
        served.file("b", "");
        served.file("B", "");
        served.file(".hidden", "");
        Files.createDirectory(root.resolve("a"));

        run.succeeds("ls", served.url("/"));

        assertThat(run.out()).isEqualTo("B\na\nb\n");
    }

    @Test
    void lsShowsHiddenNamesIfAsked() throws IOException {
        served.file(".hidden", "");

        run.succeeds("ls", "-a", served.url(""));

        assertThat(run.out()).isEqualTo(".hidden\n");
    }

    @Test
    void lsShowsAttributesInColumnsThatFit() throws IOException {
        Path small = served.file("small", "x");
        Files.setPosixFilePermissions(small, PosixFilePermissions.fromString("rw-r-----"));
        Files.setLastModifiedTime(small, FileTime.from(Instant.parse("2020-02-03T04:05:06Z")));
        served.file("large", "x".repeat(123456));
        Files.createSymbolicLink(root.resolve("link"), Path.of("small"));

        run.succeeds("ls", "-l", served.url("/"));

        String[] lines = run.out().split("\n", -1);
        assertThat(lines[0]).matches("-rw-[rwx-]{6} 1 \\S+ +\\S+ +123456 \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d large");
        assertThat(lines[1]).matches("lrwxrwxrwx 1 .* small").contains(" link -> ");
        assertThat(lines[2]).matches("-rw-r----- 1 \\S+ +\\S+ +1 2020-02-0\\d \\d\\d:\\d\\d small");
        assertThat(lines[2].indexOf(" 2020-")).isEqualTo(lines[0].indexOf(" 123456 ") + 7);
    }

    @Test
    void lsWritesNamesAsTheyAreUnlessATerminalShowsThem() throws IOException, InterruptedException {
        served.fileNamed("new\\nline\\377");
        CommandRun terminal = CommandRun.onTerminal();

        run.succeeds("ls", served.url("/"));
        assertThat(terminal.run("ls", served.url("/"))).isZero();

        assertThat(run.bytes()).isEqualTo("new\nline\u00ff\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(terminal.out()).isEqualTo("new\\x0aline\\xff\n");
    }

    @Test
    void lsGoesDownTreesInOrderAndNotThroughLinks() throws IOException {
        Files.createDirectories(root.resolve("a/b"));
        served.file("a/b/file", "");
        Files.createDirectory(root.resolve("c"));
        Files.createSymbolicLink(root.resolve("a/up"), Path.of(".."));

        run.succeeds("ls", "-R", served.url("/"));

        String url = served.url("");
        assertThat(run.out())
                .isEqualTo(url + "/:\na\nc\n\n" + url + "/a:\nb\nup\n\n" + url + "/a/b:\nfile\n\n" + url + "/c:\n");
    }

    @Test
    void lsAsJsonIsAnObjectForEachFile() throws IOException, InterruptedException {
        served.fileNamed("\\377");
        Files.createSymbolicLink(root.resolve("link"), Path.of("to"));

        run.succeeds("ls", "--json", served.url("/"));

        assertThat(run.out().lines()).hasSize(2);
        assertThat(run.out().lines().toList().get(0))
                .contains("\"type\":\"symbolic_link\"", "\"target\":\"to\"", "\"size\":2,");
        assertThat(run.out().lines().toList().get(1)).startsWith("{\"url\":\"" + served.url("/%FF") + "\"");
    }

    @Test
    void lsOfAFileOrWithDIsTheThingItself() throws IOException {
        served.file("f", "");

        run.succeeds("ls", served.url("/f"));
        run.succeeds("ls", "-d", served.url("/"));

        assertThat(run.out()).isEqualTo(served.url("/f") + "\n" + served.url("/") + "\n");
    }

    @Test
    void lsOfALinkIsWhatItLeadsToAndOfADanglingOneTheLink() throws IOException {
        Files.createDirectory(root.resolve("d"));
        served.file("d/inside", "");
        Files.createSymbolicLink(root.resolve("link"), Path.of("d"));
        Files.createSymbolicLink(root.resolve("dangling"), Path.of("nowhere"));

        run.succeeds("ls", served.url("/link"));
        run.succeeds("ls", served.url("/dangling"));

        assertThat(run.out()).isEqualTo("inside\n" + served.url("/dangling") + "\n");
    }

    @Test
    void lsOfAHugeDirectoryIsCompleteAndSorted() throws IOException {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            names.add("f%05d".formatted(i));
            Files.createFile(root.resolve(names.getLast()));
        }

        run.succeeds("ls", served.url("/"));

        assertThat(run.out().lines()).isEqualTo(names);
    }
}
