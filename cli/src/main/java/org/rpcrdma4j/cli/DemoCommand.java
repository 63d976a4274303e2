// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rpcrdma4j.cli.demo.FilesDemonstration;
import org.rpcrdma4j.cli.demo.FilesReport;
import org.rpcrdma4j.cli.loopback.Demonstration;
import org.rpcrdma4j.cli.loopback.Sample;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ErrorReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows NFS over RDMA, or RDMA alone, at work in one process over loopback. */
@Command(
        name = "demo",
        description = {
            "Shows files over NFS/RDMA at work in one process over loopback, on the software iWARP device.",
            "Exports a fresh directory, mounts it, writes files and reads them back, and compares each byte; moves the same files"
                    + " through stock oncrpc4j over TCP; does it again through a relay that cuts the connection while calls are"
                    + " in flight; and prints throughput and what memory registration did. Everything is removed at the end."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma demo",
            "  rpcrdma demo --size 1GiB --crc off",
            "  rpcrdma demo --json | jq .withCut",
            "  rpcrdma demo --damage; echo $?"
        })
final class DemoCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = ByteSize.Converter.class,
            description =
                    "Size of all files together, such as 64MiB; twice as much room is used, in /dev/shm or else the"
                            + " directory for temporary files (default: ${DEFAULT-VALUE}).")
    private ByteSize size;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Mixin
    private DeviceOption device;

    @Option(
            names = "--crc",
            paramLabel = "on|off",
            defaultValue = "on",
            description = "Whether frames carry a checksum (default: ${DEFAULT-VALUE}).")
    private Switch crc;

    @Option(
            names = "--damage",
            description = "Change a byte of a file behind the server's back before it is read: the command must notice,"
                    + " and end with status 1.")
    private boolean damage;

    @Option(
            names = "--verbs",
            description =
                    "Show the device alone instead: RDMA Write and RDMA Read, each piece of 1 MiB through a registration"
                            + " of its own, and a key that was invalidated and is refused. Uses memory for --size three times.")
    private boolean verbs;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    DemoCommand() {}

    @Override
    public Integer call() throws IOException {
        if (verbs && (json || damage)) {
            throw new ParameterException(spec.commandLine(), "--verbs goes with neither --json nor --damage");
        }
        if (size.bytes() > Long.MAX_VALUE / 4) {
            throw new ParameterException(spec.commandLine(), "--size " + size + ": too large");
        }
        RdmaDevice opened = device.open(Map.of("crc", crc.toString()));
        if (verbs) {
            showVerbs(opened);
        } else {
            showFiles(opened);
        }
        return 0;
    }

    private void showFiles(RdmaDevice opened) throws IOException {
        FilesReport report;
        try (opened;
                ProgressLine line = new ProgressLine(RpcrdmaCommand.streams(spec.commandLine()))) {
            report = FilesDemonstration.run(opened, size.bytes(), damage, line::show);
        }
        MappingLedger ledger = Demonstration.requireBalanced(opened.ledger());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Map<String, Object> facts = new LinkedHashMap<>();
            facts.put("device", opened.name());
            facts.put("provider", device.provider());
            facts.put("crc", crc == Switch.ON);
            facts.putAll(report.facts(ledger));
            out.println(JsonText.of(facts));
        } else {
            print(out, opened.name(), report, ledger);
        }
    }

    private void print(PrintWriter out, String name, FilesReport report, MappingLedger ledger) {
        line(out, "device", name + " of provider " + device.provider() + ", CRC " + crc);
        line(
                out,
                "files",
                "%d files, %s, in %s, served and mounted by NFS version 3"
                        .formatted(report.files(), size, report.directory()));
        out.println();
        out.print(report.table());
        out.println();
        line(
                out,
                "data",
                "%s written and read %d times, and again with the connection cut at %d calls in flight: all bytes equal"
                        .formatted(size, report.rounds().size(), report.cut().callsInFlight()));
        line(out, "mountstats", report.cut().counts().mountstats());
        account(out, ledger);
    }

    private void showVerbs(RdmaDevice opened) throws IOException {
        Demonstration.Seen seen;
        try (opened;
                ProgressLine line = new ProgressLine(RpcrdmaCommand.streams(spec.commandLine()))) {
            seen = Demonstration.run(
                    opened, size.bytes(), done -> line.show("moving: %d %%".formatted(done * 50 / size.bytes())));
        } catch (OutOfMemoryError e) {
            throw new IOException("no memory for three buffers of " + size.bytes() + " bytes; try a smaller --size", e);
        }
        MappingLedger ledger = Demonstration.requireBalanced(opened.ledger());
        PrintWriter out = spec.commandLine().getOut();
        line(out, "device", opened.name() + " of provider " + device.provider());
        line(out, "connection", seen.agreed());
        line(out, "RDMA Write", speed(seen.write(), seen.plain()));
        line(out, "RDMA Read", speed(seen.read(), seen.plain()));
        line(out, "plain TCP", "%.2f GiB/s".formatted(seen.plain().gibPerSecond()));
        line(out, "data", size + " there and " + size + " back, all bytes equal");
        line(
                out,
                "registration",
                "%d registrations, %d invalidations, %d keys, one for each piece; none valid afterwards"
                        .formatted(seen.registrations(), seen.invalidations(), seen.keys()));
        line(out, "stale key", refusal(seen));
        account(out, ledger);
    }

    private static void account(PrintWriter out, MappingLedger ledger) {
        line(out, "after close", TransportStatistics.text(ledger));
    }

    private static String refusal(Demonstration.Seen seen) {
        ErrorReport report = seen.refusal().report();
        String words = report == null ? seen.refusal().detail() : report.description();
        return "refused, memory unchanged; the peer got: " + words + "; the first connection is "
                + seen.firstConnection();
    }

    private static String speed(Sample ours, Sample plain) {
        return String.format(
                Locale.ROOT,
                "%.2f GiB/s, %.2f of plain TCP",
                ours.gibPerSecond(),
                ours.gibPerSecond() / plain.gibPerSecond());
    }

    private static void line(PrintWriter out, String what, String text) {
        out.printf("%-13s %s%n", what, text);
    }
}
