// SPDX-License-Identifier: Apache-2.0

/**
 * A directory of the local file system as NFS version 3 sees it (RFC 1813, Section 3.3); no RPC in it.
 *
 * <p><b>Nothing leaves the root.</b> A directory that is in use is held open, and everything in it is reached through the open directory's
 * entry in {@code /proc/self/fd}, one name at a time, never following a symbolic link: so no rename, by clients or by other processes, and no
 * link can lead a call elsewhere. That needs Linux with {@code /proc}; {@link org.rpcrdma4j.nfs.export.Export#open} says so where it isn't.
 *
 * <p><b>File handles</b> name an inode and the time of its birth: all hard links of a file have the same handle, and it means the same file
 * after a rename and after a restart. Where a handle's file is, is known from a table in memory ({@code NodeTable}: parent and name of an
 * inode, a hint that is checked at each use); what is not in it is looked for by one scan of the tree in the background ({@code TreeScan}),
 * and calls are answered NFS3ERR_JUKEBOX meanwhile.
 *
 * <p><b>Who may do what.</b> A server that runs as root checks mode bits for the caller's {@link org.rpcrdma4j.nfs.export.Identity} itself;
 * any other server acts as its own user for everybody, and the kernel checks.
 *
 * <p><b>Locks</b> ({@code DirectoryLocks}): whoever changes a directory's entries holds it alone from the attributes before to the attributes
 * after, and until the table knows; whoever looks up a name shares it.
 */
@NullMarked
package org.rpcrdma4j.nfs.export;

import org.jspecify.annotations.NullMarked;
