// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A command that serves, as a process of its own, once it has said in one line that it is ready. */
record CommandProcess(Process process, BufferedReader out, Matcher ready) implements AutoCloseable {

    /**
     * Starts a command.
     *
     * @param errors a file for its standard error
     * @param ready its whole first line
     */
    static CommandProcess start(Path errors, Pattern ready, List<String> args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(args);
        Process process =
                new ProcessBuilder(command).redirectError(errors.toFile()).start();
        try {
            BufferedReader out =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = out.readLine();
            Matcher matcher = ready.matcher(String.valueOf(line));
            assertThat(matcher.matches())
                    .as("%s, errors: %s", line, Files.readString(errors))
                    .isTrue();
            return new CommandProcess(process, out, matcher);
        } catch (IOException | AssertionError e) {
            process.destroyForcibly();
            throw e;
        }
    }

    void signal(String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start();
        assertThat(kill.waitFor()).isZero();
    }

    int exitStatus() throws InterruptedException {
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("process ended").isTrue();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** Whether this process ignores a signal, which its children inherit. */
    static boolean isIgnored(String signal) throws IOException {
        int number = switch (signal) {
            case "HUP" -> 1;
            case "INT" -> 2;
            default -> 15;
        };
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String mask = lines.filter(line -> line.startsWith("SigIgn:"))
                    .findFirst()
                    .orElse("SigIgn: 0")
                    .substring("SigIgn:".length())
                    .strip();
            return (Long.parseUnsignedLong(mask, 16) >>> (number - 1) & 1) != 0;
        }
    }
}
