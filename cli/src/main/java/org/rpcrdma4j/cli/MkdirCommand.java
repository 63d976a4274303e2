// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.files.FileModes;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes directories. */
@Command(
        name = "mkdir",
        description = "Makes directories.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma mkdir nfs://server.example/export/new",
            "  rpcrdma mkdir -p -m 750 nfs://127.0.0.1/a/b/c",
            VolumeOptions.ABOUT_URLS
        })
final class MkdirCommand implements Callable<Integer> {
    private static final int ALL = 0777;

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "URL",
            arity = "1..*",
            converter = VolumeOptions.UrlConverter.class,
            description = "The directories.")
    private List<NfsUrl> urls;

    @Option(
            names = {"-p", "--parents"},
            description = "Make those above too; one that is there already is no error.")
    private boolean parents;

    @Option(
            names = {"-m", "--mode"},
            paramLabel = "OCTAL",
            description = "Permissions of the last directory (default: 777 without those of the umask).")
    private @Nullable String mode;

    @Mixin
    private VolumeOptions options;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    MkdirCommand() {}

    @Override
    public Integer call() throws IOException {
        int usual = ALL & ~FileModes.umask();
        int last = mode == null ? usual : parse(mode);
        return options.forEach(urls, place -> make(place, usual, last));
    }

    private int parse(String text) {
        if (!text.matches("[0-7]{1,4}")) {
            throw new ParameterException(spec.commandLine(), "--mode " + text + ": expected up to 4 octal digits");
        }
        return Integer.parseInt(text, 8);
    }

    private void make(Volumes.Place place, int usual, int last) throws IOException {
        NfsVolume volume = place.volume();
        NfsPath path = place.path();
        if (!parents) {
            volume.createDirectory(path, SetAttributes.NONE.withMode(last));
            return;
        }
        for (int depth = path.depth(); ; depth--) {
            // From the end: usually most of it is there, and what is above may be shut to the caller.
            if (depth == 0 || exists(volume, path.first(depth))) {
                for (int next = depth + 1; next <= path.depth(); next++) {
                    makeIfAbsent(volume, path.first(next), next == path.depth() ? last : usual);
                }
                return;
            }
        }
    }

    private static boolean exists(NfsVolume volume, NfsPath path) throws IOException {
        try {
            requireDirectory(volume, path);
            return true;
        } catch (NfsException e) {
            if (e.status() == Status.NOENT) {
                return false;
            }
            throw e;
        }
    }

    private static void makeIfAbsent(NfsVolume volume, NfsPath path, int mode) throws IOException {
        try {
            volume.createDirectory(path, SetAttributes.NONE.withMode(mode));
        } catch (NfsException e) {
            if (e.status() != Status.EXIST) {
                throw e;
            }
            // Somebody else made it meanwhile; if it is another thing, that is the better error.
            requireDirectory(volume, path);
        }
    }

    private static void requireDirectory(NfsVolume volume, NfsPath path) throws IOException {
        if (!volume.attributes(path, true).isDirectory()) {
            throw new NfsException(Status.NOTDIR, "make directory", volume.display(path));
        }
    }
}
