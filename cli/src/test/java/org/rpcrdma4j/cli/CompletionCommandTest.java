// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionCommandTest {
    @TempDir
    Path directory;

    /** Loads the script in a shell and asks what the line can go on with, as the shell does when the key is pressed. */
    private List<String> completions(String... words) throws IOException, InterruptedException {
        CommandRun run = CommandRun.piped();
        assertThat(run.run("completion", "bash")).as("%s", run).isZero();
        Path script = Files.writeString(directory.resolve("rpcrdma.bash"), run.out());
        Path answer = directory.resolve("answer");
        List<String> command = new ArrayList<>(List.of(
                "bash",
                "-c",
                "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _complete_rpcrdma rpcrdma;"
                        + " printf '%s\\n' \"${COMPREPLY[@]}\"",
                script.toString()));
        command.addAll(List.of(words));
        Process shell = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(answer.toFile())
                .start();
        boolean ended = shell.waitFor(60, TimeUnit.SECONDS);
        shell.destroyForcibly();
        assertThat(ended).isTrue();
        return Files.readAllLines(answer, StandardCharsets.UTF_8);
    }

    @Test
    void bashCompletesCommandsAndTheirOptions() throws IOException, InterruptedException {
        assertThat(completions("rpcrdma", "pi")).containsExactly("ping");
        assertThat(completions("rpcrdma", "ping", "--he")).contains("--headers", "--help");
    }

    @Test
    void zshGetsTheSameThroughItsOwnLoader() {
        CommandRun run = CommandRun.piped();
        assertThat(run.run("completion", "zsh")).isZero();
        assertThat(run.out())
                .startsWith("autoload -Uz compinit")
                .contains("bashcompinit", "complete -F _complete_rpcrdma");
    }

    @Test
    void anotherShellIsWrongUsage() {
        CommandRun run = CommandRun.piped();
        assertThat(run.run("completion", "fish")).isEqualTo(2);
        assertThat(run.err().lines()).singleElement().asString().contains("fish", "--help");
    }
}
