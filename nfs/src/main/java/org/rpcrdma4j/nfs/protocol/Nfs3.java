// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

/** Numbers of NFS version 3 (RFC 1813, Sections 2.1 and 2.4). */
public final class Nfs3 {

    /** The program. */
    public static final int PROGRAM = 100003;

    /** The version. */
    public static final int VERSION = 3;

    /** The longest file handle. */
    public static final int MAX_HANDLE_BYTES = 64;

    /**
     * The longest file name and the longest path of a symbolic link that are read. RFC 1813, Section 2.5 leaves both without a bound, for
     * servers to answer NFS3ERR_NAMETOOLONG; this is above what any file system has.
     */
    public static final int MAX_NAME_BYTES = 64 << 10;

    /** The port of NFS over RDMA (RFC 8267, Section 8). */
    public static final int RDMA_PORT = 20049;

    /** The port of NFS over TCP. */
    public static final int TCP_PORT = 2049;

    private Nfs3() {}
}
