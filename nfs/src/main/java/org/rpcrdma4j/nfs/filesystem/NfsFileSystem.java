// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * A mounted export as a file system. Its root is the export's; relative paths begin where its URL pointed to. It owns the volume, and the
 * device if that was opened for it. Used by any number of threads.
 */
final class NfsFileSystem extends FileSystem {

    private final NfsFileSystemProvider provider;
    private final NfsVolume volume;
    private final NfsUrl requested;
    private final @Nullable RdmaDevice ownedDevice;
    private final NfsFilePath root;
    private final NfsFilePath defaultDirectory;

    private final Object lock = new Object();
    private final Set<Resource> resources = new HashSet<>();
    private boolean closed;

    /** Something that is open on this file system, and is closed with it. */
    interface Resource extends Closeable {

        /** Whether the server has to be there when this is closed. */
        boolean needsServerToClose();
    }

    NfsFileSystem(
            NfsFileSystemProvider provider, NfsVolume volume, NfsUrl requested, @Nullable RdmaDevice ownedDevice) {
        this.provider = provider;
        this.volume = volume;
        this.requested = requested;
        this.ownedDevice = ownedDevice;
        root = new NfsFilePath(this, true, List.of());
        defaultDirectory = new NfsFilePath(this, true, volume.pathOf(requested).names());
    }

    static boolean followsLinks(LinkOption... options) {
        for (LinkOption option : options) {
            if (Objects.requireNonNull(option) == LinkOption.NOFOLLOW_LINKS) {
                return false;
            }
        }
        return true;
    }

    /** The volume, while this is open. */
    NfsVolume volume() {
        synchronized (lock) {
            requireOpen();
        }
        return volume;
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedFileSystemException();
        }
    }

    NfsFilePath root() {
        return root;
    }

    NfsFilePath defaultDirectory() {
        return defaultDirectory;
    }

    /** The URL of a place in the export. */
    NfsUrl url(NfsPath location) {
        NfsUrl export = volume.export();
        return export.withPath(export.path().resolve(location));
    }

    /** Whether the URL is of a place in this export. Hosts are compared as they are written. */
    boolean holds(NfsUrl url) {
        NfsUrl export = volume.export();
        NfsUrl.Transport used = transport(export);
        return url.host().equalsIgnoreCase(export.host())
                && (url.transport() == null || transport(url) == used)
                && url.portFor(used) == export.portFor(used)
                && (url.handle() == null || url.handle().equals(export.handle()))
                && url.path().startsWith(export.path());
    }

    private static NfsUrl.Transport transport(NfsUrl url) {
        return url.transport() == NfsUrl.Transport.TCP ? NfsUrl.Transport.TCP : NfsUrl.Transport.RDMA;
    }

    /** Whether to open the URL would be to open this once more, as far as that can be told without the server. */
    boolean isOpenedBy(NfsUrl url) {
        return isOf(url.withPath(volume.export().path()))
                && (url.path().equals(requested.path())
                        || url.path().equals(volume.export().path()));
    }

    /** Whether this is a mount of that export. */
    boolean isOf(NfsUrl export) {
        return holds(export)
                && transport(export) == transport(export())
                && Objects.equals(export.handle(), export().handle())
                && export.path().equals(export().path());
    }

    NfsUrl export() {
        return volume.export();
    }

    NfsFilePath path(NfsUrl url) {
        return new NfsFilePath(this, true, volume.pathOf(url).names());
    }

    <R extends Resource> R register(R resource) {
        synchronized (lock) {
            requireOpen();
            resources.add(resource);
        }
        return resource;
    }

    void unregister(Resource resource) {
        synchronized (lock) {
            resources.remove(resource);
        }
    }

    /**
     * Closes what is open on it, then the volume, then the device if that is its own. What was written is sent to stable storage.
     *
     * @throws IOException if that failed for some file; all is closed nevertheless
     */
    @Override
    public void close() throws IOException {
        List<Resource> open;
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
            open = List.copyOf(resources);
        }
        IOException failure = null;
        try {
            // ORDER: what has to write does so first; then calls that others wait for end, so that those can be closed
            // without waiting.
            for (Resource resource : open) {
                failure = resource.needsServerToClose() ? close(resource, failure) : failure;
            }
        } finally {
            volume.close();
            for (Resource resource : open) {
                failure = close(resource, failure);
            }
            if (ownedDevice != null) {
                ownedDevice.close();
            }
            provider.forget(this);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable IOException close(Resource resource, @Nullable IOException before) {
        try {
            resource.close();
            return before;
        } catch (IOException e) {
            if (before == null) {
                return e;
            }
            before.addSuppressed(e);
            return before;
        }
    }

    @Override
    public NfsFileSystemProvider provider() {
        return provider;
    }

    @Override
    public boolean isOpen() {
        synchronized (lock) {
            return !closed;
        }
    }

    /** False: the server says so when it allows no change. */
    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return List.of(root);
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return List.of(new NfsFileStore(this));
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return NamedAttributes.VIEWS;
    }

    @Override
    public NfsFilePath getPath(String first, String... more) {
        StringBuilder text = new StringBuilder(first);
        for (String part : more) {
            if (!part.isEmpty()) {
                text.append(text.isEmpty() ? "" : "/").append(part);
            }
        }
        return NfsFilePath.parse(this, PathText.encode(text.toString()));
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
        return GlobPattern.matcher(syntaxAndPattern);
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        return new NfsPrincipal.Lookup();
    }

    /** Not supported: NFS version 3 tells nobody of changes. */
    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException("NFS version 3 has no watching");
    }

    @Override
    public String toString() {
        return volume.export().display();
    }
}
