// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.util.Locale;

/** Whose claims about themselves are not believed by a server that runs as root. */
public enum Squash {
    /** Everybody is who they say. */
    NONE,
    /**
     * User 0 and group 0 become the anonymous ones, but for root of the server's machine itself: who calls over loopback from a socket that root
     * made. A proxy that root runs on this machine, such as a tunnel's end, speaks for root then, whoever is behind it; for that there is {@link
     * #ROOT_STRICT}.
     */
    ROOT,
    /** User 0 and group 0 become the anonymous ones, wherever they are. */
    ROOT_STRICT,
    /** Everybody becomes anonymous. */
    ALL;

    /** As it is written on command lines: {@code root-strict}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
