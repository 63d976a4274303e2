// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The file systems that are to answer alike: the local one, and a directory of it that is mounted. */
enum TestedFileSystem {
    LOCAL,
    NFS;

    /** Shows the files of the directory. */
    Opened open(Path directory) throws IOException {
        if (this == LOCAL) {
            return new Opened(directory, null);
        }
        MountedDirectory mounted = new MountedDirectory(directory);
        return new Opened(mounted.root(), mounted);
    }

    /** The root of what is shown, and the mount behind it, if there is one. */
    record Opened(Path root, @Nullable MountedDirectory mounted) implements AutoCloseable {

        @Override
        public void close() throws IOException {
            if (mounted != null) {
                mounted.close();
            }
        }
    }
}
