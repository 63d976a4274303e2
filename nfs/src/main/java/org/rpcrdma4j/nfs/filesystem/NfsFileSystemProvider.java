// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemAlreadyExistsException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.LinkOption;
import java.nio.file.NotLinkException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.Access;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;

/**
 * File systems for {@code nfs://HOST[:PORT]/EXPORT[/PATH][?proto=rdma|tcp][&mountport=N][&fh=HEX]}: files of a server over NFS version 3
 * over RDMA, or over TCP. It is found by {@link java.nio.file.FileSystems#newFileSystem(URI, Map)}.
 *
 * <p>One file system is one mounted export: its root is the export's, relative paths are relative to PATH. It is open until it is closed,
 * and can be opened once at a time. The settings, all of them optional; numbers may be given as text:
 *
 * <ul>
 *   <li>{@code device}: an {@link org.rpcrdma4j.verbs.RdmaDevice}, which stays the caller's, or the name of a provider, whose device is
 *       opened and closed with the file system; {@code iwarp} by default
 *   <li>{@code crc}: whether that device asks for checksums, {@code true} or {@code false}
 *   <li>{@code mountPort}: where MOUNT is served over TCP; {@code handle}: the export's root in hexadecimal, so that no MOUNT is needed
 *   <li>{@code uid}, {@code gid}, {@code groups}: who the caller says to be; the process's user by default
 *   <li>{@code timeout}, {@code busyTimeout}: {@link java.time.Duration} or seconds
 *   <li>{@code maxInFlight}, {@code readBytes}, {@code writeBytes}, {@code readAhead}, {@code writeBehind}, {@code uncommittedBytes}: as of
 *       {@link org.rpcrdma4j.nfs.client.MountOptions}
 * </ul>
 *
 * <p>Failures are those of {@code java.nio.file} with the path in them; a server that does not answer is a {@link
 * org.rpcrdma4j.nfs.client.CallFailedException}. A thread that is interrupted while it waits gets an {@link java.io.InterruptedIOException},
 * and is still interrupted; what it used stays open.
 */
public final class NfsFileSystemProvider extends FileSystemProvider {

    private static final int WRITE_ACCESS = Access.MODIFY | Access.EXTEND;

    private final List<NfsFileSystem> open = new ArrayList<>();

    /** For {@link java.util.ServiceLoader}. */
    public NfsFileSystemProvider() {}

    @Override
    public String getScheme() {
        return "nfs";
    }

    private static NfsUrl parse(URI uri) {
        if (uri.getRawFragment() != null || uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException("neither a user nor a fragment belongs in " + uri);
        }
        return NfsUrl.parse(uri.toString());
    }

