// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FsStat;

/** What the server says of the file system that holds the export (FSSTAT). */
final class NfsFileStore extends FileStore {

    private final NfsFileSystem fileSystem;

    NfsFileStore(NfsFileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    private FsStat.Ok space() throws IOException {
        return Failures.about(fileSystem.root(), () -> fileSystem.volume().statFilesystem());
    }

    /** RFC 1813, Section 3.3.18: sizes are unsigned. */
    private static long positive(long bytes) {
        return bytes < 0 ? Long.MAX_VALUE : bytes;
    }

    @Override
    public String name() {
        return fileSystem.toString();
    }

    @Override
    public String type() {
        return "nfs";
    }

    /** False: NFS version 3 does not tell; a server that allows no change says so when it is asked for one. */
    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public long getTotalSpace() throws IOException {
        return positive(space().totalBytes());
    }

    @Override
    public long getUsableSpace() throws IOException {
        return positive(space().availableBytes());
    }

    @Override
    public long getUnallocatedSpace() throws IOException {
        return positive(space().freeBytes());
    }

    @Override
    public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
        return type == BasicFileAttributeView.class
                || type == PosixFileAttributeView.class
                || type == FileOwnerAttributeView.class;
    }

    @Override
    public boolean supportsFileAttributeView(String name) {
        return NamedAttributes.VIEWS.contains(name);
    }

    @Override
    public <V extends FileStoreAttributeView> @Nullable V getFileStoreAttributeView(Class<V> type) {
        return null;
    }

    @Override
    public Object getAttribute(String attribute) throws IOException {
        return switch (attribute) {
            case "totalSpace" -> getTotalSpace();
            case "usableSpace" -> getUsableSpace();
            case "unallocatedSpace" -> getUnallocatedSpace();
            default -> throw new UnsupportedOperationException("no attribute \"" + attribute + "\"");
        };
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NfsFileStore that && that.fileSystem == fileSystem;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(fileSystem);
    }

    @Override
    public String toString() {
        return name();
    }
}
