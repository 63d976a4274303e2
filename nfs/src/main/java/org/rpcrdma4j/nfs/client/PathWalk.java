// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.ReadLink;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * Walks down paths, name by name, as RFC 1813 wants it of the client: the server resolves neither {@code ..} nor symbolic links. A walk keeps
 * the directories that it came through, so that {@code ..} leads back to where it came from and never above the root.
 */
final class PathWalk {

    private static final int MAX_LINKS = 40;

    private final NfsClient client;
    private final FileHandle root;
    private final Function<NfsPath, String> display;
    private final DirectoryCache cache = new DirectoryCache();

    /** A directory and the name of an entry in it, whether there is one or not. */
    record Place(NfsPath directory, FileHandle handle, FileName name) {

        NfsPath path() {
            return directory.resolve(name);
        }
    }

    PathWalk(NfsClient client, FileHandle root, Function<NfsPath, String> display) {
        this.client = client;
        this.root = root;
        this.display = display;
    }

    DirectoryCache cache() {
        return cache;
    }

    /** One walk. */
    private final class Walk {
        private final NfsPath wanted;
        private final String action;
        private final Deque<FileName> todo;
        private final List<FileName> names = new ArrayList<>();
        private final List<FileHandle> handles = new ArrayList<>();
        private int links;
        /** Of where the walk stands; null if they are to be asked for. */
        private @Nullable Attributes attributes;

        Walk(NfsPath wanted, String action) {
            this.wanted = wanted;
            this.action = action;
            todo = new ArrayDeque<>(wanted.names());
        }

        NfsPath path() {
            return new NfsPath(names);
        }

        FileHandle handle() {
            return handles.isEmpty() ? root : handles.getLast();
        }

        void go(boolean followLast) throws IOException {
            while (!todo.isEmpty()) {
                FileName name = todo.removeFirst();
                if (name.isDots()) {
                    if (name.length() == 2 && !names.isEmpty()) {
                        names.removeLast();
                        handles.removeLast();
                    }
                    attributes = null;
                } else {
                    step(name, todo.isEmpty(), followLast);
                }
            }
        }

        private void step(FileName name, boolean isLast, boolean followLast) throws IOException {
            NfsPath path = path().resolve(name);
            FileHandle cached = isLast ? null : cache.get(path);
            if (cached != null) {
                enter(name, cached, null);
                return;
            }
            NfsFile found = lookup(handle(), path, name, action);
            Attributes seen = found.attributes();
            if (seen.isSymbolicLink() && (!isLast || followLast)) {
                follow(found);
            } else if (seen.isDirectory()) {
                cache.put(path, found.handle());
                enter(name, found.handle(), seen);
            } else if (isLast) {
                enter(name, found.handle(), seen);
            } else {
                throw new NfsException(Status.NOTDIR, action, display.apply(wanted));
            }
        }

        private void enter(FileName name, FileHandle handle, @Nullable Attributes seen) {
            names.add(name);
            handles.add(handle);
            attributes = seen;
        }

        private void follow(NfsFile link) throws IOException {
            if (++links > MAX_LINKS) {
                throw new NfsException(
                        Status.INVAL, action, display.apply(wanted), "too many levels of symbolic links");
            }
            PathBytes target = readLink(link, action);
            if (target.length() == 0) {
                throw new NfsException(Status.NOENT, action, display.apply(wanted));
            }
            if (target.byteAt(0) == '/') {
                // An absolute link begins at the root of the export: nothing outside it can be meant here.
                names.clear();
                handles.clear();
            }
            attributes = null;
            List<FileName> more = parse(target).names();
            for (int i = more.size() - 1; i >= 0; i--) {
                todo.addFirst(more.get(i));
            }
        }

        private NfsPath parse(PathBytes target) throws NfsException {
            try {
                return NfsPath.parse(target.bytes());
            } catch (IllegalArgumentException e) {
                throw new NfsException(
                        Status.INVAL,
                        action,
                        display.apply(wanted),
                        "a symbolic link makes no sense: " + e.getMessage());
            }
        }
    }

    /** Finds a file, with fresh attributes. */
    NfsFile find(NfsPath path, boolean followLast, String action) throws IOException {
        Walk walk = new Walk(path, action);
        walk.go(followLast);
        Attributes attributes = walk.attributes;
        return new NfsFile(
                walk.path(),
                walk.handle(),
                attributes == null ? attributes(walk.handle(), walk.path(), action) : attributes);
    }

    /**
     * Finds the directory in which the path's last name is or will be.
     *
     * @throws NfsException NFS3ERR_INVAL if the path has no last name that could be an entry's
     */
    Place place(NfsPath path, String action) throws IOException {
        FileName name = path.name();
        NfsPath parent = path.parent();
        if (name == null || parent == null || !name.isPlain()) {
            String reason = name == null ? "it is the root of the export" : "the last name is " + name;
            throw new NfsException(Status.INVAL, action, display.apply(path), reason);
        }
        FileHandle cached = cache.get(parent);
        if (cached != null) {
            return new Place(parent, cached, name);
        }
        Walk walk = new Walk(parent, action);
        walk.go(true);
        Attributes seen = walk.attributes;
        if (seen != null && !seen.isDirectory()) {
            throw new NfsException(Status.NOTDIR, action, display.apply(path));
        }
        return new Place(walk.path(), walk.handle(), name);
    }

    /** Looks up one name; a symbolic link is not followed. */
    NfsFile lookup(FileHandle directory, NfsPath path, FileName name, String action) throws IOException {
        String subject = display.apply(path);
        Lookup.Results results = Waiting.results(client.lookup(new Lookup.Arguments(directory, name)), action, subject);
        if (!(results instanceof Lookup.Ok ok)) {
            throw new NfsException(results.status(), action, subject);
        }
        Attributes attributes = ok.attributes();
        return new NfsFile(path, ok.file(), attributes == null ? attributes(ok.file(), path, action) : attributes);
    }

    Attributes attributes(FileHandle file, NfsPath path, String action) throws IOException {
        GetAttr.Results results =
                Waiting.results(client.getAttributes(new GetAttr.Arguments(file)), action, display.apply(path));
        if (!(results instanceof GetAttr.Ok ok)) {
            throw new NfsException(results.status(), action, display.apply(path));
        }
        return ok.attributes();
    }

    PathBytes readLink(NfsFile link, String action) throws IOException {
        String subject = display.apply(link.path());
        ReadLink.Results results =
                Waiting.results(client.readLink(new ReadLink.Arguments(link.handle())), action, subject);
        if (!(results instanceof ReadLink.Ok ok)) {
            throw new NfsException(results.status(), action, subject);
        }
        return ok.target();
    }

    /** An operation on a path, which may use handles that are kept. */
    @FunctionalInterface
    interface Operation<T> {
        T run() throws IOException;
    }

    /** Runs the operation; if a handle has become stale, once more with handles from the root on. */
    <T> T withFreshHandles(Operation<T> operation) throws IOException {
        try {
            return operation.run();
        } catch (NfsException e) {
            if (e.status() != Status.STALE && e.status() != Status.BADHANDLE) {
                throw e;
            }
            cache.clear();
            return operation.run();
        }
    }
}
