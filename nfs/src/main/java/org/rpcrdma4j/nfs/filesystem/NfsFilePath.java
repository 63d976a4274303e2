// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.net.URI;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.PathBytes;

/**
 * A path of a mounted export, with the semantics of a path of Unix: names are bytes, {@code /} stands between them, comparison is by bytes.
 * Immutable. Relative paths are relative to what the file system's URL named.
 */
final class NfsFilePath implements Path {

    private static final FileName DOT = FileName.of(".");
    private static final FileName DOT_DOT = FileName.of("..");
    private static final FileName EMPTY = FileName.of("");

    private final NfsFileSystem fileSystem;
    private final boolean absolute;
    /** None for the root and for the empty path. */
    private final List<FileName> names;

    NfsFilePath(NfsFileSystem fileSystem, boolean absolute, List<FileName> names) {
        this.fileSystem = fileSystem;
        this.absolute = absolute;
        this.names = List.copyOf(names);
    }

    static NfsFilePath parse(NfsFileSystem fileSystem, byte[] bytes) {
        boolean absolute = bytes.length > 0 && bytes[0] == '/';
        return new NfsFilePath(fileSystem, absolute, NfsPath.parse(bytes).names());
    }

    /** A path that was given to this provider, which must be one of its own. */
    static NfsFilePath of(Path path) {
        if (Objects.requireNonNull(path) instanceof NfsFilePath own) {
            return own;
        }
        throw new ProviderMismatchException("not a path of the nfs provider: " + path);
    }

    private NfsFilePath relative(List<FileName> newNames) {
        return new NfsFilePath(fileSystem, false, newNames);
    }

    private NfsFilePath alike(List<FileName> newNames) {
        return new NfsFilePath(fileSystem, absolute, newNames);
    }

    /** Where it is below the export's root. */
    NfsPath location() {
        return new NfsPath(toAbsolutePath().names);
    }

    /** As a symbolic link says it. */
    PathBytes pathBytes() {
        return PathBytes.of(bytes());
    }

    private byte[] bytes() {
        byte[] below = new NfsPath(names).toPathBytes().bytes();
        if (absolute) {
            return below;
        }
        return names.isEmpty() ? new byte[0] : Arrays.copyOfRange(below, 1, below.length);
    }

    private boolean isEmpty() {
        return !absolute && names.isEmpty();
    }

    @Override
    public NfsFileSystem getFileSystem() {
        return fileSystem;
    }

    @Override
    public boolean isAbsolute() {
        return absolute;
    }

    @Override
    public @Nullable NfsFilePath getRoot() {
        return absolute ? alike(List.of()) : null;
    }

    @Override
    public @Nullable NfsFilePath getFileName() {
        if (isEmpty()) {
            return this;
        }
        return names.isEmpty() ? null : relative(List.of(names.getLast()));
    }

    @Override
    public @Nullable NfsFilePath getParent() {
        if (names.isEmpty() || (!absolute && names.size() == 1)) {
            return null;
        }
        return alike(names.subList(0, names.size() - 1));
    }

    @Override
    public int getNameCount() {
        return isEmpty() ? 1 : names.size();
    }

    @Override
    public NfsFilePath getName(int index) {
        if (isEmpty() && index == 0) {
            return this;
        }
        if (index < 0 || index >= names.size()) {
            throw new IllegalArgumentException("no name " + index + " in a path of " + getNameCount());
        }
        return relative(List.of(names.get(index)));
    }

    @Override
    public NfsFilePath subpath(int beginIndex, int endIndex) {
        if (isEmpty() && beginIndex == 0 && endIndex == 1) {
            return this;
        }
        if (beginIndex < 0 || endIndex > names.size() || beginIndex >= endIndex) {
            throw new IllegalArgumentException(
                    "no names from " + beginIndex + " to " + endIndex + " in a path of " + getNameCount());
        }
        return relative(names.subList(beginIndex, endIndex));
    }

    @Override
    public boolean startsWith(Path other) {
        if (!(Objects.requireNonNull(other) instanceof NfsFilePath that)
                || that.fileSystem != fileSystem
                || that.absolute != absolute) {
            return false;
        }
        if (that.isEmpty() || isEmpty()) {
            return that.isEmpty() && isEmpty();
        }
        return new NfsPath(names).startsWith(new NfsPath(that.names));
    }

