// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.server.NfsServerOptions;

/** What goes wrong is one line that says what failed, on what, why; and the exit status says how. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class FailuresTest {
    @TempDir
    Path root;

    private final CommandRun run = CommandRun.piped();

    /** A port on which nobody listens. */
    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Test
    void aHostWithoutAnAddress() {
        run.fails(List.of("nfs://no-such-host.invalid/x", "unknown host"), "ls", "nfs://no-such-host.invalid/x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void aServerThatIsNotThere(String transport) throws IOException {
        String server = "127.0.0.1:" + freePort();
        String url = "nfs://" + server + "/x";

        run.fails(List.of(url, ": cannot reach " + server + ": connection refused"), "ls", url + "?proto=" + transport);
    }

    @Test
    void aServerThatNeverAnswers() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = "nfs://127.0.0.1:" + silent.getLocalPort() + "/x";

            run.fails(List.of(url), "ls", "--timeout", "1", url + "?proto=tcp");
        }
    }

    /** The calls' time limit is longer than the test's. */
    @ParameterizedTest
    @CsvSource({"rdma, may not speak RDMA", "tcp, each was lost"})
    void aServerThatEndsEveryConnection(String transport, String reason) throws IOException {
        try (ServerSocket closing = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> endEveryConnection(closing));
            String url = "nfs://127.0.0.1:" + closing.getLocalPort() + "/x";

            run.fails(List.of(url, reason), "ls", "--timeout", "1000", url + "?proto=" + transport);
        }
    }

    private static void endEveryConnection(ServerSocket server) {
        try {
            while (true) {
                server.accept().close();
            }
        } catch (IOException e) {
            // The test is over.
            return;
        }
    }

    @Test
    void anExportThatIsNotThere() throws IOException {
        try (ServedDirectory served = ServedDirectory.start(
                root, ServedDirectory.TRUSTING, NfsServerOptions.DEFAULT.withExportName(PathBytes.of("/data")))) {
            String url = served.url("/other");
            run.fails(List.of("cannot mount " + url + ": no such export; 127.0.0.1 exports: /data"), "ls", url);
        }
    }

    @Test
    void aReadOnlyExport() throws IOException {
        try (ServedDirectory served =
                ServedDirectory.start(root, ServedDirectory.TRUSTING.withReadOnly(true), NfsServerOptions.DEFAULT)) {
            run.fails(List.of(served.url("/d"), "read-only file system"), "mkdir", served.url("/d"));
        }
    }

    @Test
    void aHandleOfAnotherExport() throws IOException {
        Path other = Files.createDirectory(root.resolve("other"));
        try (ServedDirectory served = ServedDirectory.start(root);
                ServedDirectory elsewhere = ServedDirectory.start(other)) {
            run.fails(
                    List.of(served.url("/"), "stale file handle"),
                    "ls",
                    "--handle",
                    elsewhere.rootHandle(),
                    served.url("/x"));
        }
    }

    @Test
    void aDirectoryThatIsShut() throws IOException {
        assumeTrue(Integer.valueOf(0).equals(Files.getAttribute(root, "unix:uid")), "only root can act for others");
        Files.createDirectory(root.resolve("shut"), PosixFilePermissions.asFileAttribute(Set.of()));
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (ServedDirectory served = ServedDirectory.start(root)) {
            String[] args = {"ls", "--uid", "12345", "--gid", "12345", served.url("/shut")};
            run.fails(List.of(served.url("/shut"), "permission denied"), args);
        }
    }

    @Test
    void aPathThroughAFile() throws IOException {
        Files.writeString(root.resolve("f"), "");
        try (ServedDirectory served = ServedDirectory.start(root)) {
            run.fails(List.of(served.url("/f"), "not a directory"), "ls", served.url("/f/x"));
        }
    }

    @Test
    void aDirectoryThatIsNotEmpty() throws IOException {
        Files.createDirectory(root.resolve("a"));
        Files.createDirectories(root.resolve("b/c"));
        try (ServedDirectory served = ServedDirectory.start(root)) {
            run.fails(List.of("directory not empty"), "mv", "-T", served.url("/a"), served.url("/b"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ls",
                "ls http://host/x",
                "ls nfs:///x",
                "ls nfs://host:99999/",
                "ls nfs://host/%zz",
                "ls nfs://host/?proto=udp",
                "cat",
                "mv nfs://host/a",
                "mv -n -f nfs://host/a nfs://host/b",
                "mv -T nfs://host/a nfs://host/b nfs://host/c",
                "mkdir -m 999 nfs://host/a",
                "ls --mountd-port 70000 nfs://127.0.0.1/",
                "ls --handle xyz nfs://127.0.0.1/",
                "ls --uid -1 nfs://127.0.0.1/",
                "ls --timeout 0 nfs://127.0.0.1/",
                "serve",
                "serve . --tcp 127.0.0.1:0 --mountd-port 0",
                "serve . --mountd-port 70000",
                "serve . --listen 127.0.0.1:99999",
                "serve . --export data",
                "serve . --squash some",
                "serve . --anon-uid -2"
            })
    void wrongUsageIsStatusTwoAndOneLine(String args) {
        assertThat(run.run(args.split(" ", -1))).as("%s", run).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma ")
                .contains("--help");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", "ls", "stat", "cat", "mkdir", "rm", "mv", "completion"})
    void helpHasExamples(String command) {
        assertThat(run.run(command, "--help")).isZero();
        assertThat(run.out()).contains("Usage: rpcrdma " + command, "Examples:", "Exit status:");
        assertThat(run.out().lines()).allMatch(line -> line.length() <= 100);
    }

    @Test
    void verboseAddsTheTrace() throws IOException {
        assertThat(run.run("ls", "--verbose", "nfs://127.0.0.1:" + freePort() + "/x"))
                .isEqualTo(1);
        assertThat(run.err()).contains("\tat org.rpcrdma4j.");
    }
}
