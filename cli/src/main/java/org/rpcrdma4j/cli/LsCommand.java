// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.files.Entries;
import org.rpcrdma4j.cli.files.FileFacts;
import org.rpcrdma4j.cli.files.LocalNames;
import org.rpcrdma4j.cli.files.LongFormat;
import org.rpcrdma4j.cli.files.NameOutput;
import org.rpcrdma4j.cli.files.Visit;
import org.rpcrdma4j.nfs.client.NfsEntry;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists directories. */
@Command(
        name = "ls",
        description = {
            "Lists directories, one name a line, sorted by the bytes of the names.",
            "On a terminal, bytes that can't be printed are shown as \\xHH; elsewhere names are written as they are."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma ls nfs://server.example/export",
            "  rpcrdma ls -l nfs://127.0.0.1:20049/photos/2026",
            "  rpcrdma ls -R --json nfs://127.0.0.1/ | jq -r .url",
            VolumeOptions.ABOUT_URLS
        })
final class LsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "URL",
            arity = "1..*",
            converter = VolumeOptions.UrlConverter.class,
            description = "The directories, or files.")
    private List<NfsUrl> urls;

    @Option(
            names = {"-l", "--long"},
            description = "Show mode, links, owner, group, size, time of modification, and what symbolic links say.")
    private boolean wide;

    @Option(
            names = {"-n", "--numeric"},
            description = "As -l, with the numbers of owner and group.")
    private boolean numeric;

    @Option(
            names = {"-a", "--all"},
            description = "Show names that begin with a dot too.")
    private boolean hidden;

    @Option(
            names = {"-R", "--recursive"},
            description = "List the directories in it too, and so on.")
    private boolean recursive;

    @Option(
            names = {"-d", "--directory"},
            description = "Show a directory itself, not what is in it.")
    private boolean itself;

    @Option(names = "--json", description = "Print a JSON object for each file, one a line.")
    private boolean json;

    @Mixin
    private VolumeOptions options;

    private LocalNames names = LocalNames.numbersOnly();
    private int status;
    private boolean first = true;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    LsCommand() {}

    @Override
    public Integer call() throws IOException {
        wide |= numeric;
        if (wide && !numeric) {
            names = LocalNames.ofThisMachine();
        }
        StandardStreams streams = options.streams();
        OutputStream buffered = streams.bufferedOut();
        NameOutput out = new NameOutput(buffered, streams.outIsTerminal());
        int failed = options.forEach(urls, place -> {
            try {
                show(out, place);
            } finally {
                // ORDER: what is known stands before the line that tells what failed.
                buffered.flush();
            }
        });
        return Math.max(failed, status);
    }

    private void show(NameOutput out, Volumes.Place place) throws IOException {
        NfsFile file = find(place);
        if (itself || !file.attributes().isDirectory()) {
            FileName label = FileName.of(place.url().display());
            NfsEntry entry = new NfsEntry(label, file.attributes().fileId(), file.handle(), file.attributes());
            PathBytes target =
                    file.attributes().isSymbolicLink() ? place.volume().readLink(place.path()) : null;
            if (json) {
                print(out, place.url(), entry, target);
            } else {
                print(out, List.of(entry), target == null ? Map.of() : Map.of(label, target));
            }
            first = false;
            return;
        }
        Deque<Visit> open = new ArrayDeque<>();
        open.push(Visit.start(place.path(), file.attributes()));
        while (!open.isEmpty()) {
            Visit visit = open.pop();
            try {
                List<Visit> inside = list(out, place, visit);
                // ORDER: last in, first out: the first of those inside comes next.
                inside.reversed().forEach(open::push);
            } catch (OutputException e) {
                throw e;
            } catch (IOException e) {
                if (visit.above() == null) {
                    throw e;
                }
                status = Main.report(spec.commandLine(), e);
            }
        }
    }

    /** As ls does: a link is shown as what it leads to, unless it leads nowhere or links are asked for. */
    private NfsFile find(Volumes.Place place) throws IOException {
        boolean follow = !itself && !wide && !json;
        try {
            return place.volume().file(place.path(), follow);
        } catch (NfsException e) {
            if (follow && e.status() == Status.NOENT) {
                return place.volume().file(place.path(), false);
            }
            throw e;
        }
    }

    /** Lists one directory, and returns those in it if they are to be listed too. */
    private List<Visit> list(NameOutput out, Volumes.Place place, Visit visit) throws IOException {
        NfsVolume volume = place.volume();
        visit.requireNoLoop("list", volume.display(visit.path()));
        List<NfsEntry> entries = Entries.read(volume, visit.path(), hidden);
        Map<FileName, PathBytes> targets = wide || json ? Entries.targets(volume, visit.path(), entries) : Map.of();
        NfsPath below =
                place.url().path().resolve(visit.path().after(place.path().depth()));
        if (json) {
            for (NfsEntry entry : entries) {
                print(out, place.url().withPath(below.resolve(entry.name())), entry, targets.get(entry.name()));
            }
        } else {
            if (recursive || urls.size() > 1) {
                out.text((first ? "" : "\n") + "nfs://" + place.url().authority())
                        .path(below)
                        .text(below.isRoot() ? "/:\n" : ":\n");
            }
            print(out, entries, targets);
        }
        first = false;
        return recursive ? directories(visit, entries) : List.of();
    }

    private static List<Visit> directories(Visit visit, List<NfsEntry> entries) {
        List<Visit> directories = new ArrayList<>();
        for (NfsEntry entry : entries) {
            Attributes attributes = entry.attributes();
            if (attributes != null && attributes.isDirectory()) {
                directories.add(new Visit(visit.path().resolve(entry.name()), attributes, visit));
            }
        }
        return directories;
    }

    private void print(NameOutput out, List<NfsEntry> entries, Map<FileName, PathBytes> targets) throws IOException {
        LongFormat format = new LongFormat(names, ZoneId.systemDefault());
        if (wide) {
            entries.forEach(entry -> format.measure(entry.attributes()));
        }
        for (NfsEntry entry : entries) {
            if (wide) {
                out.text(format.columns(entry.attributes()));
            }
            out.name(entry.name());
            PathBytes target = wide ? targets.get(entry.name()) : null;
            if (target != null) {
                out.text(" -> ").target(target);
            }
            out.text("\n");
        }
    }

    private static void print(NameOutput out, NfsUrl url, NfsEntry entry, @Nullable PathBytes target)
            throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("url", url);
        Attributes attributes = entry.attributes();
        if (attributes == null) {
            all.put("fileId", new java.math.BigInteger(Long.toUnsignedString(entry.fileId())));
        } else {
            all.putAll(new FileFacts(attributes, entry.handle(), target).members());
        }
        out.text(JsonText.of(all)).text("\n");
    }
}
