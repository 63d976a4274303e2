// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.CreateMode;
import org.rpcrdma4j.nfs.client.NfsEntry;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsListing;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;

/** Files of a mounted export. The volume stays the caller's. */
public final class NfsSide implements Side {
    private final NfsVolume volume;

    /** All of the export. */
    public NfsSide(NfsVolume volume) {
        this.volume = volume;
    }

    @Override
    public String display(NfsPath path) {
        return volume.display(path);
    }

    @Override
    public @Nullable NfsFile find(NfsPath path, boolean followLast) throws IOException {
        try {
            return volume.file(path, followLast);
        } catch (NfsException e) {
            if (e.status() == Status.NOENT) {
                return null;
            }
            throw e;
        }
    }

    @Override
    public Listing list(NfsFile directory) throws IOException {
        return new VolumeListing(directory.path(), volume.list(directory.path()));
    }

    private final class VolumeListing implements Listing {
        private final NfsPath directory;
        private final NfsListing entries;

        VolumeListing(NfsPath directory, NfsListing entries) {
            this.directory = directory;
            this.entries = entries;
        }

        @Override
        public @Nullable NfsFile next() throws IOException {
            NfsEntry entry = entries.next();
            if (entry == null) {
                return null;
            }
            // A server could name a file "../x", and so reach out of the tree that is written.
            if (!entry.name().isPlain()) {
                throw new EntryException("cannot read " + volume.display(directory)
                        + ": the server says that it holds \"" + entry.name() + "\", which is no name");
            }
            NfsPath path = directory.resolve(entry.name());
            FileHandle handle = entry.handle();
            Attributes attributes = entry.attributes();
            if (handle != null && attributes != null) {
                return new NfsFile(path, handle, attributes);
            }
            try {
                return volume.file(path, false);
            } catch (NfsException e) {
                throw new EntryException(e);
            }
        }

        @Override
        public void close() {
            entries.close();
        }
    }

    @Override
    public Source open(NfsFile file) throws IOException {
        return new NfsSource(volume.openRead(file));
    }

    @Override
    public PathBytes readLink(NfsFile link) throws IOException {
        return volume.readLink(link.path());
    }

    @Override
    public Sink create(NfsPath path, int mode) throws IOException {
        // ORDER: no size is asked for, so that a copy of the call that arrives late takes nothing away of what was
        // written since.
        NfsFile file = volume.createFile(path, CreateMode.EXISTING_TOO, SetAttributes.NONE.withMode(mode));
        return new NfsSink(volume, file);
    }

    @Override
    public @Nullable NfsFile createDirectory(NfsPath path, int mode) throws IOException {
        if (path.isRoot()) {
            return null;
        }
        try {
            return volume.createDirectory(path, SetAttributes.NONE.withMode(mode));
        } catch (NfsException e) {
            if (e.status() == Status.EXIST) {
                return null;
            }
            throw e;
        }
    }

    @Override
    public NfsFile createSymbolicLink(NfsPath path, PathBytes target) throws IOException {
        return volume.createSymbolicLink(path, target, SetAttributes.NONE);
    }

    @Override
    public void setAttributes(NfsFile file, SetAttributes attributes) throws IOException {
        if (!attributes.equals(SetAttributes.NONE)) {
            var _ = volume.setAttributes(file, attributes);
        }
    }

    @Override
    public void rename(NfsPath from, NfsPath to) throws IOException {
        volume.rename(from, to);
    }

    @Override
    public void remove(NfsPath path) throws IOException {
        try {
            volume.remove(path);
        } catch (NfsException e) {
            if (e.status() != Status.NOENT) {
                throw e;
            }
        }
    }
}
