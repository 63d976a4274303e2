// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.capture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;

/**
 * Wireshark without a window, an implementation that is not ours. Where it is missing the test that asks for it is skipped, unless the system
 * property {@code rpcrdma.require.tshark} is true.
 */
public final class Tshark {
    private static final long LIMIT_SECONDS = 120;

    private Tshark() {}

    /**
     * What tshark prints about a capture, one character for each byte. Fails the test if tshark does or takes too long; skips it if there is
     * none.
     */
    public static String read(Path capture, String... options) throws IOException, InterruptedException {
        Optional<Path> tshark = find();
        if (tshark.isEmpty() && !Boolean.getBoolean("rpcrdma.require.tshark")) {
            Assumptions.abort("tshark is not installed; the capture is at " + capture.toAbsolutePath());
        }
        Path output = Files.createTempFile("tshark", ".txt");
        try {
            List<String> command = new ArrayList<>(List.of(tshark.orElseThrow().toString(), "-r", capture.toString()));
            command.addAll(List.of(options));
            Process process = new ProcessBuilder(command)
                    .redirectOutput(output.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("not done in " + LIMIT_SECONDS + " seconds: " + command);
            }
            assertThat(process.exitValue()).as("exit status of %s", command).isZero();
            return Files.readString(output, StandardCharsets.ISO_8859_1);
        } finally {
            Files.delete(output);
        }
    }

    private static Optional<Path> find() {
        String folders = System.getenv().getOrDefault("PATH", "");
        return Pattern.compile(File.pathSeparator, Pattern.LITERAL)
                .splitAsStream(folders)
                .map(folder -> Path.of(folder, "tshark"))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
