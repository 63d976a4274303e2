// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.nio.ByteBuffer;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * File handles: 28 bytes, the same for all hard links, the same after a restart.
 *
 * <pre>
 *     0        4             12         20                        28
 *     | magic  | export      | inode    | birth, nanoseconds or 0 |
 * </pre>
 *
 * Where births are told, a handle without one is not accepted: it would take any file that has the inode. Where they aren't, an inode that is used
 * again for another file is taken for the old one.
 */
final class HandleFormat {

    private static final int MAGIC = 0x72346a01;
    private static final int BYTES = 28;

    private final long export;

    /** Handles of one export. */
    HandleFormat(long export) {
        this.export = export;
    }

    /**
     * What a handle says.
     *
     * @param birth 0 if it doesn't
     */
    record Key(long inode, long birth) {}

    FileHandle encode(long inode, long birth) {
        return FileHandle.of(ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .putLong(export)
                .putLong(inode)
                .putLong(birth)
                .array());
    }

    /** RFC 1813, Section 2.6: BADHANDLE if it was never given out, STALE if another export gave it out. */
    Key decode(FileHandle handle) throws Refusal {
        ByteBuffer bytes = ByteBuffer.wrap(handle.bytes());
        if (bytes.remaining() != BYTES || bytes.getInt() != MAGIC) {
            throw new Refusal(Status.BADHANDLE);
        }
        if (bytes.getLong() != export) {
            throw new Refusal(Status.STALE);
        }
        return new Key(bytes.getLong(), bytes.getLong());
    }

    /** Whether the handle, whatever it says of the file, is one of this export's. */
    boolean isOwn(FileHandle handle) {
        ByteBuffer bytes = ByteBuffer.wrap(handle.bytes());
        return bytes.remaining() == BYTES && bytes.getInt() == MAGIC && bytes.getLong() == export;
    }
}
