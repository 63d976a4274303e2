// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

/** Whose claims about themselves are not believed by a server that runs as root. */
public enum Squash {
    /** Everybody is who they say. */
    NONE,
    /** User 0 and group 0 become the anonymous ones. */
    ROOT,
    /** Everybody becomes anonymous. */
    ALL
}
