// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.copy.CopyException;
import org.rpcrdma4j.cli.copy.LocalSide;
import org.rpcrdma4j.cli.copy.NfsSide;
import org.rpcrdma4j.cli.copy.Side;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.local.LocalPaths;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;

/** Finds what the arguments of {@code cp} name. Used by one thread. */
final class CopyPlaces implements AutoCloseable {
    private static final String FILE_URL = "file:";

    // Apart, since what is mounted for one may be closed for another that is beside it.
    private final Volumes sources;
    private final Volumes targets;

    CopyPlaces(Supplier<Volumes> volumes) {
        sources = volumes.get();
        targets = volumes.get();
    }

    /**
     * What is to be copied.
     *
     * @param name what it will be called in a directory; null if its contents go there
     */
    record Origin(Side side, NfsFile file, @Nullable FileName name) {}

    /**
     * Where it goes.
     *
     * @param path an existing directory, or the new name
     * @param special a local pipe or device, which is written to as it is
     */
    record Goal(
            Side side,
            NfsPath path,
            boolean isDirectory,
            @Nullable Path special) {}

    /** Finds what is to be copied. */
    Origin origin(String argument, boolean follow) throws IOException {
        Side side;
        NfsPath path;
        FileName name;
        if (NfsUrl.isUrl(argument)) {
            Volumes.Place place = sources.at(NfsUrl.parse(argument));
            side = new NfsSide(place.volume());
            path = place.path();
            name = place.url().path().name();
        } else {
            Path local = local(argument);
            side = new LocalSide(local);
            path = NfsPath.ROOT;
            name = local.getFileName() == null ? null : LocalPaths.nameOf(local);
        }
        NfsFile file = side.find(path, follow);
        if (file == null) {
            throw new NfsException(Status.NOENT, "copy", side.display(path));
        }
        return new Origin(side, file, name == null || name.isDots() || name.length() == 0 ? null : name);
    }

    /** A local pipe, terminal or device, whose data has no length; null if it is none. */
    static @Nullable Path stream(String argument) {
        if (NfsUrl.isUrl(argument)) {
            return null;
        }
        Path local = local(argument);
        return Files.exists(local) && !Files.isRegularFile(local) && !Files.isDirectory(local) ? local : null;
    }

    /** Finds where it goes. */
    Goal goal(String argument) throws IOException {
        return NfsUrl.isUrl(argument) ? remoteGoal(targets.at(NfsUrl.parse(argument))) : localGoal(local(argument));
    }

    private static Goal remoteGoal(Volumes.Place place) throws IOException {
        NfsVolume volume = place.volume();
        Side side = new NfsSide(volume);
        NfsFile there = side.find(place.path(), true);
        if (there != null) {
            // Its path is that behind symbolic links.
            return new Goal(side, there.path(), there.attributes().isDirectory(), null);
        }
        NfsPath above = place.path().parent();
        FileName name = place.path().name();
        if (above == null || name == null || !name.isPlain()) {
            throw new NfsException(Status.NOENT, "create", place.url().display());
        }
        NfsFile parent = side.find(above, true);
        if (parent == null) {
            throw new NfsException(
                    Status.NOENT, "create", side.display(place.path()), "there is no directory " + side.display(above));
        }
        if (!parent.attributes().isDirectory()) {
            throw new NfsException(Status.NOTDIR, "create", side.display(place.path()));
        }
        return new Goal(side, parent.path().resolve(name), false, null);
    }

    private static Goal localGoal(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            return new Goal(new LocalSide(path), NfsPath.ROOT, true, null);
        }
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            return new Goal(new LocalSide(path), NfsPath.ROOT, false, path);
        }
        // Through a link to what is behind it, unless there is nothing.
        Path file = Files.exists(path) && Files.isSymbolicLink(path) ? path.toRealPath() : path;
        Path above = file.getParent() == null ? Path.of("") : file.getParent();
        String shown = LocalPaths.toBytes(path).toString();
        if (!Files.isDirectory(above)) {
            String reason = Files.exists(above, LinkOption.NOFOLLOW_LINKS) ? "not a directory" : "no such directory";
            throw new CopyException("cannot create " + shown + ": " + reason);
        }
        FileName name = LocalPaths.nameOf(Objects.requireNonNull(file.getFileName()));
        if (!name.isPlain()) {
            throw new CopyException("cannot create " + shown + ": no such directory");
        }
        return new Goal(new LocalSide(above), NfsPath.of(name), false, null);
    }

    /** A path; as a URL if its bytes are not text. */
    private static Path local(String argument) {
        return argument.startsWith(FILE_URL + "///") ? Path.of(URI.create(argument)) : Path.of(argument);
    }

    @Override
    public void close() {
        try {
            targets.close();
        } finally {
            sources.close();
        }
    }
}
