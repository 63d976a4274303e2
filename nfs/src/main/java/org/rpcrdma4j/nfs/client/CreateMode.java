// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

/** What to do if the file to be made is there already. */
public enum CreateMode {
    /** Fail. Succeeds exactly once among all clients, also if the server restarts meanwhile (EXCLUSIVE). */
    NEW,
    /** Take it as it is, and set the given attributes (UNCHECKED); size 0 empties it. */
    EXISTING_TOO
}
