// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import org.rpcrdma4j.transport.client.ConnectFailedException;
import org.rpcrdma4j.transport.client.TransportException;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The program: exit status 0 for done, 1 for failed, 2 for wrong usage; an error is one line on standard error. */
public final class Main {
    private static final Logger LOG = Logger.getLogger("org.rpcrdma4j");

    private static final Pattern LINE_END = Pattern.compile("\\s*\\R\\s*");
    /** What exceptions that hold another one put before its message. */
    private static final Pattern CLASS_NAME = Pattern.compile("\\b(?:[a-z]\\w*\\.)+[A-Z]\\w*(?:Exception|Error): ");

    private Main() {}

    /** Runs a command and ends the process. */
    public static void main(String... args) {
        // What the device logs of a bad peer is for operators of a service; here the commands tell it themselves.
        LOG.setLevel(List.of(args).contains("--verbose") ? Level.ALL : Level.OFF);
        System.exit(commandLine().execute(args));
    }

    /** The commands, ready to be executed, with the streams of this process. */
    static CommandLine commandLine() {
        return commandLine(StandardStreams.ofProcess());
    }

    /** The commands, ready to be executed. */
    static CommandLine commandLine(StandardStreams streams) {
        return new CommandLine(new RpcrdmaCommand(streams))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Main::wrongUsage)
                .setExecutionExceptionHandler(Main::failed);
    }

    private static int wrongUsage(CommandLine.ParameterException e, String... args) {
        CommandLine at = e.getCommandLine();
        String name = at.getCommandSpec().qualifiedName();
        StringBuilder line = new StringBuilder(name).append(": ").append(oneLine(String.valueOf(e.getMessage())));
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getSuggestions().isEmpty()) {
            line.append("; did you mean ").append(String.join(" or ", unmatched.getSuggestions()));
        }
        at.getErr().println(line.append("; see ").append(name).append(" --help"));
        return ExitCode.USAGE;
    }

    private static int failed(Exception e, CommandLine at, ParseResult parsed) {
        if (e instanceof OutputException output && output.isReaderGone()) {
            return ExitCode.SOFTWARE;
        }
        return report(at, e);
    }

    /** What failed, in one line. */
    static String line(Exception e) {
        return oneLine(reason(e));
    }

    /** Tells in one line what failed; where from, too, if that is asked for. Returns the exit status. */
    static int report(CommandLine at, Exception e) {
        at.getErr().println(at.getCommandSpec().qualifiedName() + ": " + line(e));
        if (RpcrdmaCommand.isVerbose(at)) {
            e.printStackTrace(at.getErr());
        }
        return ExitCode.SOFTWARE;
    }

    private static String reason(Throwable e) {
        return switch (e) {
            case UncheckedIOException wrapper when wrapper.getCause() != null -> reason(wrapper.getCause());
            case CompletionException wrapper when wrapper.getCause() != null -> reason(wrapper.getCause());
            // The exception's own message has the detail; --verbose shows it.
            case TransportException failure
            when ConnectFailedException.in(failure).isPresent() ->
                String.valueOf(ConnectFailedException.in(failure).get().getMessage());
            // Their message is the path alone.
            case NoSuchFileException file
            when file.getReason() == null -> file.getFile() + ": no such file or directory";
            case AccessDeniedException file when file.getReason() == null -> file.getFile() + ": permission denied";
            case NotDirectoryException file -> file.getFile() + ": not a directory";
            case FileAlreadyExistsException file when file.getReason() == null -> file.getFile() + ": file exists";
            case DirectoryNotEmptyException file -> file.getFile() + ": directory not empty";
            case FileSystemLoopException file -> file.getFile() + ": a loop of links or directories";
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }

    private static String oneLine(String text) {
        return CLASS_NAME.matcher(LINE_END.matcher(text).replaceAll("; ")).replaceAll("");
    }
}
