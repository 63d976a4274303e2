// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.GetAttr;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.MkNod;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.PathConf;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.ReadLink;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.RmDir;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.transport.rpc.Credential;

/**
 * A directory of the local file system, and what is below it on the same file system, for an NFS server. What is mounted below the root is not exported:
 * its name is seen, and LOOKUP of it is answered NFS3ERR_ACCES.
 *
 * <p>Each method is one procedure of RFC 1813, Section 3.3, takes and gives the protocol's records, and answers every failure by a status. All may be
 * called by any threads at the same time; they wait for the disk, and for other calls that change the same directory. Threads that call must not be
 * interrupted: Java closes the files that an interrupted thread has in use.
 *
 * <p>States: open, from {@link #open}; closed, by {@link #close}: then calls are answered with failures, and what is in use is closed when its users
 * are done.
 */
public final class Export implements AutoCloseable {

    private final Path root;
    private final Tree tree;
    private final OpenFiles files;
    private final Queries queries;
    private final Listing listing;
    private final FileOpening opening;
    private final AttributeChanges attributeChanges;
    private final Creation creation;
    private final EntryChanges entryChanges;

    private Export(Path root, Tree tree, FileStore store) {
        this.root = root;
        this.tree = tree;
        ExportOptions options = tree.options();
        files = new OpenFiles(options.maxOpenFiles(), options.idleFileTime());
        queries = new Queries(tree, store);
        listing = new Listing(tree, new Snapshots(options.maxListedNames()));
        opening = new FileOpening(tree, files);
        attributeChanges = new AttributeChanges(tree, files, opening);
        creation = new Creation(tree, attributeChanges);
        entryChanges = new EntryChanges(tree, files);
    }

    /**
     * Exports a directory. Links in the path of the root itself are followed, now.
     *
     * @throws NotDirectoryException if it isn't one
     * @throws IOException if it can't be read; or if this system can't do it: it needs Linux, with {@code /proc}, and a file system whose "unix"
     *     attributes Java can read
     */
    public static Export open(Path root, ExportOptions options) throws IOException {
        Path real = root.toRealPath();
        if (!real.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            throw new IOException("cannot export " + root + ": its file system has no \"unix\" attributes");
        }
        if (!Files.isDirectory(real)) {
            throw new NotDirectoryException(root.toString());
        }
        if (!Files.isDirectory(Path.of("/proc/self/fdinfo"))) {
            throw new IOException(
                    "cannot export " + root + ": this system has no /proc/self/fdinfo; exports need Linux");
        }
        Anchor anchor = Anchor.open(real);
        boolean done = false;
        try {
            Export export = open(real, anchor, options);
            done = true;
            return export;
        } finally {
            if (!done) {
                anchor.close();
            }
        }
    }

    private static Export open(Path real, Anchor anchor, ExportOptions options) throws IOException {
        FileStore store = Files.getFileStore(anchor.self());
        FileStatus status = anchor.status();
        ServerUser user = options.user();
        if (user == null) {
            user = ServerUser.current();
        }
        boolean birthsTold = Births.areTold(real, status, store.type());
        // The same after a restart, and another one for another directory.
        long identifier = Snapshot.hash(FileName.of(Names.toBytes(real).bytes()));
        NodeTable table = new NodeTable(status, birthsTold ? status.birth() : 0, options.maxNodes());
        OpenDirectories directories =
                new OpenDirectories(anchor, table.root(), status.device(), birthsTold, options.maxOpenDirectories());
        DirectoryLocks locks = new DirectoryLocks();
        TreeScan scan = new TreeScan(table, directories, anchor.self(), options.maxNodes());
        HandleFormat handles = new HandleFormat(identifier);
        Resolver resolver = new Resolver(table, directories, locks, scan, handles);
        Permissions permissions = new Permissions(options, user);
        return new Export(
                real,
                new Tree(options, identifier, table, directories, locks, scan, handles, resolver, permissions),
                store);
    }

    /** The directory, without symbolic links. */
    public Path path() {
        return root;
    }

    /** How it is exported. */
    public ExportOptions options() {
        return tree.options();
    }

    /** Whether the handle is one of this export's, by its form; the file may not exist any more. */
    public boolean isOwn(FileHandle handle) {
        return tree.handles().isOwn(handle);
    }

    /** Whom a caller acts as of whom nothing is known. Callers with other credentials than AUTH_SYS are anonymous. */
    public Identity identify(Credential credential) {
        return identify(credential, () -> false);
    }

    /**
     * Whom a caller acts as.
     *
     * @param isLocalRoot tells whether the call comes from root of this machine for sure; asked only if it makes a difference
     */
    public Identity identify(Credential credential, BooleanSupplier isLocalRoot) {
        return tree.permissions().identify(credential, isLocalRoot);
    }

    /** The root's handle. */
    public FileHandle root() {
        Node node = tree.table().root();
        return tree.handles().encode(node.inode, node.birth);
    }

