// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.tcp.client.TcpRpcClient;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.MountstatsLine;
import org.rpcrdma4j.verbs.MappingLedger;

/** What the transport below a volume did. */
final class TransportStatistics {
    private TransportStatistics() {}

    /** Prints the line that Linux prints of a mount over RDMA, and all counters that are not 0. */
    static void print(PrintWriter to, NfsVolume volume) {
        String name = volume.export().display();
        RpcClient client = volume.client().rpc();
        if (client instanceof RpcRdmaClient rdma) {
            to.println(name + " " + MountstatsLine.of(rdma.counters(), 0, MountstatsLine.Columns.TO_27));
            to.println(name + " " + counted(rdma.counters()));
        } else if (client instanceof TcpRpcClient tcp) {
            to.println(name + " " + counted(tcp.counters()));
        }
        to.flush();
    }

    /** Prints what was registered and what is left of that. */
    static void print(PrintWriter to, MappingLedger ledger) {
        to.println("after close: " + text(ledger));
        to.flush();
    }

    /** A device's account of leases in words. */
    static String text(MappingLedger ledger) {
        return ledger.maps() + " leases taken, " + ledger.unmaps() + " given back, " + ledger.mappedBytes()
                + " bytes leased, " + ledger.regions() + " regions";
    }

    private static String counted(Counters<?> counters) {
        return counters.snapshot().entrySet().stream()
                .filter(counter -> counter.getValue() != 0)
                .map(TransportStatistics::text)
                .collect(Collectors.joining(", "));
    }

    private static String text(Map.Entry<? extends Enum<?>, Long> counter) {
        return counter.getKey().name().toLowerCase(Locale.ROOT) + " " + counter.getValue();
    }
}
