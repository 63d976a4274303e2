// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.files.FileFacts;
import org.rpcrdma4j.cli.files.LocalNames;
import org.rpcrdma4j.cli.files.NameOutput;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows the attributes of files. */
@Command(
        name = "stat",
        description = "Shows all attributes of files, or how full a file system is.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma stat nfs://server.example/export/notes.txt",
            "  rpcrdma stat --json nfs://127.0.0.1/a nfs://127.0.0.1/b",
            "  rpcrdma stat -f nfs://server.example/export",
            VolumeOptions.ABOUT_URLS
        })
final class StatCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "URL",
            arity = "1..*",
            converter = VolumeOptions.UrlConverter.class,
            description = "The files.")
    private List<NfsUrl> urls;

    @Option(
            names = {"-L", "--dereference"},
            description = "Of a symbolic link, show the file that it leads to.")
    private boolean follow;

    @Option(
            names = {"-f", "--file-system"},
            description = "Show how full the file system is.")
    private boolean fileSystem;

    @Option(names = "--json", description = "Print a JSON object for each file, one a line.")
    private boolean json;

    @Mixin
    private VolumeOptions options;

    private final LocalNames names = LocalNames.ofThisMachine();

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    StatCommand() {}

    @Override
    public Integer call() throws IOException {
        StandardStreams streams = options.streams();
        OutputStream buffered = streams.bufferedOut();
        NameOutput out = new NameOutput(buffered, streams.outIsTerminal());
        return options.forEach(urls, place -> {
            if (fileSystem) {
                show(out, place, place.volume().statFilesystem());
            } else {
                show(out, place);
            }
            buffered.flush();
        });
    }

    private void show(NameOutput out, Volumes.Place place) throws IOException {
        NfsFile file = place.volume().file(place.path(), follow);
        PathBytes target = file.attributes().isSymbolicLink() ? place.volume().readLink(place.path()) : null;
        FileFacts facts = new FileFacts(file.attributes(), file.handle(), target);
        if (json) {
            print(out, place, facts.members());
        } else {
            print(out, place, facts.lines(names, ZoneId.systemDefault()), target);
        }
    }

    private void show(NameOutput out, Volumes.Place place, FsStat.Ok facts) throws IOException {
        if (json) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("totalBytes", facts.totalBytes());
            members.put("freeBytes", facts.freeBytes());
            members.put("availableBytes", facts.availableBytes());
            members.put("totalFiles", facts.totalFiles());
            members.put("freeFiles", facts.freeFiles());
            members.put("availableFiles", facts.availableFiles());
            print(out, place, members);
            return;
        }
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("size", amount(facts.totalBytes()));
        lines.put("free", amount(facts.freeBytes()));
        lines.put("available", amount(facts.availableBytes()));
        lines.put(
                "files",
                Long.toUnsignedString(facts.totalFiles()) + ", " + Long.toUnsignedString(facts.freeFiles()) + " free");
        print(out, place, lines, null);
    }

    private static String amount(long bytes) {
        return Long.toUnsignedString(bytes) + " bytes (" + ByteSize.approximate(bytes) + ")";
    }

    private static void print(NameOutput out, Volumes.Place place, Map<String, Object> members) throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("url", place.url());
        all.putAll(members);
        out.text(JsonText.of(all)).text("\n");
    }

    private static void print(
            NameOutput out, Volumes.Place place, Map<String, String> lines, @Nullable PathBytes target)
            throws IOException {
        out.text(line("file", "nfs://" + place.url().authority()))
                .path(place.url().path());
        if (target != null) {
            out.text(" -> ").target(target);
        }
        out.text("\n");
        for (Map.Entry<String, String> line : lines.entrySet()) {
            out.text(line(line.getKey(), line.getValue())).text("\n");
        }
    }

    private static String line(String what, String text) {
        return String.format("%-13s %s", what, text);
    }
}
