// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;

/**
 * A regular file for one call to read or write; from {@link Export#open}. The caller's, and to be closed by it, on any thread; the channel behind it is
 * shared with other calls and stays open for a while.
 */
public final class OpenFile implements AutoCloseable {

    private final Tree tree;
    private final OpenFiles cache;
    private final OpenFiles.Entry entry;
    private final FileStatus before;
    private final long generation;
    private boolean closed;

    OpenFile(Tree tree, OpenFiles cache, OpenFiles.Entry entry, FileStatus before) {
        this.tree = tree;
        this.cache = cache;
        this.entry = entry;
        this.before = before;
        generation = entry.isForWriting() ? cache.beginChange(entry) : 0;
    }

    /**
     * The channel, readable or writable as asked. To be used with explicit positions only, as others use it at the same time, and by threads that
     * nobody interrupts: an interrupt closes it for all.
     */
    public FileChannel channel() {
        return entry.channel;
    }

    /** The file's size when it was opened, in bytes. */
    public long sizeAtOpening() {
        return before.size();
    }

    /** The file's attributes now; null if they can't be had. */
    public @Nullable Attributes attributes() {
        try {
            return tree.attributes(entry.status());
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * What became of the file since it was opened, for WRITE and COMMIT. RFC 1813, Section 2.6: without the attributes before if another call changed
     * the file meanwhile, as they would hide that change from the client.
     */
    public WeakCacheData change() {
        Attributes after = attributes();
        boolean alone = cache.isAlone(entry, generation);
        return WeakCacheData.of(alone ? tree.attributes(before) : null, after);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (entry.isForWriting()) {
            cache.endChange(entry);
        }
        cache.release(entry);
    }
}
