// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.MkNod;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.SymLink;
import org.rpcrdma4j.nfs.protocol.Time;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;

/** CREATE, MKDIR, SYMLINK and MKNOD (RFC 1813, Sections 3.3.8 to 3.3.11). */
final class Creation {

    private static final int FILE_MODE = 0644;
    private static final int DIRECTORY_MODE = 0755;

    /** What new files have until their attributes are set: nobody else gets at them before they have their owner. */
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Tree tree;
    private final AttributeChanges changes;

    Creation(Tree tree, AttributeChanges changes) {
        this.tree = tree;
        this.changes = changes;
    }

    /** Makes one entry of a directory, or finds that it is there; with the directory's entries kept from changing. */
    @FunctionalInterface
    private interface Making {
        FileStatus make(Directory directory, FileStatus status) throws IOException, Refusal;
    }

    CreateResults create(Identity who, Create.Arguments call) {
        return in(who, call.directory(), call.name(), (directory, status) -> switch (call.how()) {
            case Create.Unchecked how -> createUnchecked(who, directory, status, call.name(), how.attributes());
            case Create.Guarded how -> {
                requireAbsent(directory, call.name());
                yield createFile(who, directory, status, call.name(), how.attributes());
            }
            case Create.Exclusive how -> createExclusive(who, directory, status, call.name(), how.verifier());
        });
    }

    CreateResults mkDir(Identity who, MkDir.Arguments call) {
        return in(who, call.directory(), call.name(), (directory, status) -> {
            requireAbsent(directory, call.name());
            tree.permissions().requireAdd(who, status);
            Settings.check(call.attributes().accessTime());
            Settings.check(call.attributes().modifyTime());
            Path path = directory.child(call.name());
            Files.createDirectory(path, PRIVATE_DIRECTORY);
            return initialize(who, status, path, call.attributes());
        });
    }

    CreateResults symLink(Identity who, SymLink.Arguments call) {
        return in(who, call.directory(), call.name(), (directory, status) -> {
            requireAbsent(directory, call.name());
            tree.permissions().requireAdd(who, status);
            Path path = directory.child(call.name());
            Files.createSymbolicLink(path, Names.toTarget(call.target()));
            return initialize(
                    who, status, path, call.attributes().withTimes(SetTime.Keep.INSTANCE, SetTime.Keep.INSTANCE));
        });
    }

    /** RFC 1813, Section 3.3.11: NOTSUPP, as Java cannot make such files; BADTYPE for what has a procedure of its own. */
    CreateResults mkNod(Identity who, MkNod.Arguments call) {
        return in(who, call.directory(), call.name(), (directory, status) -> {
            if (call.what() instanceof MkNod.Other) {
                throw new Refusal(Status.BADTYPE);
            }
            tree.permissions().requireAdd(who, status);
            throw new Refusal(Status.NOTSUPP);
        });
    }

    private CreateResults in(Identity who, FileHandle handle, FileName name, Making making) {
        try (Directory directory = tree.resolver().directory(handle);
                DirectoryLocks.Held _ = tree.locks().alone(directory.node())) {
            FileStatus before = null;
            try {
                before = directory.status();
                // ORDER: before anything that tells whether the name is there.
                tree.permissions().requireSearch(who, before);
                checkNew(name);
                FileStatus made = making.make(directory, before);
                tree.remember(directory, name, made);
                return new CreateResults.Ok(
                        tree.handleOf(made), tree.attributes(made), tree.changeOf(directory, before));
            } catch (IOException | Refusal e) {
                return new CreateResults.Failed(Failures.statusOf(e), tree.changeOf(directory, before));
            }
        } catch (IOException | Refusal e) {
            return new CreateResults.Failed(Failures.statusOf(e), WeakCacheData.NONE);
        }
    }

    /** RFC 1813, Section 3.2: {@code .} and {@code ..} are there always. */
    private static void checkNew(FileName name) throws Refusal {
        Names.check(name);
        if (name.isDots()) {
            throw new Refusal(Status.EXIST);
        }
    }

    private void requireAbsent(Directory directory, FileName name) throws IOException, Refusal {
        if (tree.entryIfAny(directory, name) != null) {
            throw new Refusal(Status.EXIST);
        }
    }

