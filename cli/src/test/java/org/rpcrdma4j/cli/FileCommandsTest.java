// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.server.NfsServerOptions;

/** ls, stat, cat, mkdir, rm and mv against a server in this process. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class FileCommandsTest {
    @TempDir
    Path root;

    private final CommandRun run = CommandRun.piped();
    private ServedDirectory served;

    @BeforeEach
    void start() throws IOException {
        served = ServedDirectory.start(root, ServedDirectory.TRUSTING, NfsServerOptions.DEFAULT);
    }

    @AfterEach
    void stop() throws IOException {
        served.close();
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(root.resolve(name), text);
    }

    /** Makes a file whose name is these bytes: a Java string could not carry them. */
    private void fileNamed(String escapedForPrintf) throws IOException, InterruptedException {
        String command = "cd \"$0\" && : > \"$(printf '" + escapedForPrintf + "')\"";
        Process shell = new ProcessBuilder("sh", "-c", command, root.toString()).start();
        assertThat(shell.waitFor()).isZero();
    }

    private void succeeds(String... args) {
        assertThat(run.run(args)).as("%s", run).isZero();
        assertThat(run.err()).isEmpty();
    }

    private void fails(List<String> parts, String... args) {
        assertThat(run.run(args)).as("%s", run).isEqualTo(1);
        assertThat(run.err().lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma " + args[0] + ": ")
                .contains(parts);
    }

    @Test
    void lsSortsNamesByBytesAndHidesThoseWithADot() throws IOException {
        file("b", "");
        file("B", "");
        file(".hidden", "");
        Files.createDirectory(root.resolve("a"));

        succeeds("ls", served.url("/"));

        assertThat(run.out()).isEqualTo("B\na\nb\n");
    }

    @Test
    void lsShowsHiddenNamesIfAsked() throws IOException {
        file(".hidden", "");

        succeeds("ls", "-a", served.url(""));

        assertThat(run.out()).isEqualTo(".hidden\n");
    }

    @Test
    void lsShowsAttributesInColumnsThatFit() throws IOException {
        Path small = file("small", "x");
        Files.setPosixFilePermissions(small, PosixFilePermissions.fromString("rw-r-----"));
        Files.setLastModifiedTime(small, FileTime.from(Instant.parse("2020-02-03T04:05:06Z")));
        file("large", "x".repeat(123456));
        Files.createSymbolicLink(root.resolve("link"), Path.of("small"));

        succeeds("ls", "-l", served.url("/"));

        String[] lines = run.out().split("\n", -1);
        assertThat(lines[0]).matches("-rw-[rwx-]{6} 1 \\S+ +\\S+ +123456 \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d large");
        assertThat(lines[1]).matches("lrwxrwxrwx 1 .* small").contains(" link -> ");
        assertThat(lines[2]).matches("-rw-r----- 1 \\S+ +\\S+ +1 2020-02-0\\d \\d\\d:\\d\\d small");
        assertThat(lines[2].indexOf(" 2020-")).isEqualTo(lines[0].indexOf(" 123456 ") + 7);
    }

    @Test
    void lsWritesNamesAsTheyAreUnlessATerminalShowsThem() throws IOException, InterruptedException {
        fileNamed("new\\nline\\377");
        CommandRun terminal = CommandRun.onTerminal();

        succeeds("ls", served.url("/"));
        assertThat(terminal.run("ls", served.url("/"))).isZero();

        assertThat(run.bytes()).isEqualTo("new\nline\u00ff\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(terminal.out()).isEqualTo("new\\x0aline\\xff\n");
    }

    @Test
    void lsGoesDownTreesInOrderAndNotThroughLinks() throws IOException {
        Files.createDirectories(root.resolve("a/b"));
        file("a/b/file", "");
        Files.createDirectory(root.resolve("c"));
        Files.createSymbolicLink(root.resolve("a/up"), Path.of(".."));

        succeeds("ls", "-R", served.url("/"));

        String url = served.url("");
        assertThat(run.out())
                .isEqualTo(url + "/:\na\nc\n\n" + url + "/a:\nb\nup\n\n" + url + "/a/b:\nfile\n\n" + url + "/c:\n");
    }

    @Test
    void lsAsJsonIsAnObjectForEachFile() throws IOException, InterruptedException {
        fileNamed("\\377");
        Files.createSymbolicLink(root.resolve("link"), Path.of("to"));

        succeeds("ls", "--json", served.url("/"));

        assertThat(run.out().lines()).hasSize(2);
        assertThat(run.out().lines().toList().get(0))
                .contains("\"type\":\"symbolic_link\"", "\"target\":\"to\"", "\"size\":2,");
        assertThat(run.out().lines().toList().get(1)).startsWith("{\"url\":\"" + served.url("/%FF") + "\"");
    }

    @Test
    void lsOfAFileOrWithDIsTheThingItself() throws IOException {
        file("f", "");

        succeeds("ls", served.url("/f"));
        succeeds("ls", "-d", served.url("/"));

        assertThat(run.out()).isEqualTo(served.url("/f") + "\n" + served.url("/") + "\n");
    }

    @Test
    void lsOfALinkIsWhatItLeadsToAndOfADanglingOneTheLink() throws IOException {
        Files.createDirectory(root.resolve("d"));
        file("d/inside", "");
        Files.createSymbolicLink(root.resolve("link"), Path.of("d"));
        Files.createSymbolicLink(root.resolve("dangling"), Path.of("nowhere"));

        succeeds("ls", served.url("/link"));
        succeeds("ls", served.url("/dangling"));

        assertThat(run.out()).isEqualTo("inside\n" + served.url("/dangling") + "\n");
    }

    @Test
    void lsOfAHugeDirectoryIsCompleteAndSorted() throws IOException {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            names.add("f%05d".formatted(i));
            Files.createFile(root.resolve(names.getLast()));
        }

        succeeds("ls", served.url("/"));

        assertThat(run.out().lines()).isEqualTo(names);
    }

    @Test
    void whatFailsIsToldAndTheNextUrlHasItsTurn() throws IOException {
        file("f", "text");

        assertThat(run.run("cat", served.url("/missing"), served.url("/f"))).isEqualTo(1);

        assertThat(run.out()).isEqualTo("text");
        assertThat(run.err().lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma cat: ")
                .contains(served.url("/missing"), "no such file or directory");
    }

    @Test
    void catWritesTheBytesOfFilesOneAfterTheOther() throws IOException {
        byte[] content = new byte[3_000_001];
        new Random(1).nextBytes(content);
        Files.write(root.resolve("big"), content);
        file("end", "end");

        succeeds("cat", served.url("/big"), served.url("/end"));

        assertThat(run.bytes())
                .hasSize(content.length + 3)
                .startsWith(content)
                .endsWith("end".getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void catEndsQuietlyWhenItsReaderHasSeenEnough() throws IOException {
        Files.write(root.resolve("big"), new byte[5_000_000]);
        CommandRun cut = CommandRun.piped().outFailsAfter(1000, "Broken pipe");

        assertThat(cut.run("cat", served.url("/big"), served.url("/big"))).isEqualTo(1);

        assertThat(cut.err()).isEmpty();
    }

    @Test
    void catTellsThatTheOutputIsFull() throws IOException {
        file("f", "text");
        CommandRun full = CommandRun.piped().outFailsAfter(0, "No space left on device");

        assertThat(full.run("cat", served.url("/f"))).isEqualTo(1);

        assertThat(full.err().lines())
                .singleElement()
                .isEqualTo("rpcrdma cat: cannot write to standard output: No space left on device");
    }

    @Test
    void catOfADirectoryFails() {
        fails(List.of("cannot read " + served.url("/"), "is a directory"), "cat", served.url("/"));
    }

    @Test
    void statShowsAllAttributesAndFollowsLinksOnlyIfAsked() throws IOException {
        file("f", "12345");
        Files.createSymbolicLink(root.resolve("link"), Path.of("f"));

        succeeds("stat", served.url("/link"));
        assertThat(run.out())
                .contains("file          " + served.url("/link") + " -> f\n", "symbolic link", "mode", "handle");

        CommandRun following = CommandRun.piped();
        assertThat(following.run("stat", "-L", served.url("/link"))).isZero();
        assertThat(following.out()).contains("regular file", "size          5 bytes");
    }

    @Test
    void statAsJsonAndOfTheFileSystem() throws IOException {
        file("f", "12345");

        succeeds("stat", "--json", served.url("/f"));
        succeeds("stat", "-f", served.url("/"));

        assertThat(run.out()).contains("\"type\":\"regular\"", "\"size\":5,").containsPattern("available +\\d+ bytes");
    }

    @Test
    void mkdirMakesOneDirectoryWithTheModeAsked() throws IOException {
        succeeds("mkdir", "-m", "750", served.url("/d"));

        assertThat(Files.getPosixFilePermissions(root.resolve("d")))
                .isEqualTo(PosixFilePermissions.fromString("rwxr-x---"));
        fails(List.of(served.url("/d"), "file exists"), "mkdir", served.url("/d"));
    }

    @Test
    void mkdirWithParentsMakesAllAndTakesWhatIsThere() throws IOException {
        Files.createDirectory(root.resolve("a"));

        succeeds("mkdir", "-p", served.url("/a/b/c"));
        succeeds("mkdir", "-p", served.url("/a/b/c"));
        succeeds("mkdir", "-p", served.url("/"));

        assertThat(root.resolve("a/b/c")).isDirectory();
    }

    @Test
    void mkdirDoesNotTakeAFileForADirectory() throws IOException {
        file("f", "");

        fails(List.of(served.url("/f"), "not a directory"), "mkdir", "-p", served.url("/f"));
    }

    @Test
    void rmRemovesFilesAndLinksNeverWhatLinksLeadTo() throws IOException {
        file("f", "");
        file("kept", "");
        Files.createSymbolicLink(root.resolve("link"), Path.of("kept"));

        succeeds("rm", served.url("/f"), served.url("/link"));

        assertThat(root.toFile().list()).containsExactly("kept");
    }

    @Test
    void rmOfADirectoryNeedsRecursion() throws IOException {
        Files.createDirectories(root.resolve("d/sub"));
        for (int i = 0; i < 100; i++) {
            file("d/sub/" + i, "");
        }
        Files.createSymbolicLink(root.resolve("d/up"), Path.of(".."));
        file("kept", "");

        fails(List.of(served.url("/d"), "is a directory", "-r"), "rm", served.url("/d"));
        CommandRun recursive = CommandRun.piped();
        assertThat(recursive.run("rm", "-r", served.url("/d")))
                .as("%s", recursive)
                .isZero();

        assertThat(root.toFile().list()).containsExactly("kept");
    }

    @Test
    void rmOfWhatIsNotThereIsAnErrorUnlessForced() {
        succeeds("rm", "-f", served.url("/missing"));
        fails(List.of(served.url("/missing"), "no such file or directory"), "rm", served.url("/missing"));
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

        succeeds("rm", "-r", served.url("/d"));

        assertThat(root.toFile().list()).isEmpty();
    }

    @Test
    void mvRenamesAndReplaces() throws IOException {
        file("a", "a");
        file("b", "b");

        succeeds("mv", served.url("/a"), served.url("/b"));

        assertThat(root.toFile().list()).containsExactly("b");
        assertThat(root.resolve("b")).hasContent("a");
    }

    @Test
    void mvDoesNotReplaceIfAskedNotTo() throws IOException {
        file("a", "a");
        file("b", "b");

        succeeds("mv", "-n", served.url("/a"), served.url("/b"));

        assertThat(root.resolve("a")).hasContent("a");
        assertThat(root.resolve("b")).hasContent("b");
    }

    @Test
    void mvMovesSeveralIntoADirectory() throws IOException {
        file("a", "a");
        file("b", "b");
        Files.createDirectory(root.resolve("d"));

        succeeds("mv", served.url("/a"), served.url("/b"), served.url("/d"));

        assertThat(root.resolve("d").toFile().list()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void mvOfSeveralNeedsADirectory() throws IOException {
        file("a", "a");
        file("b", "b");

        fails(List.of("not a directory"), "mv", served.url("/a"), served.url("/b"), served.url("/c"));
    }

    @Test
    void mvBetweenExportsIsRefused() throws IOException {
        Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
        file("a", "a");
        try (ServedDirectory other =
                ServedDirectory.start(elsewhere, ServedDirectory.TRUSTING, NfsServerOptions.DEFAULT)) {
            fails(List.of("not in one export"), "mv", served.url("/a"), other.url("/a"));
        }
        assertThat(root.resolve("a")).exists();
    }

    @Test
    void volumesAreReachedOverTcpToo() throws IOException {
        file("f", "text");

        succeeds("cat", "--tcp", "nfs://127.0.0.1:" + served.tcpPort() + "/f");
        succeeds("cat", "nfs://127.0.0.1:" + served.tcpPort() + "/f?proto=tcp");

        assertThat(run.out()).isEqualTo("texttext");
    }

    @Test
    void mountIsAskedWhereItIsSaidToBeOrNotAtAll() throws IOException {
        file("f", "text");

        succeeds("cat", "--mountd-port", String.valueOf(served.tcpPort()), served.url("/f"));
        succeeds("cat", "--handle", served.rootHandle(), served.url("/f"));

        assertThat(run.out()).isEqualTo("texttext");
    }

    @Test
    void linksOfNamesThatAreOddAreReadByUrl() throws IOException, InterruptedException {
        fileNamed("a b%%\\377");

        succeeds("rm", served.url("/a%20b%25%FF"));

        assertThat(root.toFile().list()).isEmpty();
    }

    @Test
    void aLoopOfLinksIsAnError() throws IOException {
        Files.createSymbolicLink(root.resolve("loop"), Path.of("loop"));

        fails(List.of(served.url("/loop"), "links"), "cat", served.url("/loop"));
        assertThat(Files.exists(root.resolve("loop"), LinkOption.NOFOLLOW_LINKS))
                .isTrue();
    }

    @Test
    void aNameThatIsTooLongIsAnError() {
        fails(List.of("name too long"), "mkdir", served.url("/" + "n".repeat(256)));
    }

    @Test
    void theTransportsCountersArePrintedAtTheEndIfAsked() throws IOException {
        file("f", "text");

        assertThat(run.run("cat", "--stats", served.url("/f"))).isZero();
        assertThat(run.out()).isEqualTo("text");
        assertThat(run.err()).contains("xprt:\trdma 0 0 1 ", ", calls ");

        CommandRun tcp = CommandRun.piped();
        assertThat(tcp.run("cat", "--stats", "nfs://127.0.0.1:" + served.tcpPort() + "/f?proto=tcp"))
                .isZero();
        assertThat(tcp.err()).contains("replies ");
    }
}
