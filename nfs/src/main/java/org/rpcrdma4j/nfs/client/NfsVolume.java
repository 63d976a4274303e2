// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
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

    private NfsVolume() {}

    /**
     * Finds the export that holds the URL's path, and mounts it.
     *
     * @throws IOException if the host is unknown or not to be reached, or exports nothing there
     */
    public static NfsVolume mount(NfsUrl url, MountOptions options) throws IOException {
        return NotYet.value();
    }

    /**
     * A volume over a client of the caller's, which it closes, with a known root.
     *
     * @param export for messages, and for {@link #pathOf}
     */
    public static NfsVolume over(RpcClient rpc, NfsUrl export, FileHandle root, MountOptions options)
            throws IOException {
        return NotYet.value();
    }

    /** The export's own URL. */
    public NfsUrl export() {
        return NotYet.value();
    }

    /** The handle of the export's root. */
    public FileHandle root() {
        return NotYet.value();
    }

    /** The procedures themselves. */
    public NfsClient client() {
        return NotYet.value();
    }

    /** What one READ, WRITE and so on can have. */
    public NfsLimits limits() {
        return NotYet.value();
    }

    /**
     * The path below this export of a URL at the same host.
     *
     * @throws IllegalArgumentException if it is not below this export
     */
    public NfsPath pathOf(NfsUrl url) {
        return NotYet.value();
    }

    /** The URL of a path, for messages: {@code nfs://HOST/EXPORT/PATH}. */
    public String display(NfsPath path) {
        return NotYet.value();
    }

    /** Finds a file, with fresh attributes. */
    public NfsFile file(NfsPath path, boolean followLast) throws IOException {
        return NotYet.value();
    }

    /** A file's attributes. */
    public org.rpcrdma4j.nfs.protocol.Attributes attributes(NfsPath path, boolean followLast) throws IOException {
        return file(path, followLast).attributes();
    }

    /**
     * Which of the accesses ({@link org.rpcrdma4j.nfs.protocol.Access}) the server would permit; bits. Links are followed.
     */
    public int access(NfsPath path, int accesses) throws IOException {
        return NotYet.value();
    }

    /** Lists a directory, with attributes. Links are followed. */
    public NfsListing list(NfsPath path) throws IOException {
        return NotYet.value();
    }

    /** Creates a regular file. With {@link CreateMode#NEW} a name that is there already, be it a link, is NFS3ERR_EXIST. */
    public NfsFile createFile(NfsPath path, CreateMode mode, SetAttributes attributes) throws IOException {
        return NotYet.value();
    }

    /** Creates a directory. */
    public NfsFile createDirectory(NfsPath path, SetAttributes attributes) throws IOException {
        return NotYet.value();
    }

    /** Creates a symbolic link that says what is given. */
    public NfsFile createSymbolicLink(NfsPath link, PathBytes target, SetAttributes attributes) throws IOException {
        return NotYet.value();
    }

    /** Creates a hard link to an existing file; if that is a symbolic link, to the link. */
    public void createLink(NfsPath link, NfsPath existing) throws IOException {
        NotYet.value();
    }

    /** What a symbolic link says. */
    public PathBytes readLink(NfsPath link) throws IOException {
        return NotYet.value();
    }

    /** Removes a file or link, no directory. */
    public void remove(NfsPath path) throws IOException {
        NotYet.value();
    }

    /** Removes an empty directory. */
    public void removeDirectory(NfsPath path) throws IOException {
        NotYet.value();
    }

    /** Renames in one step; what was there under the new name is replaced as the server does it (RFC 1813, Section 3.3.14). */
    public void rename(NfsPath from, NfsPath to) throws IOException {
        NotYet.value();
    }

    /** Sets attributes, size included; returns what they are then. */
    public org.rpcrdma4j.nfs.protocol.Attributes setAttributes(
            NfsPath path, SetAttributes attributes, boolean followLast) throws IOException {
        return NotYet.value();
    }

    /** Sets attributes of a file that was found or made; returns what they are then. */
    public org.rpcrdma4j.nfs.protocol.Attributes setAttributes(NfsFile file, SetAttributes attributes)
            throws IOException {
        return NotYet.value();
    }

    /** Opens a regular file for reading. Links are followed. */
    public NfsReader openRead(NfsPath path) throws IOException {
        return openRead(file(path, true));
    }

    /** Opens a file that was found. No call is made for it. */
    public NfsReader openRead(NfsFile file) throws IOException {
        return NotYet.value();
    }

    /** Opens a file that was found or made for writing. No call is made for it. */
    public NfsWriter openWrite(NfsFile file) throws IOException {
        return NotYet.value();
    }

    /** How full the file system is. */
    public FsStat.Ok statFilesystem() throws IOException {
        return NotYet.value();
    }

    /** What the server said that it can do, when the volume was mounted. */
    public FsInfo.Ok filesystemInfo() {
        return NotYet.value();
    }

    /** Tells the server that the export is no longer used (UMNT), as far as it listens, and ends the client. */
    @Override
    public void close() {}
}
