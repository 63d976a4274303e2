// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.CallFailedException;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.transport.client.TransportException;

/**
 * Copies files and trees: one thread walks, which is the one that calls {@link #copy}, and a bounded number of others copy files. What fails is told
 * to the listener, and the rest goes on, unless the server is not to be had any more.
 *
 * <p>Hard links become files of their own. Pipes, sockets and devices are not copied. A directory's mode, and its times, come when all that is in it
 * is there.
 *
 * <p>{@link #stop} may be called from any thread, at any time; everything else is for one thread.
 */
public final class Copier implements AutoCloseable {
    /** More than a local path can have. */
    static final int MAX_DEPTH = 2048;

    private static final int OWNER_ALL = 0700;

    private final CopyOptions options;
    private final CopyListener listener;
    private final Temporaries temporaries = new Temporaries();
    private final FileCopy files;
    private final Metadata metadata;
    private final Semaphore slots;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private volatile boolean stopped;
    private volatile @Nullable Thread walker;

    /** A copier that has nothing to do yet. */
    public Copier(CopyOptions options, CopyListener listener) {
        this.options = options;
        this.listener = listener;
        files = new FileCopy(options, listener, temporaries);
        metadata = new Metadata(options.preserve());
        slots = new Semaphore(options.filesAtOnce());
    }

    /** The directories that lead to one, to find out that a tree leads into itself, or into its copy. */
    private record Ancestors(@Nullable Ancestors above, FileHandle source, FileHandle target, int depth) {
        static int count(@Nullable Ancestors path) {
            return path == null ? 0 : path.depth;
        }

