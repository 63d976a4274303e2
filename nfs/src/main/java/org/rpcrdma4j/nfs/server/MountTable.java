// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.PathBytes;

/**
 * Who has mounted what, as far as hosts have said (RFC 1813, Section 5.2.2: the list is advice only, nothing depends on it). Bounded: the
 * oldest entry makes room for a new one. Any thread.
 */
final class MountTable {

    private final int capacity;
    private final LinkedHashSet<Entry> entries = new LinkedHashSet<>();

    private record Entry(InetAddress host, PathBytes directory) {}

    MountTable(int capacity) {
        this.capacity = capacity;
    }

    synchronized void add(InetAddress host, PathBytes directory) {
        if (entries.add(new Entry(host, directory)) && entries.size() > capacity) {
            entries.removeFirst();
        }
    }

    synchronized void remove(InetAddress host, PathBytes directory) {
        entries.remove(new Entry(host, directory));
    }

    synchronized void removeAll(InetAddress host) {
        entries.removeIf(entry -> entry.host.equals(host));
    }

    /** A copy, in the order of their arrival. */
    synchronized List<Mount.Entry> list() {
        List<Mount.Entry> list = new ArrayList<>(entries.size());
        for (Entry entry : entries) {
            list.add(new Mount.Entry(entry.host.getHostAddress(), entry.directory));
        }
        return list;
    }

    synchronized int size() {
        return entries.size();
    }
}
