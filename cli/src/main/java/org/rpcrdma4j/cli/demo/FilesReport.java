// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.rpcrdma4j.cli.loopback.Statistics;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.verbs.MappingLedger;

/**
 * What the demonstration with files has shown. That there is one means that all bytes were equal.
 *
 * @param bytes of all files together
 * @param files how many
 * @param directory the exported one, which is gone
 * @param rounds what was measured; each wrote and read all files, both ways
 * @param undisturbed what the client counted in these rounds
 * @param cut what came of the cut
 */
public record FilesReport(
        long bytes, int files, Path directory, List<Round> rounds, ClientCounts undisturbed, Cut cut) {

    private static final double GIB = 1L << 30;

    /** Rows of the table, and names in JSON. */
    private static final Map<String, List<ClientCounter>> ROWS = new LinkedHashMap<>();

    static {
        ROWS.put("calls", List.of(ClientCounter.CALLS));
        ROWS.put("connections", List.of(ClientCounter.CONNECTS));
        ROWS.put("retransmitted calls", List.of(ClientCounter.RETRANSMISSIONS));
        ROWS.put("regions allocated", List.of(ClientCounter.REGIONS_ALLOCATED));
        ROWS.put("registrations", List.of(ClientCounter.REGISTRATIONS));
        ROWS.put("remote invalidations", List.of(ClientCounter.REMOTE_INVALIDATIONS));
        ROWS.put("local invalidations", List.of(ClientCounter.LOCAL_INVALIDATIONS));
        ROWS.put("recovered", List.of(ClientCounter.REGIONS_RECOVERED, ClientCounter.REGIONS_RECLAIMED));
        ROWS.put("orphaned", List.of(ClientCounter.REGIONS_ORPHANED));
    }

    /** Keeps a copy of the list. */
    public FilesReport {
        rounds = List.copyOf(rounds);
    }

    /** Bytes for each second in one round. */
    public record Round(double rdmaWrite, double tcpWrite, double rdmaRead, double tcpRead) {}

    /**
     * The pass in which the connection was cut.
     *
     * @param callsInFlight when it was
     * @param counts of the client
     */
    public record Cut(long callsInFlight, ClientCounts counts) {}

    private double median(ToDoubleFunction<Round> what) {
        return Statistics.median(rounds.stream().mapToDouble(what).toArray());
    }

    /** The table, for people. */
    public String table() {
        StringBuilder out = new StringBuilder();
        row(out, "", "over RDMA", "oncrpc4j's TCP", "ratio");
        speeds(out, "WRITE", median(Round::rdmaWrite), median(Round::tcpWrite));
        speeds(out, "READ", median(Round::rdmaRead), median(Round::tcpRead));
        out.append('\n');
        row(out, "", "undisturbed", "with a cut", "");
        ROWS.forEach((name, counters) -> row(
                out,
                name,
                Long.toString(undisturbed.count(counters)),
                Long.toString(cut.counts().count(counters)),
                ""));
        return out.toString();
    }

    private static void speeds(StringBuilder out, String what, double rdma, double tcp) {
        row(out, what, gib(rdma), gib(tcp), String.format(Locale.ROOT, "%.2f", rdma / tcp));
    }

    private static String gib(double bytesPerSecond) {
        return String.format(Locale.ROOT, "%.2f GiB/s", bytesPerSecond / GIB);
    }

    private static void row(StringBuilder out, String... cells) {
        out.append("%-22s%14s%17s%9s".formatted((Object[]) cells).stripTrailing())
                .append('\n');
    }

    /**
     * The same for programs; names do not change.
     *
     * @param ledger the device's account after it was closed
     */
    public Map<String, Object> facts(MappingLedger ledger) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("bytes", bytes);
        facts.put("files", files);
        facts.put("rounds", rounds.size());
        facts.put("callsInFlight", FileTransfer.IN_FLIGHT);
        facts.put("write", speeds(median(Round::rdmaWrite), median(Round::tcpWrite)));
        facts.put("read", speeds(median(Round::rdmaRead), median(Round::tcpRead)));
        facts.put("undisturbed", counters(undisturbed));
        Map<String, Object> withCut = counters(cut.counts());
        withCut.put("callsInFlightAtCut", cut.callsInFlight());
        facts.put("withCut", withCut);
        facts.put("allBytesEqual", true);
        Map<String, Object> account = new LinkedHashMap<>();
        account.put("leasesTaken", ledger.maps());
        account.put("leasesGivenBack", ledger.unmaps());
        account.put("leasedBytes", ledger.mappedBytes());
        account.put("regions", ledger.regions());
        account.put("balanced", ledger.isBalanced());
        facts.put("afterClose", account);
        return facts;
    }

    private static Map<String, Object> speeds(double rdma, double tcp) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("rdmaBytesPerSecond", Math.round(rdma));
        facts.put("oncrpc4jTcpBytesPerSecond", Math.round(tcp));
        facts.put("ratio", rdma / tcp);
        return facts;
    }

    private static Map<String, Object> counters(ClientCounts counts) {
        Map<String, Object> facts = new LinkedHashMap<>();
        ROWS.forEach((name, counters) -> facts.put(camelCase(name), counts.count(counters)));
        facts.put("mountstats", counts.mountstats());
        return facts;
    }

    /** "regions allocated" is "regionsAllocated". */
    private static String camelCase(String words) {
        StringBuilder out = new StringBuilder();
        for (String word : words.split(" ", -1)) {
            out.append(out.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return out.toString();
    }
}
