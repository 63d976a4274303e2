// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.transport.client.RpcClient;

/**
 * A mounted export: blocking operations on its paths.
 *
 * <p>Paths begin at the export's root and never lead out of it: {@code ..} of the root is the root, and so is where an absolute symbolic
 * link begins. Links on the way to a file are followed by the client; the last name's only where it is said. After 40 of them it is an
 * error.
 *
 * <p>An operation waits as long as {@link MountOptions#timeout} allows for a server that does not answer; calls without reply are sent again,
 * over new connections, also after the server has restarted. Operations that must not be done twice find out whether a call that was sent
 * twice was done the first time.
 *
 * <p>All methods may be called from any thread, any number at a time; a virtual thread for each is fine. Failures are {@link
 * org.rpcrdma4j.nfs.protocol.NfsException} with the server's status and {@link CallFailedException}; interruption is {@link
 * java.io.InterruptedIOException}.
 */
public final class NfsVolume implements AutoCloseable {

    private static final int MAX_DIRECTORY_BYTES = 64 << 10;
    private static final int LEAST_DIRECTORY_BYTES = 4 << 10;
    private static final int LEAST_TRANSFER_BYTES = 512;

    private final RpcClient rpc;
    private final NfsClient client;
    private final NfsUrl export;
    private final FileHandle root;
    private final MountOptions options;
    private final FsInfo.Ok info;
    private final NfsLimits limits;
    private final BufferPool buffers;
    private final PathWalk walk;
    private final Namespace namespace;
    private final Runnable unmount;

    private NfsVolume(
            RpcClient rpc, NfsUrl export, FileHandle root, MountOptions options, FsInfo.Ok info, Runnable unmount) {
        this.rpc = rpc;
        this.export = export;
        this.root = root;
        this.options = options;
        this.info = info;
        this.unmount = unmount;
        limits = limits(options, info);
        client = NfsClient.over(rpc, options);
        int bufferBytes = Math.max(limits.readBytes(), limits.writeBytes());
        buffers = new BufferPool(bufferBytes, mostIdle(options, bufferBytes));
        walk = new PathWalk(client, root, this::display);
        namespace = new Namespace(client, walk, this::display);
    }

    /** Of buffers: a COMMIT gives back at once what a writer holds, and to make that anew would cost more than the WRITEs do. */
    private static int mostIdle(MountOptions options, int bufferBytes) {
        int inFlight = 2 * (options.readAhead() + options.writeBehind());
        return (int) Math.min(Integer.MAX_VALUE, inFlight + options.uncommittedBytes() / bufferBytes);
    }

    private static NfsLimits limits(MountOptions options, FsInfo.Ok info) {
        return new NfsLimits(
                transfer(info.readMax(), options.readBytes()),
                transfer(info.writeMax(), options.writeBytes()),
                Math.clamp(info.directoryPreferred(), LEAST_DIRECTORY_BYTES, MAX_DIRECTORY_BYTES),
                info.maxFileBytes());
    }

    /** RFC 1813, Section 3.3.19: the server's largest transfer; one that says next to nothing is not taken at its word. */
    private static int transfer(long most, int wanted) {
        return Math.clamp(most, Math.min(LEAST_TRANSFER_BYTES, wanted), wanted);
    }

    /**
     * Finds the export that holds the URL's path, and mounts it.
     *
     * @throws IOException if the host is unknown or not to be reached, or exports nothing there
     */
    public static NfsVolume mount(NfsUrl url, MountOptions options) throws IOException {
        Connecting connecting = new Connecting(url, options);
        Mounting.Mounted mounted = new Mounting(url, options, connecting).mount();
        RpcClient rpc = connecting.patient();
        Runnable unmount = () -> Mounting.unmount(rpc, mounted, connecting, options);
        return open(rpc, url.withPath(mounted.export()), mounted.root(), options, unmount);
    }

    /**
     * A volume over a client of the caller's, which it closes, with a known root.
     *
     * @param export for messages, and for {@link #pathOf}
     */
    public static NfsVolume over(RpcClient rpc, NfsUrl export, FileHandle root, MountOptions options)
            throws IOException {
        return open(rpc, export, root, options, () -> {});
    }

    private static NfsVolume open(RpcClient rpc, NfsUrl export, FileHandle root, MountOptions options, Runnable unmount)
            throws IOException {
        boolean done = false;
        try {
            FsInfo.Results results = Waiting.results(
                    NfsClient.over(rpc, options).filesystemInfo(new FsInfo.Arguments(root)), "mount", export.display());
            if (!(results instanceof FsInfo.Ok info)) {
                throw new NfsException(results.status(), "mount", export.display());
            }
            done = true;
            return new NfsVolume(rpc, export, root, options, info, unmount);
        } finally {
            if (!done) {
                rpc.close();
            }
        }
    }

    /** The export's own URL. */
    public NfsUrl export() {
        return export;
    }

    /** The handle of the export's root. */
    public FileHandle root() {
        return root;
    }

    /** The procedures themselves. */
    public NfsClient client() {
        return client;
    }

    /** What one READ, WRITE and so on can have. */
    public NfsLimits limits() {
        return limits;
    }

    /**
     * The path below this export of a URL at the same host.
     *
     * @throws IllegalArgumentException if it is not below this export
     */
    public NfsPath pathOf(NfsUrl url) {
        if (!url.path().startsWith(export.path())) {
            throw new IllegalArgumentException(url.display() + " is not below " + export.display());
        }
        return url.path().after(export.path().depth());
    }

    /** The URL of a path, for messages: {@code nfs://HOST/EXPORT/PATH}. */
    public String display(NfsPath path) {
        return export.withPath(export.path().resolve(path)).display();
    }

