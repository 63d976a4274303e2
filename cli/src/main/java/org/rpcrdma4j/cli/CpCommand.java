// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.copy.Copier;
import org.rpcrdma4j.cli.copy.CopyOptions;
import org.rpcrdma4j.cli.copy.Route;
import org.rpcrdma4j.cli.copy.Survey;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Copies files and trees to and from exports. */
@Command(
        name = "cp",
        description = {
            "Copies files and trees to, from and between exports.",
            "A file gets its name when all of it is on stable storage; what is interrupted leaves no half file. If the server "
                    + "is restarted meanwhile, the copy goes on.",
            "Permission bits are kept; the rest with --preserve. With -r, symbolic links are copied as links, otherwise followed. "
                    + "Hard links become files of their own. Pipes, sockets and devices are skipped."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma cp disk.img nfs://server.example/export/images/",
            "  rpcrdma cp -r nfs://127.0.0.1/tree /tmp",
            "  tar c . | rpcrdma cp - nfs://127.0.0.1/backup.tar",
            VolumeOptions.ABOUT_URLS
        })
final class CpCommand implements Callable<Integer> {
    private static final String STREAM = "-";

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "PATH",
            arity = "2..*",
            description = "What to copy, and as the last where to: URLs or local paths, one side at least URLs. "
                    + "- is standard input or output.")
    private List<String> arguments;

    @Option(
            names = {"-r", "-R", "--recursive"},
            description = "Copy directories with all that is in them.")
    private boolean recursive;

    @Option(
            names = {"-p", "--preserve"},
            description = "Keep times, all mode bits, and the owner if that is permitted.")
    private boolean preserve;

    @Option(
            names = {"-n", "--no-clobber"},
            description = "Leave files that are there already.")
    private boolean keepExisting;

    @Option(names = "--check", description = "Read each file back and compare checksums before it gets its name.")
    private boolean check;

    @Option(
            names = {"-q", "--quiet"},
            description = "No progress bar.")
    private boolean quiet;

    @Option(
            names = "--files",
            paramLabel = "N",
            defaultValue = "32",
            description = "How many files to copy at once (default: ${DEFAULT-VALUE}).")
    private int filesAtOnce;

    @Mixin
    private VolumeOptions options;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    CpCommand() {}

    @Override
    public Integer call() throws IOException {
        List<String> sources = arguments.subList(0, arguments.size() - 1);
        String target = arguments.getLast();
        checkUsage(sources, target);
        StandardStreams streams = options.streams();
        boolean isShown = !quiet && !(target.equals(STREAM) && streams.outIsTerminal());
        CopyOptions how = new CopyOptions(recursive, preserve, keepExisting, check, filesAtOnce);
        try (CopyPlaces places = new CopyPlaces(options::volumes);
                CopyProgress progress = new CopyProgress(spec.commandLine(), streams, label(sources), isShown);
                Copier copier = new Copier(how, progress);
                CopyInterruption interruption = new CopyInterruption(copier, progress, shown(target))) {
            try {
                copyAll(sources, target, places, copier, progress);
            } catch (IOException e) {
                if (interruption.hasHappened()) {
                    return 1;
                }
                throw e;
            }
            if (interruption.hasHappened()) {
                return 1;
            }
            reportLeft(copier.stop(CopyInterruption.LIMIT), progress);
            progress.finish();
            return progress.hasFailed() ? 1 : 0;
        }
    }

    private void checkUsage(List<String> sources, String target) {
        boolean toUrl = NfsUrl.isUrl(target);
        for (String source : sources) {
            if (!toUrl && !NfsUrl.isUrl(source)) {
                throw wrong("neither " + shown(source) + " nor " + shown(target) + " is an nfs:// URL");
            }
            if (source.equals(STREAM) && (sources.size() > 1 || recursive)) {
                throw wrong("- is copied by itself, without -r");
            }
            checkUrl(source);
        }
        checkUrl(target);
        if (target.equals(STREAM) && (sources.size() > 1 || recursive)) {
            throw wrong("one file goes to -, without -r");
        }
        if (filesAtOnce < 1 || filesAtOnce > 1024) {
            throw wrong("--files " + filesAtOnce + ": expected 1 to 1024");
        }
    }

    private void checkUrl(String argument) {
        if (NfsUrl.isUrl(argument)) {
            try {
                var _ = NfsUrl.parse(argument);
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
            }
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private static String label(List<String> sources) {
        String first = shown(sources.getFirst());
        return sources.size() > 1 ? sources.size() + " sources" : first.substring(first.lastIndexOf('/') + 1);
    }

    private static String shown(String argument) {
        return argument.equals(STREAM) ? "standard output" : argument;
    }

    private void copyAll(List<String> sources, String target, CopyPlaces places, Copier copier, CopyProgress progress)
            throws IOException {
        if (target.equals(STREAM)) {
            CopyPlaces.Origin origin = places.origin(sources.getFirst(), true);
            progress.expect(origin.file().attributes().size());
            copier.copyToStream(origin.side(), origin.file(), options.streams().out());
            return;
        }
        CopyPlaces.Goal goal = places.goal(target);
        if (sources.size() > 1 && !goal.isDirectory()) {
            throw new NfsException(Status.NOTDIR, "copy to", shown(target));
        }
        for (String source : sources) {
            try {
                copyOne(source, goal, places, copier, progress);
            } catch (InterruptedIOException | OutputException e) {
                throw e;
            } catch (IOException e) {
                progress.failed(e);
            }
            // What is mounted for the next one may take this one's volume away.
            if (!copier.await()) {
                return;
            }
        }
    }

    private void copyOne(String source, CopyPlaces.Goal goal, CopyPlaces places, Copier copier, CopyProgress progress)
            throws IOException {
        Path stream = recursive || source.equals(STREAM) ? null : CopyPlaces.stream(source);
        if (source.equals(STREAM)) {
            copyStream(options.streams().in(), "standard input", null, goal, copier);
        } else if (stream != null) {
            try (FileChannel channel = FileChannel.open(stream, StandardOpenOption.READ)) {
                copyStream(channel, source, stream, goal, copier);
            }
        } else if (goal.special() != null) {
            CopyPlaces.Origin origin = places.origin(source, true);
            progress.expect(origin.file().attributes().size());
            try (WritableByteChannel channel = FileChannel.open(goal.special(), StandardOpenOption.WRITE)) {
                copier.copyToStream(origin.side(), origin.file(), channel);
            }
        } else {
            copyTree(places.origin(source, !recursive), goal, copier, progress);
        }
    }

    private static void copyStream(
            ReadableByteChannel in, String name, @Nullable Path path, CopyPlaces.Goal goal, Copier copier)
            throws IOException {
        if (goal.isDirectory() && path == null) {
            throw new NfsException(Status.ISDIR, "write", goal.side().display(goal.path()));
        }
        NfsPath to = goal.isDirectory() && path != null
                ? goal.path().resolve(String.valueOf(path.getFileName()))
                : goal.path();
        copier.copyStream(in, name, goal.side(), to);
    }

    private static void copyTree(CopyPlaces.Origin origin, CopyPlaces.Goal goal, Copier copier, CopyProgress progress)
            throws IOException {
        var name = origin.name();
        NfsPath to = goal.isDirectory() && name != null ? goal.path().resolve(name) : goal.path();
        Route route = new Route(origin.side(), goal.side());
        if (!progress.isShown()) {
            copier.copy(route, origin.file(), to);
            return;
        }
        try (Survey _ = new Survey(origin.side(), origin.file(), progress::expect)) {
            copier.copy(route, origin.file(), to);
            var _ = copier.await();
        }
    }

    static void reportLeft(Set<String> left, CopyProgress progress) {
        if (!left.isEmpty()) {
            progress.tell("could not remove " + String.join(", ", left));
        }
    }
}