    /**
     * Mounts the export that holds the URL's path.
     *
     * @throws IllegalArgumentException if the URL or a setting is wrong
     * @throws FileSystemAlreadyExistsException if that export is open already
     * @throws IOException if the host is unknown or not to be reached, or exports nothing there
     */
    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> env) throws IOException {
        NfsUrl url = parse(uri);
        synchronized (open) {
            requireNew(open.stream().filter(known -> known.isOpenedBy(url)).findFirst(), url);
        }
        MountSettings.Mount mount = MountSettings.read(url, env);
        NfsVolume volume = null;
        NfsFileSystem made = null;
        try {
            volume = NfsVolume.mount(mount.url(), mount.options());
            NfsUrl export = volume.export();
            NfsFileSystem candidate = new NfsFileSystem(this, volume, mount.url(), mount.owned());
            synchronized (open) {
                requireNew(open.stream().filter(known -> known.isOf(export)).findFirst(), url);
                open.add(candidate);
            }
            made = candidate;
            return candidate;
        } finally {
            if (made == null) {
                if (volume != null) {
                    volume.close();
                }
                if (mount.owned() != null) {
                    mount.owned().close();
                }
            }
        }
    }

    private static void requireNew(Optional<NfsFileSystem> known, NfsUrl url) {
        if (known.isPresent()) {
            throw new FileSystemAlreadyExistsException(url.display() + " is open already, by " + known.get());
        }
    }

    void forget(NfsFileSystem closed) {
        synchronized (open) {
            open.remove(closed);
        }
    }

    private NfsFileSystem find(NfsUrl url) {
        synchronized (open) {
            return open.stream()
                    .filter(known -> known.holds(url))
                    .max(Comparator.comparingInt(known -> known.export().path().depth()))
                    .orElseThrow(() -> new FileSystemNotFoundException("no open file system holds " + url.display()
                            + "; FileSystems.newFileSystem(URI.create(\"" + url + "\"), Map.of()) would open one"));
        }
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
        return find(parse(uri));
    }

    /** The path of an open file system's that the URL stands for. */
    @Override
    public Path getPath(URI uri) {
        NfsUrl url = parse(uri);
        return find(url).path(url);
    }

    @Override
    public SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
        NfsFilePath file = NfsFilePath.of(path);
        return FileOpening.open(file, OpenMode.of(options), FileMode.ofNew(FileMode.FILE, attributes));
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(Path path, DirectoryStream.Filter<? super Path> filter)
            throws IOException {
        NfsFilePath directory = NfsFilePath.of(path);
        return Failures.about(directory, () -> NfsDirectoryStream.open(directory, filter));
    }

    @Override
    public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
        NfsFilePath directory = NfsFilePath.of(path);
        SetAttributes mode = SetAttributes.NONE.withMode(FileMode.ofNew(FileMode.DIRECTORY, attributes));
        Failures.doing(directory, () -> {
            var _ = directory.getFileSystem().volume().createDirectory(directory.location(), mode);
        });
    }

    @Override
    public void createSymbolicLink(Path path, Path target, FileAttribute<?>... attributes) throws IOException {
        NfsFilePath link = NfsFilePath.of(path);
        PathBytes text = NfsFilePath.of(target).pathBytes();
        if (attributes.length > 0) {
            throw new UnsupportedOperationException("a symbolic link is made without attributes");
        }
        Failures.doing(link, () -> {
            var _ = link.getFileSystem().volume().createSymbolicLink(link.location(), text, SetAttributes.NONE);
        });
    }

    @Override
    public void createLink(Path path, Path target) throws IOException {
        NfsFilePath link = NfsFilePath.of(path);
        NfsFilePath existing = NfsFilePath.of(target);
        Copying.requireSame(link, existing);
        Failures.doing(
                existing, link, () -> link.getFileSystem().volume().createLink(link.location(), existing.location()));
    }

    @Override
    public Path readSymbolicLink(Path path) throws IOException {
        NfsFilePath link = NfsFilePath.of(path);
        NfsVolume volume = link.getFileSystem().volume();
        PathBytes text = Failures.about(link, () -> {
            if (!volume.attributes(link.location(), false).isSymbolicLink()) {
                throw new NotLinkException(link.toString());
            }
            return volume.readLink(link.location());
        });
        try {
            return NfsFilePath.parse(link.getFileSystem(), text.bytes());
        } catch (IllegalArgumentException e) {
            throw new IOException("what the link " + link + " says is no path: " + text, e);
        }
    }

    @Override
    public void delete(Path path) throws IOException {
        NfsFilePath file = NfsFilePath.of(path);
        Failures.doing(file, () -> Copying.delete(file));
    }

    @Override
    public void copy(Path source, Path target, CopyOption... options) throws IOException {
        new Copying(NfsFilePath.of(source), NfsFilePath.of(target), options).copy();
    }

    @Override
    public void move(Path source, Path target, CopyOption... options) throws IOException {
        new Copying(NfsFilePath.of(source), NfsFilePath.of(target), options).move();
    }

    /** Whether the server calls both by the same handle, or by the same number. Paths of two file systems are never the same file. */
    @Override
    public boolean isSameFile(Path path, Path path2) throws IOException {
        NfsFilePath first = NfsFilePath.of(path);
        if (first.equals(path2)) {
            return true;
        }
        if (!(path2 instanceof NfsFilePath second) || second.getFileSystem() != first.getFileSystem()) {
            return false;
        }
        NfsVolume volume = first.getFileSystem().volume();
        NfsFile one = Failures.about(first, () -> volume.file(first.location(), true));
        NfsFile other = Failures.about(second, () -> volume.file(second.location(), true));
        return isSame(one, other);
    }

    /** RFC 1813, Section 2.5: equal handles are of one file, but one file may have different ones. */
    static boolean isSame(NfsFile one, NfsFile other) {
        return one.handle().equals(other.handle())
                || new NfsFileAttributes(one.attributes())
                        .fileKey()
                        .equals(new NfsFileAttributes(other.attributes()).fileKey());
    }

    /** Whether the name begins with a dot. */
    @Override
    public boolean isHidden(Path path) {
        NfsFilePath file = NfsFilePath.of(path);
        return file.lastName().length() > 0 && file.lastName().byteAt(0) == '.';
    }

    @Override
    public FileStore getFileStore(Path path) throws IOException {
        NfsFilePath file = NfsFilePath.of(path);
        checkAccess(file);
        return new NfsFileStore(file.getFileSystem());
    }

    /** RFC 1813, Section 3.3.4: the server is asked, which knows best. */
    @Override
    public void checkAccess(Path path, AccessMode... modes) throws IOException {
        NfsFilePath file = NfsFilePath.of(path);
        NfsVolume volume = file.getFileSystem().volume();
        Failures.doing(file, () -> {
            NfsFile found = volume.file(file.location(), true);
            int wanted = 0;
            for (AccessMode mode : modes) {
                wanted |= switch (mode) {
                    case READ -> Access.READ;
                    case WRITE -> WRITE_ACCESS;
                    case EXECUTE -> found.attributes().isDirectory() ? Access.LOOKUP : Access.EXECUTE;
                };
            }
            requireAccess(volume, file, found, wanted);
        });
    }

    static void requireAccess(NfsVolume volume, NfsFilePath path, NfsFile file, int wanted) throws IOException {
        if (wanted != 0 && volume.access(file, wanted) != wanted) {
            throw new AccessDeniedException(path.toString());
        }
    }

    @Override
    public <V extends FileAttributeView> @Nullable V getFileAttributeView(
            Path path, Class<V> type, LinkOption... options) {
        String name = type == BasicFileAttributeView.class
                ? "basic"
                : type == PosixFileAttributeView.class ? "posix" : type == FileOwnerAttributeView.class ? "owner" : "";
        return name.isEmpty() ? null : type.cast(view(path, name, options));
    }

    private static NfsAttributeView view(Path path, String name, LinkOption... options) {
        return new NfsAttributeView(name, NfsFilePath.of(path), NfsFileSystem.followsLinks(options));
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
            throws IOException {
        if (type != BasicFileAttributes.class && type != PosixFileAttributes.class) {
            throw new UnsupportedOperationException("no attributes of " + type);
        }
        return type.cast(view(path, "posix", options).readAttributes());
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options) throws IOException {
        return NamedAttributes.read(view(path, "posix", options), attributes);
    }

    @Override
    public void setAttribute(Path path, String attribute, Object value, LinkOption... options) throws IOException {
        NamedAttributes.set(view(path, "posix", options), attribute, value);
    }
}
