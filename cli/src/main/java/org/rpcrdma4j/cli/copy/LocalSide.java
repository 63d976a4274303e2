// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.local.LocalPaths;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Time;

/** Files of the local file system, below a path. */
public final class LocalSide implements Side {
    private static final String STATUS = "unix:mode,uid,gid,nlink,size,dev,ino,lastAccessTime,lastModifiedTime,ctime";
    private static final int TYPE_BITS = 0170000;
    /** From 0400 to 1. */
    private static final List<PosixFilePermission> PERMISSIONS = List.of(
            PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE,
            PosixFilePermission.OWNER_EXECUTE,
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.GROUP_EXECUTE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.OTHERS_EXECUTE);

    private static final LinkOption[] FOLLOW = {};
    private static final LinkOption[] NOFOLLOW = {LinkOption.NOFOLLOW_LINKS};

    private final Path base;

    /** What is below the path, or the path itself: {@link NfsPath#ROOT}. */
    public LocalSide(Path base) {
        this.base = base;
    }

    private Path path(NfsPath path) {
        Path whole = base;
        for (FileName name : path.names()) {
            whole = whole.resolve(LocalPaths.toPath(name));
        }
        return whole;
    }

    @Override
    public String display(NfsPath path) {
        Path whole = path(path);
        return whole.toString().isEmpty() ? "." : LocalPaths.toBytes(whole).toString();
    }

    @Override
    public @Nullable NfsFile find(NfsPath path, boolean followLast) throws IOException {
        try {
            return status(path, path(path), followLast);
        } catch (NoSuchFileException _) {
            return null;
        } catch (IOException e) {
            throw CopyException.of("find", display(path), e);
        }
    }

