// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;

/**
 * A tree of files that is copied from or to, local or mounted. Both kinds name files in NFS's terms: paths of names that are bytes, attributes, and
 * handles, which are equal if the files are the same.
 *
 * <p>Any thread may call any method. What fails is an {@link IOException} whose message is one line for people and names the file.
 */
public interface Side {
    /** How messages call the file. */
    String display(NfsPath path);

    /** Finds a file; null if there is none. */
    @Nullable
    NfsFile find(NfsPath path, boolean followLast) throws IOException;

    /** Lists a directory. */
    Listing list(NfsFile directory) throws IOException;

    /** Opens a regular file to be read from its beginning to its end. */
    Source open(NfsFile file) throws IOException;

    /** What a symbolic link says. */
    PathBytes readLink(NfsFile link) throws IOException;

    /**
     * Creates a regular file under a name that nobody else uses. Done twice it is the same file, and nothing is lost of what was written.
     *
     * @param mode its permission bits, of which the file system may take some away
     */
    Sink create(NfsPath path, int mode) throws IOException;

    /**
     * Creates a directory; null if there is something under that name already.
     *
     * @param mode its permission bits, of which the file system may take some away
     */
    @Nullable
    NfsFile createDirectory(NfsPath path, int mode) throws IOException;

    /** Creates a symbolic link under a name that nobody uses. */
    NfsFile createSymbolicLink(NfsPath path, PathBytes target) throws IOException;

    /** Sets attributes; links are not followed. */
    void setAttributes(NfsFile file, SetAttributes attributes) throws IOException;

    /** Renames in one step, over what may be there, if that is no directory. */
    void rename(NfsPath from, NfsPath to) throws IOException;

    /** Removes a file; that there is none is fine. */
    void remove(NfsPath path) throws IOException;

    /** The entries of a directory. Used by one thread. */
    interface Listing extends AutoCloseable {
        /**
         * The next entry; null after the last one.
         *
         * @throws EntryException if one entry cannot be had; the others can
         */
        @Nullable
        NfsFile next() throws IOException;

        @Override
        void close();
    }
}
