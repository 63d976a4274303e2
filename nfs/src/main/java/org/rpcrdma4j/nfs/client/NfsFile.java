// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;

/**
 * A file that was found or made.
 *
 * @param path where it was found, for messages; no symbolic link on the way, if links were followed
 * @param handle what the server calls it by
 * @param attributes as of that moment
 */
public record NfsFile(NfsPath path, FileHandle handle, Attributes attributes) {}
