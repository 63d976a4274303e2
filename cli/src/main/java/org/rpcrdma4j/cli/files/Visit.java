// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * A directory that a walk through a tree comes to. Walks keep these on a stack of their own: a tree may be deeper than a thread's.
 *
 * @param path where it is
 * @param attributes its own
 * @param above the directory that it was found in; null where the walk began
 */
public record Visit(
        NfsPath path, Attributes attributes, @Nullable Visit above) {

    /** Where a walk begins. */
    public static Visit start(NfsPath path, Attributes attributes) {
        return new Visit(path, attributes, null);
    }

    /**
     * No directory is its own ancestor, but a broken or hostile server can say so, and a walk would have no end.
     *
     * @throws NfsException if this is one of those above again
     */
    public void requireNoLoop(String action, String display) throws NfsException {
        for (Visit visit = above; visit != null; visit = visit.above) {
            if (visit.attributes.fileId() == attributes.fileId()
                    && visit.attributes.fileSystem() == attributes.fileSystem()) {
                throw new NfsException(Status.IO, action, display, "a loop in the tree: it is in itself");
            }
        }
    }
}
