// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.Path;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Status;

/** A directory in use by one call; from {@link OpenDirectories}. Its paths are good until it is closed. */
final class Directory implements AutoCloseable {

    private final OpenDirectories cache;
    private final OpenDirectories.Entry entry;
    private final Node node;
    private boolean closed;

    Directory(OpenDirectories cache, OpenDirectories.Entry entry, Node node) {
        this.cache = cache;
        this.entry = entry;
        this.node = node;
    }

    Node node() {
        return node;
    }

    /** The same directory for one more user, who closes it. */
    Directory again() {
        return cache.again(entry, node);
    }

    /** What holds it open. */
    Anchor anchor() {
        return entry.anchor;
    }

    /** The directory itself. */
    Path self() {
        return entry.anchor.self();
    }

    /** An entry of it. */
    Path child(FileName name) {
        return entry.anchor.child(name);
    }

    /** Its status now; STALE if it was removed. */
    FileStatus status() throws IOException, Refusal {
        FileStatus status = entry.anchor.status();
        if (status.links() == 0) {
            throw new Refusal(Status.STALE);
        }
        return status;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            cache.release(entry);
        }
    }
}
