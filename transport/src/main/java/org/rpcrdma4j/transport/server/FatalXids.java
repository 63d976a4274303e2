// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * Remembers the calls whose chunks broke their connection.
 *
 * <p>RFC 8166, Section 4.5.3: when such a call comes again on a new connection, it should be answered with ERR_CHUNK, or client and
 * server break one connection after the other. A call is known by the client's host, not its port, and its XID. The number is bounded and so
 * is the time, for XIDs come again; each is used up by one answer.
 *
 * <p>Any thread.
 */
final class FatalXids {

    private record Key(@Nullable InetAddress host, int xid) {}

    private final int capacity;
    private final long keepNanos;
    private final LinkedHashMap<Key, Long> since = new LinkedHashMap<>();
    private volatile boolean isEmpty = true;

    FatalXids(int capacity, long keepNanos) {
        this.capacity = capacity;
        this.keepNanos = keepNanos;
    }

    /** Whether a work request that ended so was at fault itself, and not the connection. */
    static boolean blames(WorkCompletion.Status status) {
        return switch (status) {
            case REMOTE_ACCESS_ERROR, REMOTE_INVALID_REQUEST_ERROR, REMOTE_OPERATION_ERROR, LOCAL_LENGTH_ERROR -> true;
            case SUCCESS, FLUSHED, LOCAL_QP_OPERATION_ERROR, LOCAL_PROTECTION_ERROR, GENERAL_ERROR -> false;
        };
    }

    void add(InetSocketAddress client, int xid, long nowNanos) {
        synchronized (since) {
            Key key = new Key(client.getAddress(), xid);
            // Removed first, so that it counts as the newest.
            since.remove(key);
            since.put(key, nowNanos);
            if (since.size() > capacity) {
                since.remove(since.firstEntry().getKey());
            }
            isEmpty = false;
        }
    }

    /** Whether the call is one of them; it is forgotten then. */
    boolean take(InetSocketAddress client, int xid, long nowNanos) {
        if (isEmpty) {
            return false;
        }
        synchronized (since) {
            Long at = since.remove(new Key(client.getAddress(), xid));
            forgetOld(nowNanos);
            isEmpty = since.isEmpty();
            return at != null && nowNanos - at <= keepNanos;
        }
    }

    private void forgetOld(long nowNanos) {
        Map.Entry<Key, Long> oldest = since.firstEntry();
        while (oldest != null && nowNanos - oldest.getValue() > keepNanos) {
            since.remove(oldest.getKey());
            oldest = since.firstEntry();
        }
    }
}
