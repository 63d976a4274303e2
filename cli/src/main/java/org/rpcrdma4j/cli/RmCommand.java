// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rpcrdma4j.cli.files.TreeRemoval;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Removes files and trees. */
@Command(
        name = "rm",
        description = "Removes files, without asking. A symbolic link is removed itself, never what it leads to.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma rm nfs://server.example/export/old.txt",
            "  rpcrdma rm -r nfs://127.0.0.1/tmp/tree",
            VolumeOptions.ABOUT_URLS
        })
final class RmCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "URL",
            arity = "1..*",
            converter = VolumeOptions.UrlConverter.class,
            description = "The files.")
    private List<NfsUrl> urls;

    @Option(
            names = {"-r", "-R", "--recursive"},
            description = "Remove directories with all that is in them.")
    private boolean recursive;

    @Option(
            names = {"-f", "--force"},
            description = "What is not there is no error.")
    private boolean force;

    @Mixin
    private VolumeOptions options;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    RmCommand() {}

    @Override
    public Integer call() throws IOException {
        AtomicBoolean inside = new AtomicBoolean();
        int status = options.forEach(urls, place -> {
            try {
                remove(place, inside);
            } catch (NfsException e) {
                if (!force || e.status() != Status.NOENT) {
                    throw e;
                }
            }
        });
        return inside.get() ? 1 : status;
    }

    private void remove(Volumes.Place place, AtomicBoolean failedInside) throws IOException {
        FileName name = place.path().name();
        if (name == null || name.isDots()) {
            String what = name == null ? "it is the export's root" : "name the directory by its own name";
            throw new NfsException(Status.INVAL, "remove", place.url().display(), what);
        }
        Attributes attributes = place.volume().attributes(place.path(), false);
        if (!attributes.isDirectory()) {
            place.volume().remove(place.path());
        } else if (recursive) {
            TreeRemoval removal = new TreeRemoval(place.volume(), failure -> {
                failedInside.set(true);
                Main.report(spec.commandLine(), failure);
            });
            removal.remove(place.path(), attributes);
        } else {
            throw new NfsException(
                    Status.ISDIR, "remove", place.url().display(), "is a directory; -r removes it with its contents");
        }
    }
}
