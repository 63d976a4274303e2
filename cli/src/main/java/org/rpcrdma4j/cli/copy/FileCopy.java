// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.copy.Temporaries.Temporary;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.protocol.PathBytes;

/** Copies single files and links: under a temporary name first, which then replaces what was there. Any thread may call. */
final class FileCopy {
    private static final int OWNER_READ_WRITE = 0600;

    private final CopyOptions options;
    private final CopyListener listener;
    private final Temporaries temporaries;
    private final Metadata metadata;

    FileCopy(CopyOptions options, CopyListener listener, Temporaries temporaries) {
        this.options = options;
        this.listener = listener;
        this.temporaries = temporaries;
        metadata = new Metadata(options.preserve());
    }

    /**
     * Copies a regular file.
     *
     * @param isNew whether there can be nothing under that name
     * @return false if the target was there and is to be kept
     */
    boolean file(Route route, NfsFile from, NfsPath to, boolean isNew) throws IOException {
        if (!isNew && isKept(route, from, to)) {
            return false;
        }
        listener.began(route.from().display(from.path()));
        try (Source source = route.from().open(from)) {
            write(route.to(), to, source, from);
        }
        return true;
    }

    /** Copies data of unknown length; the file is the user's alone to write, and everybody's to read. */
    boolean stream(Source source, Side side, NfsPath to) throws IOException {
        NfsFile existing = side.find(to, false);
        if (existing != null) {
            requireReplaceable(side, existing);
            if (options.keepExisting()) {
                return false;
            }
        }
        write(side, to, source, null);
        return true;
    }

    private void write(Side side, NfsPath to, Source source, @Nullable NfsFile from) throws IOException {
        Temporary temporary = temporaries.in(side, parent(to));
        try {
            CRC32C checksum = options.check() ? new CRC32C() : null;
            int mode = from == null ? 0644 : metadata.mode(from.attributes());
            // ORDER: the server lets an owner write to a file that nobody may write to, or it doesn't: the last bits
            // come last.
            Sink sink = side.create(temporary.path(), (mode & 0777) | OWNER_READ_WRITE);
            NfsFile written = fill(sink, source, checksum);
            if (written != null) {
                if (from == null) {
                    Metadata.applyMode(mode, written, side);
                } else {
                    metadata.apply(from.attributes(), written, side);
                }
            }
            if (checksum != null) {
                compare(side, temporary, checksum.getValue());
            }
            // ORDER: all data is on stable storage when the name appears.
            side.rename(temporary.path(), to);
            temporaries.forget(temporary);
        } catch (IOException e) {
            throw discard(temporary, e, to);
        } catch (RuntimeException e) {
            throw discard(temporary, new IOException("internal error: " + e, e), to);
        }
        listener.copied();
    }

    private @Nullable NfsFile fill(Sink sink, Source source, @Nullable CRC32C checksum) throws IOException {
        try {
            long end = new Transfer(source, sink, checksum, listener::moved).run();
            return sink.finish(end);
        } catch (IOException | RuntimeException e) {
            sink.abort();
            throw e;
        }
    }

    private static void compare(Side side, Temporary temporary, long expected) throws IOException {
        NfsFile written = side.find(temporary.path(), false);
        if (written == null) {
            throw new CopyException("cannot read " + side.display(temporary.path()) + ": somebody removed it");
        }
        CRC32C checksum = new CRC32C();
        try (Source source = side.open(written)) {
            Sink nowhere = new NullSink();
            var _ = new Transfer(source, nowhere, checksum, _ -> {}).run();
        }
        if (checksum.getValue() != expected) {
            throw new CopyException(
                    "cannot trust " + side.display(temporary.path()) + ": what is read back is not what was written");
        }
    }

    /**
     * Removes what is not whole. What cannot be removed now stays known as temporary, and has its turn when the copy ends: an interrupted thread
     * can call nobody, and a server that is lost would be waited for once more.
     *
     * @return the failure, told of the file's own name
     */
    private IOException discard(Temporary temporary, IOException why, NfsPath to) {
        Side side = temporary.side();
        if (!Thread.currentThread().isInterrupted() && !Copier.isFinal(why)) {
            try {
                temporaries.remove(temporary);
            } catch (IOException e) {
                why.addSuppressed(e);
            }
        }
        return CopyException.renamed(why, side.display(temporary.path()), side.display(to));
    }

    /** Copies a symbolic link as a link. Returns false if the target was there and is to be kept. */
    boolean link(Route route, NfsFile from, NfsPath to, boolean isNew) throws IOException {
        PathBytes target = route.from().readLink(from);
        if (isNew) {
            preserve(route.to(), route.to().createSymbolicLink(to, target), from);
            listener.copied();
            return true;
        }
        if (isKept(route, from, to)) {
            return false;
        }
        Temporary temporary = temporaries.in(route.to(), parent(to));
        try {
            preserve(route.to(), route.to().createSymbolicLink(temporary.path(), target), from);
            route.to().rename(temporary.path(), to);
            temporaries.forget(temporary);
        } catch (IOException e) {
            throw discard(temporary, e, to);
        }
        listener.copied();
        return true;
    }

    private void preserve(Side side, NfsFile link, NfsFile from) {
        if (options.preserve()) {
            try {
                metadata.apply(from.attributes(), link, side);
            } catch (IOException _) {
                // Many file systems keep no times of links.
            }
        }
    }

    private boolean isKept(Route route, NfsFile from, NfsPath to) throws IOException {
        NfsFile existing = route.to().find(to, false);
        if (existing == null) {
            return false;
        }
        if (existing.handle().equals(from.handle())) {
            throw new CopyException("cannot copy " + route.from().display(from.path()) + ": "
                    + route.to().display(to) + " is the same file");
        }
        requireReplaceable(route.to(), existing);
        return options.keepExisting();
    }

    private static void requireReplaceable(Side side, NfsFile existing) throws IOException {
        if (!existing.attributes().isRegular() && !existing.attributes().isSymbolicLink()) {
            throw new CopyException("cannot replace " + side.display(existing.path()) + " by a file: it is "
                    + Copier.kind(existing.attributes().type()));
        }
    }

    private static NfsPath parent(NfsPath path) {
        NfsPath parent = path.parent();
        if (parent == null) {
            throw new IllegalArgumentException("a file at the place of the root");
        }
        return parent;
    }
}
