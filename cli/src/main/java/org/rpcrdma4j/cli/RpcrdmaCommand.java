// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command that holds all others. */
@Command(
        name = "rpcrdma",
        description = "RPC-over-RDMA for the JVM: files over NFS/RDMA, and a look at what RDMA devices do.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        versionProvider = RpcrdmaCommand.Version.class,
        sortOptions = false,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done", "1:failed; the reason is on standard error", "2:wrong usage"},
        subcommands = {
            DemoCommand.class,
            ServeCommand.class,
            LsCommand.class,
            StatCommand.class,
            CatCommand.class,
            CpCommand.class,
            MkdirCommand.class,
            RmCommand.class,
            MvCommand.class,
            PingCommand.class,
            BridgeCommand.class,
            BenchCommand.class,
            DevicesCommand.class,
            CompletionCommand.class,
            HelpCommand.class
        })
final class RpcrdmaCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--verbose",
            scope = ScopeType.INHERIT,
            description = "With an error, print where it came from too.")
    private boolean verbose;

    private final StandardStreams streams;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    RpcrdmaCommand(StandardStreams streams) {
        this.streams = streams;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    static boolean isVerbose(CommandLine at) {
        return root(at).verbose;
    }

    /** What the command reads and writes. */
    static StandardStreams streams(CommandLine at) {
        return root(at).streams;
    }

    private static RpcrdmaCommand root(CommandLine at) {
        CommandLine root = at;
        while (root.getParent() != null) {
            root = root.getParent();
        }
        return root.getCommand();
    }

    /** Reads the version that the build wrote down. */
    static final class Version implements IVersionProvider {
        Version() {}

        @Override
        public String[] getVersion() {
            try (InputStream text = RpcrdmaCommand.class.getResourceAsStream("version.txt")) {
                String version =
                        text == null ? "unknown" : new String(text.readAllBytes(), StandardCharsets.UTF_8).strip();
                return new String[] {"rpcrdma " + version + ", Java " + Runtime.version()};
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