        static boolean contain(@Nullable Ancestors path, FileHandle wanted) {
            for (Ancestors at = path; at != null; at = at.above) {
                if (at.source.equals(wanted) || at.target.equals(wanted)) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Copies a file or a tree, which may go on when this has returned; {@link #await} waits for it.
     *
     * @param from what was found there
     * @param to its new place, whose parent is there
     */
    public void copy(Route route, NfsFile from, NfsPath to) {
        walker = Thread.currentThread();
        try {
            if (from.attributes().isDirectory()) {
                if (!options.recursive()) {
                    throw new CopyException(
                            "cannot copy " + route.from().display(from.path()) + ": it is a directory, which needs -r");
                }
                directory(route, from, to, null, null);
            } else {
                entry(route, from, to, false, null);
            }
        } catch (IOException e) {
            fail(e);
        }
    }

    /** Copies data of unknown length into a file. */
    public void copyStream(java.nio.channels.ReadableByteChannel in, String name, Side side, NfsPath to) {
        walker = Thread.currentThread();
        try (Source source = new StreamSource(in, name)) {
            listener.began(name);
            files.stream(source, side, to);
        } catch (IOException e) {
            fail(e);
        }
    }

    /** Copies a regular file to a stream, to its end, before it returns. */
    public void copyToStream(Side side, NfsFile from, java.nio.channels.WritableByteChannel out) throws IOException {
        walker = Thread.currentThread();
        if (!from.attributes().isRegular()) {
            throw new CopyException("cannot read " + side.display(from.path()) + ": it is "
                    + kind(from.attributes().type()));
        }
        listener.began(side.display(from.path()));
        try (Source source = side.open(from)) {
            Sink sink = new StreamSink(out);
            var _ = new Transfer(source, sink, null, listener::moved).run();
        }
        listener.copied();
    }

    private void directory(
            Route route, NfsFile from, NfsPath to, @Nullable Ancestors above, @Nullable DirectoryWork parent) {
        DirectoryWork work;
        NfsFile target;
        boolean isNew;
        try {
            requireNoLoop(route, from, above);
            NfsFile made = route.to().createDirectory(to, (metadata.mode(from.attributes()) & 0777) | OWNER_ALL);
            isNew = made != null;
            target = made == null ? existing(route.to(), to) : made;
            if (from.handle().equals(target.handle())) {
                throw new CopyException("cannot copy " + route.from().display(from.path()) + ": "
                        + route.to().display(to) + " is the same directory");
            }
            work = new DirectoryWork(parent, this::fail, () -> {
                if ((made != null || options.preserve()) && !stopped) {
                    metadata.apply(from.attributes(), target, route.to());
                }
            });
        } catch (IOException e) {
            fail(e);
            return;
        }
        try {
            Ancestors path = new Ancestors(above, from.handle(), target.handle(), Ancestors.count(above) + 1);
            for (NfsFile child : entries(route, from, to, isNew, work)) {
                if (stopped) {
                    return;
                }
                directory(route, child, to.resolve(name(child)), path, work);
            }
        } finally {
            work.end();
        }
    }

    private static void requireNoLoop(Route route, NfsFile from, @Nullable Ancestors above) throws CopyException {
        boolean isLoop = Ancestors.contain(above, from.handle());
        if (isLoop || Ancestors.count(above) >= MAX_DEPTH) {
            throw new CopyException("cannot copy " + route.from().display(from.path()) + ": the tree "
                    + (isLoop ? "leads into itself here" : "is deeper than " + MAX_DEPTH + " directories"));
        }
    }

    private static NfsFile existing(Side side, NfsPath path) throws IOException {
        NfsFile found = side.find(path, path.isRoot());
        if (found == null) {
            throw new CopyException("cannot create the directory " + side.display(path) + ": it came and went");
        }
        if (!found.attributes().isDirectory()) {
            throw new CopyException("cannot replace " + side.display(path) + " by a directory: it is "
                    + kind(found.attributes().type()));
        }
        return found;
    }

    /** Begins to copy all entries but directories; returns these, so that one listing is open at a time, however deep the tree is. */
    private List<NfsFile> entries(Route route, NfsFile from, NfsPath to, boolean isNew, DirectoryWork work) {
        List<NfsFile> directories = new ArrayList<>();
        try (Side.Listing listing = route.from().list(from)) {
            boolean goesOn = true;
            while (goesOn && !stopped) {
                try {
                    NfsFile child = listing.next();
                    goesOn = child != null;
                    if (child == null) {
                        break;
                    }
                    if (child.attributes().isDirectory()) {
                        directories.add(child);
                    } else {
                        entry(route, child, to.resolve(name(child)), isNew, work);
                    }
                } catch (EntryException e) {
                    fail(e);
                }
            }
        } catch (IOException e) {
            fail(e);
        }
        return directories;
    }

    private static FileName name(NfsFile file) {
        FileName name = file.path().name();
        if (name == null) {
            throw new IllegalStateException("an entry without a name");
        }
        return name;
    }

    private void entry(Route route, NfsFile from, NfsPath to, boolean isNew, @Nullable DirectoryWork work)
            throws IOException {
        switch (from.attributes().type()) {
            case REGULAR -> begin(work, () -> files.file(route, from, to, isNew));
            case SYMBOLIC_LINK -> begin(work, () -> files.link(route, from, to, isNew));
            default ->
                throw new EntryException("skipped " + route.from().display(from.path()) + ": it is "
                        + kind(from.attributes().type()));
        }
    }

    /** What copies one file; it may tell whether it did. */
    @FunctionalInterface
    private interface Task {
        boolean run() throws IOException;
    }

    private void begin(@Nullable DirectoryWork work, Task task) throws IOException {
        try {
            slots.acquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        if (work != null) {
            work.begin();
        }
        try {
            executor.execute(() -> run(work, task));
        } catch (java.util.concurrent.RejectedExecutionException _) {
            // It was stopped.
            end(work);
        }
    }

    private void run(@Nullable DirectoryWork work, Task task) {
        try {
            if (!stopped) {
                var _ = task.run();
            }
        } catch (IOException e) {
            fail(e);
        } catch (RuntimeException | Error e) {
            fail(new IOException("internal error: " + e, e));
        } finally {
            end(work);
        }
    }

    private void end(@Nullable DirectoryWork work) {
        // ORDER: the slot last; whoever waits for all of them finds the directories done, too.
        if (work != null) {
            work.end();
        }
        slots.release();
    }

    private void fail(IOException e) {
        if (stopped) {
            // What ends now ends because of that.
            return;
        }
        listener.failed(e);
        if (isFinal(e)) {
            // Every other file would wait as long as this one did.
            stopped = true;
        }
    }

    /** Whether there is no server any more. */
    static boolean isFinal(IOException e) {
        Throwable failure = e instanceof CopyException && e.getCause() != null ? e.getCause() : e;
        return failure instanceof CallFailedException
                && failure.getCause() instanceof TransportException lost
                && (lost.kind() == TransportException.Kind.TIMED_OUT
                        || lost.kind() == TransportException.Kind.CONNECTION_LOST);
    }

    /** Waits until all that was begun is done; returns whether the copy went to its end. */
    public boolean await() throws InterruptedIOException {
        try {
            slots.acquire(options.filesAtOnce());
            slots.release(options.filesAtOnce());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        return !stopped;
    }

    /**
     * Ends a copy early, and removes what is not whole. Harmless when it is at its end.
     *
     * @param limit how long that may take
     * @return the temporary files that may be left, as messages call them
     */
    public Set<String> stop(Duration limit) {
        stopped = true;
        Thread walking = walker;
        if (walking != null && walking != Thread.currentThread()) {
            walking.interrupt();
        }
        executor.shutdownNow();
        long half = limit.toNanos() / 2;
        try {
            // ORDER: whoever makes temporary files has ended before they are removed.
            var _ = executor.awaitTermination(half, TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return temporaries.removeAll(half);
    }

    /** Ends its threads; what is still under way is waited for. */
    @Override
    public void close() {
        executor.close();
    }

    static String kind(FileType type) {
        return switch (type) {
            case REGULAR -> "a file";
            case DIRECTORY -> "a directory";
            case BLOCK_DEVICE, CHARACTER_DEVICE -> "a device";
            case SYMBOLIC_LINK -> "a symbolic link";
            case SOCKET -> "a socket";
            case FIFO -> "a pipe";
        };
    }
}
