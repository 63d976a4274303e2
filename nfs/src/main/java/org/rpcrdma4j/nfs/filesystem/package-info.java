// SPDX-License-Identifier: Apache-2.0
/**
 * A mounted export as a file system of {@code java.nio.file}, for URLs that begin with {@code nfs://}:
 *
 * <pre>{@code
 * try (FileSystem files = FileSystems.newFileSystem(URI.create("nfs://host/export"), Map.of())) {
 *     Files.copy(Path.of("report.pdf"), files.getPath("report.pdf"));
 * }
 * }</pre>
 *
 * <p>{@link org.rpcrdma4j.nfs.filesystem.NfsFileSystemProvider} tells what the URL and the map may say; nothing else of this package is for
 * users, who have the interfaces of {@code java.nio.file}.
 */
package org.rpcrdma4j.nfs.filesystem;
