// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileName;

/**
 * The file of a handle, where it was found; in use by one call, until closed.
 *
 * @param directory the file itself if it is a directory, else the directory that it is in
 * @param name its name in {@code directory}; null if it is a directory
 * @param status when it was found
 */
record Located(Node node, Directory directory, @Nullable FileName name, FileStatus status) implements AutoCloseable {

    /** To be used without following a link at its end. */
    Path path() {
        FileName entry = name;
        return entry == null ? directory.self() : directory.child(entry);
    }

    /** Its status now, if it is still there; the caller keeps others from moving it. */
    FileStatus statusNow() throws IOException, Refusal {
        return name == null ? directory.status() : FileStatus.read(path());
    }

    @Override
    public void close() {
        directory.close();
    }
}
