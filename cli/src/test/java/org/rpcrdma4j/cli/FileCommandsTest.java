// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** cat and stat against a server in this process, and what all commands for files have in common. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class FileCommandsTest {
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
    void whatFailsIsToldAndTheNextUrlHasItsTurn() throws IOException {
        served.file("f", "text");

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
        served.file("end", "end");

        run.succeeds("cat", served.url("/big"), served.url("/end"));

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
        served.file("f", "text");
        CommandRun full = CommandRun.piped().outFailsAfter(0, "No space left on device");

        assertThat(full.run("cat", served.url("/f"))).isEqualTo(1);

        assertThat(full.err().lines())
                .singleElement()
                .isEqualTo("rpcrdma cat: cannot write to standard output: No space left on device");
    }

    @Test
    void catOfADirectoryFails() {
        run.fails(List.of("cannot read " + served.url("/"), "is a directory"), "cat", served.url("/"));
    }

    @Test
    void statShowsAllAttributesAndFollowsLinksOnlyIfAsked() throws IOException {
        served.file("f", "12345");
        Files.createSymbolicLink(root.resolve("link"), Path.of("f"));

        run.succeeds("stat", served.url("/link"));
        assertThat(run.out())
                .contains("file          " + served.url("/link") + " -> f\n", "symbolic link", "mode", "handle");

        CommandRun following = CommandRun.piped();
        assertThat(following.run("stat", "-L", served.url("/link"))).isZero();
        assertThat(following.out()).contains("regular file", "size          5 bytes");
    }

    @Test
    void statAsJsonAndOfTheFileSystem() throws IOException {
        served.file("f", "12345");

        run.succeeds("stat", "--json", served.url("/f"));
        run.succeeds("stat", "-f", served.url("/"));

        assertThat(run.out()).contains("\"type\":\"regular\"", "\"size\":5,").containsPattern("available +\\d+ bytes");
    }

    @Test
    void volumesAreReachedOverTcpToo() throws IOException {
        served.file("f", "text");

        run.succeeds("cat", "--tcp", "nfs://127.0.0.1:" + served.tcpPort() + "/f");
        run.succeeds("cat", "nfs://127.0.0.1:" + served.tcpPort() + "/f?proto=tcp");

        assertThat(run.out()).isEqualTo("texttext");
    }

    @Test
    void mountIsAskedWhereItIsSaidToBeOrNotAtAll() throws IOException {
        served.file("f", "text");

        run.succeeds("cat", "--mountd-port", String.valueOf(served.tcpPort()), served.url("/f"));
        run.succeeds("cat", "--handle", served.rootHandle(), served.url("/f"));

        assertThat(run.out()).isEqualTo("texttext");
    }

    @Test
    void linksOfNamesThatAreOddAreReadByUrl() throws IOException, InterruptedException {
        served.fileNamed("a b%%\\377");

        run.succeeds("rm", served.url("/a%20b%25%FF"));

        assertThat(root.toFile().list()).isEmpty();
    }

    @Test
    void aLoopOfLinksIsAnError() throws IOException {
        Files.createSymbolicLink(root.resolve("loop"), Path.of("loop"));

        run.fails(List.of(served.url("/loop"), "links"), "cat", served.url("/loop"));
        assertThat(Files.exists(root.resolve("loop"), LinkOption.NOFOLLOW_LINKS))
                .isTrue();
    }

    @Test
    void aNameThatIsTooLongIsAnError() {
        run.fails(List.of("name too long"), "mkdir", served.url("/" + "n".repeat(256)));
    }

    @Test
    void theTransportsCountersArePrintedAtTheEndIfAsked() throws IOException {
        served.file("f", "text");

        assertThat(run.run("cat", "--stats", served.url("/f"))).isZero();
        assertThat(run.out()).isEqualTo("text");
        assertThat(run.err()).contains("xprt:\trdma 0 0 1 ", ", calls ");
        assertThat(run.err().lines().toList())
                .last(STRING)
                .matches("after close: (\\d+) leases taken, \\1 given back, 0 bytes leased, 0 regions");

        CommandRun tcp = CommandRun.piped();
        assertThat(tcp.run("cat", "--stats", "nfs://127.0.0.1:" + served.tcpPort() + "/f?proto=tcp"))
                .isZero();
        assertThat(tcp.err()).contains("replies ");
    }
}
