// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Renames and moves files inside an export. */
@Command(
        name = "mv",
        description = {
            "Renames a file or directory, or moves several into a directory, inside one export.",
            "Each is moved in one step; what was there under the new name is replaced."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma mv nfs://server.example/export/a nfs://server.example/export/b",
            "  rpcrdma mv -n nfs://127.0.0.1/x nfs://127.0.0.1/y nfs://127.0.0.1/directory",
            VolumeOptions.ABOUT_URLS
        })
final class MvCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "URL",
            arity = "2..*",
            converter = VolumeOptions.UrlConverter.class,
            description = "What to move, and as the last its new name, or the directory to move it into.")
    private List<NfsUrl> urls;

    @Option(
            names = {"-n", "--no-clobber"},
            description = "Leave what is there under the new name, and do nothing then.")
    private boolean keep;

    @Option(
            names = {"-f", "--force"},
            description = "Replace what is there under the new name (the default).")
    private boolean replace;

    @Option(
            names = {"-T", "--no-target-directory"},
            description = "The last URL is the new name, even if a directory is there.")
    private boolean exact;

    @Mixin
    private VolumeOptions options;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    MvCommand() {}

    @Override
    public Integer call() throws IOException {
        List<NfsUrl> sources = urls.subList(0, urls.size() - 1);
        if (replace && keep) {
            throw new ParameterException(spec.commandLine(), "--force and --no-clobber exclude each other");
        }
        if (exact && sources.size() > 1) {
            throw new ParameterException(spec.commandLine(), "--no-target-directory takes two URLs");
        }
        int status = 0;
        try (Volumes volumes = options.volumes()) {
            Volumes.Place target = volumes.at(urls.getLast());
            boolean into = !exact && isDirectory(target);
            if (!into && sources.size() > 1) {
                throw new NfsException(Status.NOTDIR, "move into", target.url().display());
            }
            for (NfsUrl source : sources) {
                try {
                    move(volumes.at(source), target, into);
                } catch (IOException e) {
                    status = Main.report(spec.commandLine(), e);
                }
            }
        }
        return status;
    }

    private void move(Volumes.Place source, Volumes.Place target, boolean into) throws IOException {
        FileName name = source.path().name();
        if (name == null || name.isDots()) {
            String what = name == null ? "it is the export's root" : "name the directory by its own name";
            throw new NfsException(Status.INVAL, "move", source.url().display(), what);
        }
        if (!isSameExport(source.volume(), target.volume())) {
            throw new NfsException(
                    Status.XDEV,
                    "move",
                    source.url().display() + " to " + target.url().display(),
                    "not in one export; cp and rm do that");
        }
        NfsPath to = into ? target.path().resolve(name) : target.path();
        if (!keep || attributes(target.volume(), to, false) == null) {
            target.volume().rename(source.path(), to);
        }
    }

    private static boolean isSameExport(NfsVolume one, NfsVolume other) {
        NfsUrl first = one.export();
        NfsUrl second = other.export();
        return one == other
                || (first.host().equals(second.host())
                        && first.port() == second.port()
                        && first.path().equals(second.path())
                        && one.root().equals(other.root()));
    }

    private static boolean isDirectory(Volumes.Place place) throws IOException {
        Attributes attributes = attributes(place.volume(), place.path(), true);
        return attributes != null && attributes.isDirectory();
    }

    private static @Nullable Attributes attributes(NfsVolume volume, NfsPath path, boolean follow) throws IOException {
        try {
            return volume.attributes(path, follow);
        } catch (NfsException e) {
            if (e.status() == Status.NOENT) {
                return null;
            }
            throw e;
        }
    }
}
