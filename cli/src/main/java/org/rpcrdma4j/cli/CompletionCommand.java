// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints what makes a shell complete this program's commands. */
@Command(
        name = "completion",
        description = {
            "Prints a script that makes the shell complete commands and options.",
            "The shell must find rpcrdma by that name."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  bash, this session:   source <(rpcrdma completion bash)",
            "  bash, from now on:    rpcrdma completion bash > ~/.local/share/bash-completion/completions/rpcrdma",
            "  zsh, in ~/.zshrc:     source <(rpcrdma completion zsh)"
        })
final class CompletionCommand implements Callable<Integer> {
    /** The shells. */
    enum Shell {
        BASH,
        ZSH
    }

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "bash|zsh", description = "The shell.")
    private Shell shell;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    CompletionCommand() {}

    @Override
    public Integer call() {
        CommandLine root = spec.commandLine().getParent();
        // One script serves both: under zsh it loads bash's completion.
        String script = AutoComplete.bash("rpcrdma", root);
        spec.commandLine().getOut().print(shell == Shell.ZSH ? "autoload -Uz compinit && compinit\n" + script : script);
        spec.commandLine().getOut().flush();
        return 0;
    }
}
