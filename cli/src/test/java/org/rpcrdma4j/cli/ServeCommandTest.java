// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server as a process of its own, which signals end. */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class ServeCommandTest {
    private static final Pattern READY = Pattern.compile("serving (\\S+) as (nfs://\\S+) \\((.*)\\)");

    @TempDir
    Path root;

    @TempDir
    Path aside;

    private final CommandRun client = CommandRun.piped();
    private final List<CommandProcess> processes = new ArrayList<>();

    private Path errors() {
        return aside.resolve("errors");
    }

    private CommandProcess start(String... args) throws IOException {
        List<String> all = new ArrayList<>(List.of("--squash", "none"));
        all.addAll(List.of(args));
        return launch(all);
    }

    private CommandProcess launch(List<String> args) throws IOException {
        List<String> command = new ArrayList<>(List.of("serve", root.toString()));
        command.addAll(args);
        CommandProcess process = CommandProcess.start(errors(), READY, command);
        processes.add(process);
        return process;
    }

    private static String url(CommandProcess server) {
        return server.ready().group(2);
    }

    @AfterEach
    void stop() {
        processes.forEach(CommandProcess::close);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT", "HUP"})
    void aSignalEndsItInOrderAndItSaysWhatItDid(String signal) throws IOException, InterruptedException {
        assumeThat(CommandProcess.isIgnored(signal))
                .as("a shell that started this in the background has SIG%s ignored, and so has the server", signal)
                .isFalse();
        Files.writeString(root.resolve("f"), "twelve bytes");
        CommandProcess server = start("--listen", "127.0.0.1:0");
        assertThat(server.ready().group(1)).isEqualTo(root.toString());
        assertThat(client.run("cat", url(server) + "f")).as("%s", client).isZero();

        server.signal(signal);

        assertThat(server.exitStatus()).isZero();
        assertThat(server.out().readLine())
                .matches(
                        "served \\d+ calls on [1-9] connections in \\d+ s: 12 bytes read, 0 bytes written; nothing is left registered");
        assertThat(server.out().readLine()).isNull();
        assertThat(Files.readString(errors())).isEmpty();
        assertThat(client.out()).isEqualTo("twelve bytes");
    }

    @Test
    void itSaysHowItServes() throws IOException, InterruptedException {
        Files.writeString(root.resolve("f"), "text");
        CommandProcess server =
                start("--listen", "127.0.0.1:0", "--mountd-port", "0", "--read-only", "--export", "/data");

        assertThat(url(server)).matches("nfs://127\\.0\\.0\\.1:\\d+/data");
        assertThat(server.ready().group(3)).startsWith("read-only, ");
        Matcher tcp = Pattern.compile("over TCP on 127\\.0\\.0\\.1:(\\d+)")
                .matcher(server.ready().group(3));
        assertThat(tcp.find()).isTrue();
        assertThat(client.run("cat", "--mountd-port", tcp.group(1), url(server) + "/f"))
                .as("%s", client)
                .isZero();
        assertThat(client.run("rm", url(server) + "/f")).isEqualTo(1);
        assertThat(client.err()).contains("read-only");
        server.signal("TERM");
        assertThat(server.exitStatus()).isZero();
    }

    @Test
    void rootOfThisMachineIsRootUnlessThatIsRefused() throws IOException {
        assumeTrue(Integer.valueOf(0).equals(Files.getAttribute(root, "unix:uid")), "only root can act for others");
        CommandProcess trusting = launch(List.of("--listen", "127.0.0.1:0"));
        assertThat(trusting.ready().group(3)).contains("root of this machine is root");
        assertThat(client.run("mkdir", url(trusting) + "made")).as("%s", client).isZero();
        assertThat(Files.getAttribute(root.resolve("made"), "unix:uid")).isEqualTo(0);

        CommandProcess strict = launch(List.of("--listen", "127.0.0.1:0", "--squash", "root-strict"));
        assertThat(strict.ready().group(3)).contains("root acts as user 65534");
        assertThat(client.run("mkdir", url(strict) + "refused")).isEqualTo(1);
        assertThat(client.err()).contains("permission denied");

        CommandProcess reachable = launch(List.of("--listen", "0.0.0.0:0", "--no-rpcbind"));
        assertThat(reachable.ready().group(3)).contains("root of this machine is root, of other machines user 65534");
    }

    @Test
    void itWarnsWhenOthersCanReachIt() throws IOException, InterruptedException {
        CommandProcess server = start("--listen", "0.0.0.0:0", "--no-rpcbind");

        assertThat(url(server)).doesNotContain("0.0.0.0");
        assertThat(Files.readString(errors()).lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma serve: warning: ")
                .contains("no authentication", "no encryption");
        server.signal("TERM");
        assertThat(server.exitStatus()).isZero();
    }

    @Test
    void anAddressThatIsTakenIsOneLine() throws IOException {
        CommandProcess server = start("--listen", "127.0.0.1:0");
        String port = url(server).replaceAll("nfs://127.0.0.1:(\\d+)/", "$1");

        assertThat(client.run("serve", root.toString(), "--listen", "127.0.0.1:" + port))
                .isEqualTo(1);

        assertThat(client.err().lines()).singleElement().asString().contains("127.0.0.1:" + port, "in use");
    }

    @Test
    void aDirectoryThatIsNotThereIsOneLine() throws IOException {
        assertThat(client.run("serve", root.resolve("missing").toString(), "--listen", "127.0.0.1:0"))
                .isEqualTo(1);
        Path file = Files.createFile(root.resolve("file"));
        assertThat(client.run("serve", file.toString(), "--listen", "127.0.0.1:0"))
                .isEqualTo(1);

        assertThat(client.err().lines())
                .satisfiesExactly(
                        line -> assertThat(line).endsWith("missing: no such file or directory"),
                        line -> assertThat(line).endsWith("file: not a directory"));
    }
}
