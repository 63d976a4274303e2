// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

/** The results of a procedure of NFS version 3; all begin with a status. */
public interface NfsResults extends XdrValue {

    /** Whether it succeeded, and why not. */
    Status status();

    /** Whether it succeeded. */
    default boolean isOk() {
        return status() == Status.OK;
    }
}
