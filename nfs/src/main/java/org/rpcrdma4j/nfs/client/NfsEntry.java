// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;

/**
 * An entry of a directory.
 *
 * @param name its name
 * @param fileId the file's number in its file system
 * @param handle the file; null if the caller may list the directory but not look into it
 * @param attributes the file's, links not followed; null if the handle is
 */
public record NfsEntry(
        FileName name,
        long fileId,
        @Nullable FileHandle handle,
        @Nullable Attributes attributes) {}
