// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.PathConf;
import org.rpcrdma4j.nfs.protocol.ReadLink;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.Time;

/** The procedures that change nothing, but for those of reading: GETATTR, LOOKUP, ACCESS, READLINK, FSSTAT, FSINFO, PATHCONF. */
final class Queries {

    /** Java does not tell how many files a file system can hold; this is what clients are told that there is, and that is free. */
    private static final long MANY_FILES = 1L << 40;

    /** As ext4 has it; LINK is refused by the file system itself with NFS3ERR_MLINK. */
    private static final long MAX_LINKS = 65_000;

    private static final long BLOCK = 4096;
    private static final long DIRECTORY_PREFERRED = 64 << 10;

    private final Tree tree;
    private final FileStore store;

    Queries(Tree tree, FileStore store) {
        this.tree = tree;
        this.store = store;
    }

    GetAttr.Results getAttr(GetAttr.Arguments call) {
        try (Located file = tree.resolver().locate(call.file())) {
            return new GetAttr.Ok(tree.attributes(file.status()));
        } catch (IOException | Refusal e) {
            return new GetAttr.Failed(Failures.statusOf(e));
        }
    }

    Lookup.Results lookup(Identity who, Lookup.Arguments call) {
        try (Directory directory = tree.resolver().directory(call.directory())) {
            try {
                return lookup(who, directory, call.name());
            } catch (IOException | Refusal e) {
                return new Lookup.Failed(Failures.statusOf(e), tree.attributesOf(directory));
            }
        } catch (IOException | Refusal e) {
            return new Lookup.Failed(Failures.statusOf(e), null);
        }
    }

    private Lookup.Results lookup(Identity who, Directory directory, FileName name) throws IOException, Refusal {
        Names.check(name);
        FileStatus status = directory.status();
        tree.permissions().requireSearch(who, status);
        if (name.isDots()) {
            // The root is its own parent.
            Node parent = name.equals(Names.DOT_DOT) ? directory.node().parent() : null;
            if (parent == null) {
                return found(status, status);
            }
            try (Directory above = tree.resolver().directory(parent)) {
                return found(above.status(), status);
            }
        }
        FileStatus entry = step(directory, name);
        return found(entry, status);
    }

    private Lookup.Ok found(FileStatus file, FileStatus directory) {
        return new Lookup.Ok(tree.handleOf(file), tree.attributes(file), tree.attributes(directory));
    }

    /** Looks an entry up and remembers it. */
    private FileStatus step(Directory directory, FileName name) throws IOException, Refusal {
        // ORDER: shared from the look to the note, so that a rename in between is not forgotten.
        try (DirectoryLocks.Held _ = tree.locks().share(directory.node())) {
            FileStatus status = tree.entry(directory, name);
            tree.remember(directory, name, status);
            return status;
        }
    }

    /** The directory at a path below the root; {@code .} and {@code ..} and double slashes are as in any path, but nothing is above the root. */
    FileHandle mount(PathBytes path) throws IOException, Refusal {
        Node at = tree.table().root();
        byte[] bytes = path.bytes();
        int start = 0;
        for (int end = 0; end <= bytes.length; end++) {
            if (end == bytes.length || bytes[end] == '/') {
                if (end > start) {
                    at = step(at, FileName.of(Arrays.copyOfRange(bytes, start, end)));
                }
                start = end + 1;
            }
        }
        return tree.handles().encode(at.inode, at.birth);
    }

    private Node step(Node from, FileName name) throws IOException, Refusal {
        Names.check(name);
        if (name.isDots()) {
            Node parent = name.equals(Names.DOT_DOT) ? from.parent() : null;
            return parent == null ? from : parent;
        }
        try (Directory directory = tree.resolver().directory(from);
                DirectoryLocks.Held _ = tree.locks().share(from)) {
            FileStatus status = tree.entry(directory, name);
            if (!status.isDirectory()) {
                throw new Refusal(Status.NOTDIR);
            }
            return tree.remember(directory, name, status);
        }
    }

    Access.Results access(Identity who, Access.Arguments call) {
        return of(
                call.file(),
                (status, attributes) ->
                        new Access.Ok(attributes, tree.permissions().access(who, status, call.access())),
                Access.Failed::new);
    }

    ReadLink.Results readLink(ReadLink.Arguments call) {
        try (Located file = tree.resolver().locate(call.link())) {
            try {
                // RFC 1813, Section 3.3.5: INVAL for what isn't a symbolic link.
                if (!file.status().isSymbolicLink()) {
                    throw new Refusal(Status.INVAL);
                }
                Path target = Files.readSymbolicLink(file.path());
                Attributes after = tree.attributesOf(file);
                if (after == null) {
                    // Another file may have been put there meanwhile.
                    throw new Refusal(Status.JUKEBOX);
                }
                return new ReadLink.Ok(after, Names.toBytes(target));
            } catch (IOException | Refusal e) {
                return new ReadLink.Failed(Failures.statusOf(e), tree.attributesOf(file));
            }
        } catch (IOException | Refusal e) {
            return new ReadLink.Failed(Failures.statusOf(e), null);
        }
    }

    FsStat.Results fsStat(FsStat.Arguments call) {
        try (Located file = tree.resolver().locate(call.root())) {
            Attributes attributes = tree.attributes(file.status());
            try {
                return new FsStat.Ok(
                        attributes,
                        store.getTotalSpace(),
                        store.getUnallocatedSpace(),
                        store.getUsableSpace(),
                        MANY_FILES,
                        MANY_FILES,
                        MANY_FILES,
                        0);
            } catch (IOException e) {
                return new FsStat.Failed(Failures.statusOf(e), attributes);
            }
        } catch (IOException | Refusal e) {
            return new FsStat.Failed(Failures.statusOf(e), null);
        }
    }

    FsInfo.Results fsInfo(FsInfo.Arguments call) {
        ExportOptions options = tree.options();
        return of(
                call.root(),
                (_, attributes) -> new FsInfo.Ok(
                        attributes,
                        options.maxReadBytes(),
                        options.maxReadBytes(),
                        BLOCK,
                        options.maxWriteBytes(),
                        options.maxWriteBytes(),
                        BLOCK,
                        Math.min(DIRECTORY_PREFERRED, options.maxDirectoryBytes()),
                        Long.MAX_VALUE,
                        new Time(0, 1),
                        FsInfo.LINK | FsInfo.SYMLINK | FsInfo.HOMOGENEOUS | FsInfo.CAN_SET_TIME),
                FsInfo.Failed::new);
    }

    PathConf.Results pathConf(PathConf.Arguments call) {
        return of(
                call.file(),
                (_, attributes) -> new PathConf.Ok(attributes, MAX_LINKS, Names.MAX_BYTES, true, true, false, true),
                PathConf.Failed::new);
    }

    private <R extends NfsResults> R of(
            FileHandle handle,
            BiFunction<FileStatus, Attributes, R> results,
            BiFunction<Status, @Nullable Attributes, R> failed) {
        try (Located file = tree.resolver().locate(handle)) {
            return results.apply(file.status(), tree.attributes(file.status()));
        } catch (IOException | Refusal e) {
            return failed.apply(Failures.statusOf(e), null);
        }
    }
}
