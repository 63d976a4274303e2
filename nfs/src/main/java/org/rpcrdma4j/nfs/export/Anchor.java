// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.rpcrdma4j.nfs.protocol.FileName;

/**
 * A directory that is held open, with paths that begin at it. They must not be used any more when it is closed: the descriptor's number may then be
 * another file's.
 */
final class Anchor implements AutoCloseable {

    private final FileChannel channel;
    private final Path entry;
    private final Path self;

    private Anchor(FileChannel channel, Path entry) {
        this.channel = channel;
        this.entry = entry;
        self = entry.resolve(".");
    }

    /**
     * Opens a directory, not through a symbolic link at the path's end. What was opened is for the caller to find out by {@link #status}.
     *
     * @param path below an anchor, or of the root
     */
    static Anchor open(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        try {
            return new Anchor(channel, Descriptors.entryOf(channel));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Its entry in {@code /proc/self/fd}. */
    Path entry() {
        return entry;
    }

    /** The directory. */
    Path self() {
        return self;
    }

    /** An entry of it. */
    Path child(FileName name) {
        return entry.resolve(Names.toPath(name));
    }

    /** The directory's status; no links if it was removed. */
    FileStatus status() throws IOException {
        return FileStatus.read(self);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