    /** Finds a file, with fresh attributes. */
    public NfsFile file(NfsPath path, boolean followLast) throws IOException {
        return walk.withFreshHandles(() -> walk.find(path, followLast, "find"));
    }

    /** A file's attributes. */
    public Attributes attributes(NfsPath path, boolean followLast) throws IOException {
        return file(path, followLast).attributes();
    }

    /**
     * Which of the accesses ({@link Access}) the server would permit; bits. Links are followed.
     */
    public int access(NfsPath path, int accesses) throws IOException {
        return walk.withFreshHandles(() -> access(walk.find(path, true, "find"), accesses));
    }

    /** Which of the accesses ({@link Access}) to a file that was found the server would permit; bits. */
    public int access(NfsFile file, int accesses) throws IOException {
        Access.Results results = Waiting.results(
                client.access(new Access.Arguments(file.handle(), accesses)), "find", display(file.path()));
        return results instanceof Access.Ok ok ? ok.access() & accesses : 0;
    }

    /** A file that was found, with fresh attributes; wherever it is by now. */
    public NfsFile refreshed(NfsFile file) throws IOException {
        return new NfsFile(file.path(), file.handle(), walk.attributes(file.handle(), file.path(), "find"));
    }

    /** Lists a directory, with attributes. Links are followed. */
    public NfsListing list(NfsPath path) throws IOException {
        NfsFile directory = walk.withFreshHandles(() -> walk.find(path, true, "list"));
        return list(directory);
    }

    /** Lists a directory that was found. */
    public NfsListing list(NfsFile directory) throws IOException {
        if (!directory.attributes().isDirectory()) {
            throw new NfsException(Status.NOTDIR, "list", display(directory.path()));
        }
        return new NfsListing(client, directory, display(directory.path()), limits.directoryBytes());
    }

    /** Creates a regular file. With {@link CreateMode#NEW} a name that is there already, be it a link, is NFS3ERR_EXIST. */
    public NfsFile createFile(NfsPath path, CreateMode mode, SetAttributes attributes) throws IOException {
        return walk.withFreshHandles(() -> namespace.createFile(path, mode, attributes));
    }

    /** Creates a directory. */
    public NfsFile createDirectory(NfsPath path, SetAttributes attributes) throws IOException {
        return walk.withFreshHandles(() -> namespace.createDirectory(path, attributes));
    }

    /** Creates a symbolic link that says what is given. */
    public NfsFile createSymbolicLink(NfsPath link, PathBytes target, SetAttributes attributes) throws IOException {
        return walk.withFreshHandles(() -> namespace.createSymbolicLink(link, target, attributes));
    }

    /** Creates a hard link to an existing file; if that is a symbolic link, to the link. */
    public void createLink(NfsPath link, NfsPath existing) throws IOException {
        walk.withFreshHandles(() -> {
            namespace.createLink(link, existing);
            return link;
        });
    }

    /** What a symbolic link says. */
    public PathBytes readLink(NfsPath link) throws IOException {
        return walk.withFreshHandles(() -> walk.readLink(walk.find(link, false, "read"), "read"));
    }

    /** Removes a file or link, no directory. */
    public void remove(NfsPath path) throws IOException {
        walk.withFreshHandles(() -> {
            namespace.remove(path);
            return path;
        });
    }

    /** Removes an empty directory. */
    public void removeDirectory(NfsPath path) throws IOException {
        walk.withFreshHandles(() -> {
            namespace.removeDirectory(path);
            return path;
        });
    }

    /** Renames in one step; what was there under the new name is replaced as the server does it (RFC 1813, Section 3.3.14). */
    public void rename(NfsPath from, NfsPath to) throws IOException {
        walk.withFreshHandles(() -> {
            namespace.rename(from, to);
            return to;
        });
    }

    /** Sets attributes, size included; returns what they are then. */
    public Attributes setAttributes(NfsPath path, SetAttributes attributes, boolean followLast) throws IOException {
        return walk.withFreshHandles(() -> setAttributes(walk.find(path, followLast, "change"), attributes));
    }

    /** Sets attributes of a file that was found or made; returns what they are then. */
    public Attributes setAttributes(NfsFile file, SetAttributes attributes) throws IOException {
        return namespace.setAttributes(file, attributes, "change");
    }

    /** Opens a regular file for reading. Links are followed. */
    public NfsReader openRead(NfsPath path) throws IOException {
        NfsFile file = file(path, true);
        if (!file.attributes().isRegular()) {
            Status status = file.attributes().isDirectory() ? Status.ISDIR : Status.INVAL;
            throw new NfsException(status, "read", display(path));
        }
        return openRead(file);
    }

    /** Opens a file that was found. No call is made for it. */
    public NfsReader openRead(NfsFile file) {
        return new NfsReader(client, file, display(file.path()), limits.readBytes(), options.readAhead(), buffers);
    }

    /** Opens a file that was found or made for writing. No call is made for it. */
    public NfsWriter openWrite(NfsFile file) {
        return new NfsWriter(client, file, display(file.path()), limits.writeBytes(), options, buffers);
    }

    /** How full the file system is. */
    public FsStat.Ok statFilesystem() throws IOException {
        FsStat.Results results =
                Waiting.results(client.statFilesystem(new FsStat.Arguments(root)), "find", export.display());
        if (!(results instanceof FsStat.Ok ok)) {
            throw new NfsException(results.status(), "find", export.display());
        }
        return ok;
    }

    /** What the server said that it can do, when the volume was mounted. */
    public FsInfo.Ok filesystemInfo() {
        return info;
    }

    /** Tells the server that the export is no longer used (UMNT), as far as it listens, and ends the client. */
    @Override
    public void close() {
        unmount.run();
        rpc.close();
        buffers.close();
    }

    @Override
    public String toString() {
        return "NfsVolume[" + export.display() + "]";
    }
}
