// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

/**
 * The rights on a region. Reading by the local side is always allowed.
 *
 * @param localWrite a Receive or RDMA Read of our own may write into it
 * @param remoteRead the peer may read it by RDMA Read; such memory must not change while the peer may be reading, or the device's
 *     digest may not fit what is sent and the connection ends
 * @param remoteWrite the peer may write it by RDMA Write; asks for {@code localWrite} too, as the verbs do
 */
public record Access(boolean localWrite, boolean remoteRead, boolean remoteWrite) {

    /** Source of Sends and RDMA Writes of ours; nothing for the peer. */
    public static final Access LOCAL_READ = new Access(false, false, false);

    /** Target of Receives and RDMA Reads of ours; nothing for the peer. */
    public static final Access LOCAL_WRITE = new Access(true, false, false);

    /** Source of the peer's RDMA Reads. */
    public static final Access REMOTE_READ = new Access(false, true, false);

    /** Target of the peer's RDMA Writes. */
    public static final Access REMOTE_WRITE = new Access(true, false, true);

    /** Both. */
    public static final Access REMOTE_READ_WRITE = new Access(true, true, true);

    public Access {
        if (remoteWrite && !localWrite) {
            throw new IllegalArgumentException("remote write needs local write");
        }
    }

    /** Whether any right changes the memory. */
    public boolean isWritable() {
        return localWrite;
    }

    /** Whether the peer has any right. */
    public boolean isRemote() {
        return remoteRead || remoteWrite;
    }
}