    @Override
    public boolean endsWith(Path other) {
        if (!(Objects.requireNonNull(other) instanceof NfsFilePath that) || that.fileSystem != fileSystem) {
            return false;
        }
        if (that.absolute || that.isEmpty()) {
            return equals(that);
        }
        int from = names.size() - that.names.size();
        return from >= 0 && names.subList(from, names.size()).equals(that.names);
    }

    @Override
    public NfsFilePath normalize() {
        List<FileName> kept = new ArrayList<>();
        for (FileName name : names) {
            if (name.equals(DOT_DOT)) {
                if (!kept.isEmpty() && !kept.getLast().equals(DOT_DOT)) {
                    kept.removeLast();
                } else if (!absolute) {
                    kept.add(name);
                }
            } else if (!name.equals(DOT)) {
                kept.add(name);
            }
        }
        return alike(kept);
    }

    @Override
    public NfsFilePath resolve(Path other) {
        NfsFilePath that = of(other);
        if (that.absolute || isEmpty()) {
            return that;
        }
        List<FileName> all = new ArrayList<>(names);
        all.addAll(that.names);
        return alike(all);
    }

    NfsFilePath resolve(FileName name) {
        List<FileName> all = new ArrayList<>(names);
        all.add(name);
        return alike(all);
    }

    @Override
    public NfsFilePath relativize(Path other) {
        NfsFilePath that = of(other);
        if (that.equals(this)) {
            return relative(List.of());
        }
        if (that.absolute != absolute) {
            throw new IllegalArgumentException("one of " + this + " and " + that + " is absolute, the other is not");
        }
        if (isEmpty()) {
            return that;
        }
        NfsFilePath base = this;
        if (hasDots() || that.hasDots()) {
            base = normalize();
            that = that.normalize();
        }
        int common = 0;
        int most = Math.min(base.names.size(), that.names.size());
        while (common < most && base.names.get(common).equals(that.names.get(common))) {
            common++;
        }
        List<FileName> up = base.names.subList(common, base.names.size());
        if (up.contains(DOT_DOT)) {
            throw new IllegalArgumentException("nobody knows the way from " + this + " to " + other);
        }
        List<FileName> way = new ArrayList<>();
        up.forEach(_ -> way.add(DOT_DOT));
        way.addAll(that.names.subList(common, that.names.size()));
        return relative(way);
    }

    private boolean hasDots() {
        return names.stream().anyMatch(FileName::isDots);
    }

    /** {@code nfs://HOST[:PORT]/EXPORT/PATH}, with the parameters of the file system's own URL; no call is made for it. */
    @Override
    public URI toUri() {
        return URI.create(fileSystem.url(location()).toString());
    }

    @Override
    public NfsFilePath toAbsolutePath() {
        return absolute ? this : fileSystem.defaultDirectory().resolve(this);
    }

    @Override
    public NfsFilePath toRealPath(LinkOption... options) throws IOException {
        boolean follow = NfsFileSystem.followsLinks(options);
        NfsPath found = Failures.about(
                this, () -> fileSystem.volume().file(location(), follow).path());
        return new NfsFilePath(fileSystem, true, found.names());
    }

    /** Not supported: NFS version 3 tells nobody of changes. */
    @Override
    public WatchKey register(WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
        throw new UnsupportedOperationException("NFS version 3 has no watching");
    }

    @Override
    public int compareTo(Path other) {
        return Arrays.compareUnsigned(bytes(), ((NfsFilePath) other).bytes());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NfsFilePath that
                && that.fileSystem == fileSystem
                && that.absolute == absolute
                && that.names.equals(names);
    }

    @Override
    public int hashCode() {
        return 31 * names.hashCode() + Boolean.hashCode(absolute);
    }

    /** Names as {@link PathText} has them. */
    @Override
    public String toString() {
        return names.stream().map(PathText::decode).collect(Collectors.joining("/", absolute ? "/" : "", ""));
    }

    /** The last name; an empty one for the root and the empty path. */
    FileName lastName() {
        return names.isEmpty() ? EMPTY : names.getLast();
    }
}
