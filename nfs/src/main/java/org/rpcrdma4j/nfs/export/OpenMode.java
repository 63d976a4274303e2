// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

/** What a file is opened for. */
public enum OpenMode {
    /** READ. */
    READ,
    /** WRITE and COMMIT. */
    WRITE
}
