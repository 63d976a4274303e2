// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.tcp.rpcbind.NetworkId;
import org.rpcrdma4j.tcp.rpcbind.RpcbindClient;

/**
 * What a server has told the host's rpcbind, to be taken back at its end. Best effort: without rpcbind, and when that refuses, the server
 * is there all the same, for clients that know its ports. Used by one thread at a time; blocks for a few seconds at most.
 */
final class RpcbindEntries {

    private static final System.Logger LOG = System.getLogger(RpcbindEntries.class.getName());

    private final RpcbindClient rpcbind;
    private final List<Entry> entries = new ArrayList<>();

    private record Entry(int program, int version, NetworkId network) {}

    RpcbindEntries(RpcbindClient rpcbind) {
        this.rpcbind = rpcbind;
    }

    void add(int program, int version, NetworkId network, InetSocketAddress address) {
        try {
            if (rpcbind.register(program, version, network, address)) {
                entries.add(new Entry(program, version, network));
            }
        } catch (IOException e) {
            LOG.log(Level.INFO, "rpcbind did not take program " + program + " on " + network.text(), e);
        }
    }

    void removeAll() {
        for (Entry entry : entries) {
            try {
                rpcbind.unregister(entry.program, entry.version, entry.network);
            } catch (IOException e) {
                LOG.log(Level.DEBUG, "rpcbind kept program " + entry.program, e);
            }
        }
        entries.clear();
    }

    int size() {
        return entries.size();
    }
}