    /**
     * The handle of a directory below the root, for MNT. No link is followed and nobody's permission is needed.
     *
     * @param below names with slashes between them; none is the root
     * @throws NfsException if it isn't there or no directory
     */
    public FileHandle mount(PathBytes below) throws NfsException {
        try {
            return queries.mount(below);
        } catch (IOException | Refusal e) {
            throw new NfsException(Failures.statusOf(e), "mount", root + "/" + below);
        }
    }

    /**
     * Opens a regular file for a call that reads or writes. RFC 1813, Section 4.4: its owner may in any case.
     *
     * @throws NfsException if it is refused; its status is the answer
     */
    public OpenFile open(Identity who, FileHandle file, OpenMode mode) throws NfsException {
        try {
            return opening.open(who, file, mode);
        } catch (IOException | Refusal e) {
            throw new NfsException(Failures.statusOf(e), mode == OpenMode.READ ? "read" : "write", "file " + file);
        }
    }

    /** What to answer when reading or writing the channel of an {@link OpenFile} failed. */
    public static Status statusOf(IOException failure) {
        return Failures.statusOf(failure);
    }

    /** GETATTR (RFC 1813, Section 3.3.1). */
    public GetAttr.Results getAttr(Identity who, GetAttr.Arguments call) {
        return queries.getAttr(call);
    }

    /** SETATTR (RFC 1813, Section 3.3.2). */
    public ChangeResults setAttr(Identity who, SetAttr.Arguments call) {
        return attributeChanges.set(who, call);
    }

    /** LOOKUP (RFC 1813, Section 3.3.3). */
    public Lookup.Results lookup(Identity who, Lookup.Arguments call) {
        return queries.lookup(who, call);
    }

    /** ACCESS (RFC 1813, Section 3.3.4). */
    public Access.Results access(Identity who, Access.Arguments call) {
        return queries.access(who, call);
    }

    /** READLINK (RFC 1813, Section 3.3.5). */
    public ReadLink.Results readLink(Identity who, ReadLink.Arguments call) {
        return queries.readLink(call);
    }

    /** CREATE (RFC 1813, Section 3.3.8). */
    public CreateResults create(Identity who, Create.Arguments call) {
        return creation.create(who, call);
    }

    /** MKDIR (RFC 1813, Section 3.3.9). */
    public CreateResults mkDir(Identity who, MkDir.Arguments call) {
        return creation.mkDir(who, call);
    }

    /** SYMLINK (RFC 1813, Section 3.3.10). What the link says is kept, but for double slashes and those at its end. */
    public CreateResults symLink(Identity who, SymLink.Arguments call) {
        return creation.symLink(who, call);
    }

    /** MKNOD (RFC 1813, Section 3.3.11). Answered NFS3ERR_NOTSUPP: Java makes no such files. */
    public CreateResults mkNod(Identity who, MkNod.Arguments call) {
        return creation.mkNod(who, call);
    }

    /** REMOVE (RFC 1813, Section 3.3.12). */
    public ChangeResults remove(Identity who, Remove.Arguments call) {
        return entryChanges.remove(who, call);
    }

    /** RMDIR (RFC 1813, Section 3.3.13). */
    public ChangeResults rmDir(Identity who, RmDir.Arguments call) {
        return entryChanges.rmDir(who, call);
    }

    /** RENAME (RFC 1813, Section 3.3.14). */
    public Rename.Results rename(Identity who, Rename.Arguments call) {
        return entryChanges.rename(who, call);
    }

    /** LINK (RFC 1813, Section 3.3.15). */
    public Link.Results link(Identity who, Link.Arguments call) {
        return entryChanges.link(who, call);
    }

    /** READDIR (RFC 1813, Section 3.3.16). */
    public ReadDir.Results readDir(Identity who, ReadDir.Arguments call) {
        return listing.readDir(who, call);
    }

    /** READDIRPLUS (RFC 1813, Section 3.3.17). */
    public ReadDirPlus.Results readDirPlus(Identity who, ReadDirPlus.Arguments call) {
        return listing.readDirPlus(who, call);
    }

    /** FSSTAT (RFC 1813, Section 3.3.18). The numbers of files are made up: Java does not tell them. */
    public FsStat.Results fsStat(Identity who, FsStat.Arguments call) {
        return queries.fsStat(call);
    }

    /** FSINFO (RFC 1813, Section 3.3.19). */
    public FsInfo.Results fsInfo(Identity who, FsInfo.Arguments call) {
        return queries.fsInfo(call);
    }

    /** PATHCONF (RFC 1813, Section 3.3.20). */
    public PathConf.Results pathConf(Identity who, PathConf.Arguments call) {
        return queries.pathConf(call);
    }

    /** Ends the export: nothing is kept open any more, but what is in use until its users are done. Waits for a scan that is running. */
    @Override
    public void close() {
        tree.scan().close();
        files.close();
        tree.directories().close();
    }
}
