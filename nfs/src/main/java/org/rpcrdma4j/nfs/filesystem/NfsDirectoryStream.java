// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsEntry;
import org.rpcrdma4j.nfs.client.NfsListing;

/** The entries of a directory. The first page is there when it is made, so that a refusal is told then. Used by any number of threads. */
final class NfsDirectoryStream implements DirectoryStream<Path>, NfsFileSystem.Resource {

    private final NfsFilePath directory;
    private final NfsListing listing;
    private final Filter<? super Path> filter;
    private final ReentrantLock lock = new ReentrantLock();
    /** The entry after the last one that was given; null at the end. */
    private @Nullable NfsEntry ahead;

    private boolean isIterated;
    private boolean closed;

    private NfsDirectoryStream(NfsFilePath directory, NfsListing listing, Filter<? super Path> filter)
            throws IOException {
        this.directory = directory;
        this.listing = listing;
        this.filter = filter;
        ahead = listing.next();
    }

    static NfsDirectoryStream open(NfsFilePath directory, Filter<? super Path> filter) throws IOException {
        NfsFileSystem fileSystem = directory.getFileSystem();
        NfsListing listing = fileSystem.volume().list(directory.location());
        boolean done = false;
        try {
            NfsDirectoryStream stream = fileSystem.register(new NfsDirectoryStream(directory, listing, filter));
            done = true;
            return stream;
        } finally {
            if (!done) {
                listing.close();
            }
        }
    }

    @Override
    public Iterator<Path> iterator() {
        lock.lock();
        try {
            if (closed || isIterated) {
                throw new IllegalStateException(closed ? "it is closed" : "it has been iterated over already");
            }
            isIterated = true;
            return new Entries();
        } finally {
            lock.unlock();
        }
    }

    private final class Entries implements Iterator<Path> {

        private @Nullable Path next;

        @Override
        public boolean hasNext() {
            lock.lock();
            try {
                if (next == null) {
                    next = take();
                }
                return next != null;
            } catch (IOException e) {
                throw new DirectoryIteratorException(e);
            } finally {
                lock.unlock();
            }
        }

        @Override
        public Path next() {
            lock.lock();
            try {
                Path given = hasNext() ? next : null;
                next = null;
                if (given == null) {
                    throw new NoSuchElementException("no more entries of " + directory);
                }
                return given;
            } finally {
                lock.unlock();
            }
        }
    }

    private @Nullable Path take() throws IOException {
        while (!closed) {
            NfsEntry entry = ahead;
            if (entry == null) {
                return null;
            }
            ahead = Failures.<@Nullable NfsEntry>about(directory, listing::next);
            Path path = directory.resolve(entry.name());
            if (filter.accept(path)) {
                return path;
            }
        }
        return null;
    }

    @Override
    public boolean needsServerToClose() {
        return false;
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                listing.close();
                directory.getFileSystem().unregister(this);
            }
        } finally {
            lock.unlock();
        }
    }
}
