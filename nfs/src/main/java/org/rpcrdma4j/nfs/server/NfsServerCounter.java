// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

/** What an NFS server counts, over all transports. How often each procedure was called is counted apart. */
public enum NfsServerCounter {
    /** Bytes that READ gave. */
    READ_BYTES,
    /** Bytes that WRITE took. */
    WRITTEN_BYTES,
    /** Calls answered with another status than NFS3_OK. */
    FAILURES,
    /** Of {@link #FAILURES}: NFS3ERR_STALE and NFS3ERR_BADHANDLE. */
    STALE_HANDLES,
    /** Of {@link #FAILURES}: NFS3ERR_JUKEBOX, the client is to come again later. */
    JUKEBOX,
    /** READs that found no memory for their data. */
    READS_WITHOUT_MEMORY,
    /** Times that data was brought to stable storage, for a COMMIT or a WRITE that wanted it. */
    SYNCS,
    /** Times that this failed; each time the write verifier changes. */
    SYNC_FAILURES,
    /** MNTs that were answered with a handle. */
    MOUNTS,
    /** MNTs that were refused. */
    MOUNTS_REFUSED
}
