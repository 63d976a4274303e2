// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileName;

/**
 * A file or directory that {@link NodeTable} remembers. The table's lock guards everything that changes; {@link #places} may be read without.
 */
final class Node {

    /**
     * Where a file was seen.
     *
     * @param parent the directory
     * @param name its name there
     */
    record Place(Node parent, FileName name) {}

    final long inode;

    /** {@link FileStatus#birth}; 0 if births aren't told. */
    final long birth;

    final boolean isDirectory;

    /** The last one first; none if it isn't known any more. A directory has one at most. The list is immutable. */
    private volatile List<Place> places = List.of();

    /** How many places of others are in here; it isn't forgotten while there are any. */
    int children;

    /** The table's list of those that may be forgotten, the longest unused one first. */
    @Nullable
    Node older;

    @Nullable
    Node newer;

    boolean listed;

    Node(long inode, long birth, boolean isDirectory) {
        this.inode = inode;
        this.birth = birth;
        this.isDirectory = isDirectory;
    }

    List<Place> places() {
        return places;
    }

    void setPlaces(List<Place> newPlaces) {
        places = List.copyOf(newPlaces);
    }

    /** The directory that it is in, as far as known. */
    @Nullable
    Node parent() {
        List<Place> now = places;
        return now.isEmpty() ? null : now.getFirst().parent;
    }

    @Override
    public String toString() {
        return "inode " + inode;
    }
}