    private FileStatus createUnchecked(
            Identity who, Directory directory, FileStatus parent, FileName name, SetAttributes attributes)
            throws IOException, Refusal {
        FileStatus existing = tree.entryIfAny(directory, name);
        if (existing == null) {
            return createFile(who, directory, parent, name, attributes);
        }
        if (!existing.isRegular()) {
            throw new Refusal(Status.EXIST);
        }
        // RFC 1813, Section 3.3.8: of a file that is there, only the size is set.
        Long size = attributes.size();
        if (size == null) {
            return existing;
        }
        tree.permissions().requireWrite(who, existing);
        if (size < 0) {
            throw new Refusal(Status.FBIG);
        }
        Node node = tree.remember(directory, name, existing);
        try (Located file = new Located(node, directory.again(), name, existing)) {
            changes.resize(file, size);
            int clear = tree.permissions().bitsToClear(who, existing);
            if (clear != 0) {
                Settings.setMode(file.path(), existing.mode() & FileStatus.MODE_BITS & ~clear, true);
            }
            return FileStatus.read(file.path());
        }
    }

    private FileStatus createFile(
            Identity who, Directory directory, FileStatus parent, FileName name, SetAttributes attributes)
            throws IOException, Refusal {
        tree.permissions().requireAdd(who, parent);
        Settings.check(attributes.accessTime());
        Settings.check(attributes.modifyTime());
        Long size = attributes.size();
        if (size != null && size < 0) {
            throw new Refusal(Status.FBIG);
        }
        Path path = directory.child(name);
        try (FileChannel channel = FileChannel.open(
                path,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PRIVATE_FILE)) {
            if (size != null && size > 0) {
                channel.write(ByteBuffer.allocate(1), size - 1);
            }
        }
        return initialize(who, parent, path, attributes);
    }

    /**
     * RFC 1813, Section 3.3.8: the verifier is kept where it survives a restart of the server, in the times of the file, until the client sets them. Of
     * each half 31 bits are kept, as times before 1970 and after 2038 are not for every file system.
     */
    private FileStatus createExclusive(
            Identity who, Directory directory, FileStatus parent, FileName name, long verifier)
            throws IOException, Refusal {
        Time access = new Time((int) (verifier >>> 32) & 0x7fff_ffff, 0);
        Time modify = new Time((int) verifier & 0x7fff_ffff, 0);
        FileStatus existing = tree.entryIfAny(directory, name);
        if (existing == null) {
            int mode = tree.permissions().isPrivileged() ? 0 : 0600;
            SetAttributes marked =
                    SetAttributes.NONE.withMode(mode).withTimes(new SetTime.To(access), new SetTime.To(modify));
            return createFile(who, directory, parent, name, marked);
        }
        boolean isOurs = existing.isRegular()
                && existing.size() == 0
                && seconds(existing.accessTime()) == access.seconds()
                && seconds(existing.modifyTime()) == modify.seconds();
        if (!isOurs) {
            throw new Refusal(Status.EXIST);
        }
        return existing;
    }

    private static long seconds(FileTime time) {
        return time.to(TimeUnit.SECONDS);
    }

    /** Gives a new file its owner, mode and times; or takes it away again if that fails. */
    private FileStatus initialize(Identity who, FileStatus parent, Path path, SetAttributes attributes)
            throws IOException, Refusal {
        boolean done = false;
        try {
            FileStatus now = FileStatus.read(path);
            int gid = now.gid();
            if (tree.permissions().isPrivileged()) {
                gid = groupOf(who, parent, attributes.gid());
                Integer uid = attributes.uid();
                Settings.setOwner(path, now, uid != null && uid != -1 && who.isRoot() ? uid : who.uid(), gid);
            }
            if (!now.isSymbolicLink()) {
                int mode = modeOf(who, parent, now, attributes.mode(), gid);
                if (mode != (now.mode() & FileStatus.MODE_BITS)) {
                    Settings.setMode(path, mode, tree.permissions().isPrivileged());
                }
                Settings.setTimes(path, attributes.accessTime(), attributes.modifyTime());
            }
            FileStatus made = FileStatus.read(path);
            done = true;
            return made;
        } finally {
            if (!done) {
                Files.deleteIfExists(path);
            }
        }
    }

    /** The caller's group or one that it may choose; in a directory with the set-group-ID bit, the directory's. */
    private static int groupOf(Identity who, FileStatus parent, @Nullable Integer wanted) {
        if (wanted != null && wanted != -1 && (who.isRoot() || who.isIn(wanted))) {
            return wanted;
        }
        return (parent.mode() & FileStatus.SET_GID) != 0 ? parent.gid() : who.gid();
    }

    private int modeOf(Identity who, FileStatus parent, FileStatus now, @Nullable Integer wanted, int gid) {
        int chosen = wanted != null ? wanted : now.isDirectory() ? DIRECTORY_MODE : FILE_MODE;
        int mode = tree.permissions().permitted(who, chosen, gid);
        return now.isDirectory() ? mode | (parent.mode() & FileStatus.SET_GID) : mode;
    }
}