    private static NfsFile status(NfsPath path, Path local, boolean followLast) throws IOException {
        Map<String, Object> status = Files.readAttributes(local, STATUS, followLast ? FOLLOW : NOFOLLOW);
        int mode = number(status, "mode").intValue();
        long device = number(status, "dev").longValue();
        long inode = number(status, "ino").longValue();
        Attributes attributes = new Attributes(
                type(mode),
                mode & ~TYPE_BITS,
                number(status, "nlink").intValue(),
                number(status, "uid").intValue(),
                number(status, "gid").intValue(),
                number(status, "size").longValue(),
                number(status, "size").longValue(),
                0,
                0,
                device,
                inode,
                time(status.get("lastAccessTime")),
                time(status.get("lastModifiedTime")),
                time(status.get("ctime")));
        // No handle of a server's is likely to be the same.
        byte[] identity = ByteBuffer.allocate(Long.BYTES * 3)
                .put("local   ".getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                .putLong(device)
                .putLong(inode)
                .array();
        return new NfsFile(path, FileHandle.of(identity), attributes);
    }

    private static Number number(Map<String, Object> status, String name) {
        return (Number) Objects.requireNonNull(status.get(name), name);
    }

    private static FileType type(int mode) {
        return switch (mode & TYPE_BITS) {
            case 0040000 -> FileType.DIRECTORY;
            case 0060000 -> FileType.BLOCK_DEVICE;
            case 0020000 -> FileType.CHARACTER_DEVICE;
            case 0120000 -> FileType.SYMBOLIC_LINK;
            case 0140000 -> FileType.SOCKET;
            case 0010000 -> FileType.FIFO;
            default -> FileType.REGULAR;
        };
    }

    private static Time time(@Nullable Object value) {
        return value instanceof FileTime time ? Time.of(time.toInstant()) : new Time(0, 0);
    }

    @Override
    @SuppressWarnings("StreamResourceLeak") // the listing closes it
    public Listing list(NfsFile directory) throws IOException {
        try {
            return new DirectoryListing(directory.path(), Files.newDirectoryStream(path(directory.path())));
        } catch (IOException e) {
            throw CopyException.of("list", display(directory.path()), e);
        }
    }

    private final class DirectoryListing implements Listing {
        private final NfsPath directory;
        private final DirectoryStream<Path> stream;
        private final Iterator<Path> entries;

        DirectoryListing(NfsPath directory, DirectoryStream<Path> stream) {
            this.directory = directory;
            this.stream = stream;
            entries = stream.iterator();
        }

        @Override
        public @Nullable NfsFile next() throws IOException {
            Path entry;
            try {
                if (!entries.hasNext()) {
                    return null;
                }
                entry = entries.next();
            } catch (DirectoryIteratorException e) {
                throw CopyException.of("list", display(directory), Objects.requireNonNull(e.getCause()));
            }
            NfsPath path = directory.resolve(LocalPaths.nameOf(entry));
            try {
                return status(path, entry, false);
            } catch (IOException e) {
                throw new EntryException(CopyException.of("find", display(path), e));
            }
        }

        @Override
        public void close() {
            try {
                stream.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public Source open(NfsFile file) throws IOException {
        String name = display(file.path());
        try {
            FileChannel channel = FileChannel.open(path(file.path()), StandardOpenOption.READ);
            return new LocalSource(channel, name, file.attributes().size());
        } catch (IOException e) {
            throw CopyException.of("read", name, e);
        }
    }

    @Override
    public PathBytes readLink(NfsFile link) throws IOException {
        try {
            return LocalPaths.toBytes(Files.readSymbolicLink(path(link.path())));
        } catch (IOException e) {
            throw CopyException.of("read the link", display(link.path()), e);
        }
    }

    @Override
    public Sink create(NfsPath path, int mode) throws IOException {
        Path local = path(path);
        try {
            FileChannel channel = FileChannel.open(
                    local, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), permissions(mode));
            return new LocalSink(channel, this, path);
        } catch (IOException e) {
            throw CopyException.of("create", display(path), e);
        }
    }

    private static FileAttribute<Set<PosixFilePermission>> permissions(int mode) {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int bit = 0; bit < PERMISSIONS.size(); bit++) {
            if ((mode & (0400 >> bit)) != 0) {
                permissions.add(PERMISSIONS.get(bit));
            }
        }
        return PosixFilePermissions.asFileAttribute(permissions);
    }

    @Override
    public @Nullable NfsFile createDirectory(NfsPath path, int mode) throws IOException {
        Path local = path(path);
        try {
            Files.createDirectory(local, permissions(mode));
            return status(path, local, false);
        } catch (FileAlreadyExistsException _) {
            return null;
        } catch (IOException e) {
            throw CopyException.of("create the directory", display(path), e);
        }
    }

    @Override
    public NfsFile createSymbolicLink(NfsPath path, PathBytes target) throws IOException {
        Path local = path(path);
        try {
            Files.createSymbolicLink(local, LocalPaths.toTarget(target));
            return status(path, local, false);
        } catch (IOException | InvalidPathException e) {
            throw CopyException.of("create the link", display(path), e);
        }
    }

    @Override
    public void setAttributes(NfsFile file, SetAttributes attributes) throws IOException {
        Path local = path(file.path());
        try {
            // ORDER: owner before mode; a change of the owner takes set-user-ID away.
            Integer uid = attributes.uid();
            if (uid != null) {
                Files.setAttribute(local, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
            }
            Integer gid = attributes.gid();
            if (gid != null) {
                Files.setAttribute(local, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
            }
            Integer mode = attributes.mode();
            if (mode != null && !file.attributes().isSymbolicLink()) {
                Files.setAttribute(local, "unix:mode", mode);
            }
            FileTime modified = time(attributes.modifyTime());
            FileTime accessed = time(attributes.accessTime());
            if (modified != null || accessed != null) {
                Files.getFileAttributeView(local, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                        .setTimes(modified, accessed, null);
            }
        } catch (IOException e) {
            throw CopyException.of("set the attributes of", display(file.path()), e);
        }
    }

    private static @Nullable FileTime time(SetTime time) {
        return switch (time) {
            case SetTime.Keep _ -> null;
            case SetTime.Server _ -> FileTime.from(java.time.Instant.now());
            case SetTime.To to -> FileTime.from(to.time().toInstant());
        };
    }

    @Override
    public void rename(NfsPath from, NfsPath to) throws IOException {
        try {
            Files.move(path(from), path(to), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw CopyException.of("replace", display(to), e);
        }
    }

    @Override
    public void remove(NfsPath path) throws IOException {
        try {
            Files.deleteIfExists(path(path));
        } catch (NotDirectoryException _) {
            // Then it isn't there.
        } catch (IOException e) {
            throw CopyException.of("remove", display(path), e);
        }
    }
}
