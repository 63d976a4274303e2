// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.OptionalInt;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.CallerConnection;

/**
 * Finds out whether calls come from root of this machine: of a connection over loopback the kernel tells who has the other end. Any thread.
 *
 * <p>What was found holds as long as the connection does, and for no other: a port that somebody else has later is looked up anew.
 */
final class LocalRoot {

    private static final System.Logger LOG = System.getLogger(LocalRoot.class.getName());

    /** A table that changes while it is read may lack a line that was there all the time. */
    private static final int LOOK_UPS = 3;

    private final SocketOwners owners;
    /** By identity. Entries go with their connections, and those are bounded. */
    private final Map<CallerConnection, Boolean> known = new WeakHashMap<>();

    LocalRoot(SocketOwners owners) {
        this.owners = owners;
    }

    /** Whether the caller's end of the connection belongs to root of this machine; false for all that cannot be told. */
    boolean isAt(@Nullable CallerConnection connection) {
        if (connection == null || !isLoopback(connection.localAddress()) || !isLoopback(connection.remoteAddress())) {
            return false;
        }
        synchronized (known) {
            Boolean before = known.get(connection);
            if (before != null) {
                return before;
            }
        }
        boolean isRoot;
        try {
            isRoot = isRootsSocket(connection.remoteAddress(), connection.localAddress());
        } catch (IOException e) {
            LOG.log(Level.DEBUG, () -> "no telling who is at " + connection.remoteAddress() + ": " + e);
            return false;
        }
        // ORDER: after the look-up. While the connection is there, its caller's port is not another one's.
        if (!connection.isOpen()) {
            return false;
        }
        synchronized (known) {
            known.put(connection, isRoot);
        }
        return isRoot;
    }

    private boolean isRootsSocket(InetSocketAddress local, InetSocketAddress remote) throws IOException {
        for (int i = 0; i < LOOK_UPS; i++) {
            OptionalInt user = owners.userOf(local, remote);
            if (user.isPresent()) {
                return user.getAsInt() == 0;
            }
        }
        return false;
    }

    private static boolean isLoopback(InetSocketAddress address) {
        return address.getAddress() != null && address.getAddress().isLoopbackAddress();
    }
}
