// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rpcrdma4j.cli.loopback.Demonstration;
import org.rpcrdma4j.cli.loopback.RpcDemonstration;
import org.rpcrdma4j.cli.loopback.Sample;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.ErrorReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows RDMA at work in one process over loopback. */
@Command(
        name = "demo",
        description = {
            "Shows RDMA, and RPC over RDMA, at work in one process over loopback.",
            "Moves data to a server by RDMA Write and back by RDMA Read, in pieces of 1 MiB, each through a registration that"
                    + " is made for it and invalidated after it; compares all bytes; tries a key that was invalidated;"
                    + " does the same by RPC calls through the transport; and checks that the device keeps no memory afterwards."
        })
final class DemoCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = ByteSize.Converter.class,
            description = "How much to move each way, such as 64MiB; three times as much memory is used"
                    + " (default: ${DEFAULT-VALUE}).")
    private ByteSize size;

    @Mixin
    private DeviceOption device;

    @Option(
            names = "--crc",
            paramLabel = "on|off",
            defaultValue = "on",
            description = "Whether frames carry a checksum (default: ${DEFAULT-VALUE}).")
    private Switch crc;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    DemoCommand() {}

    @Override
    public Integer call() throws IOException {
        Demonstration.Seen seen;
        RpcDemonstration.Seen calls;
        RdmaDevice opened = device.open(Map.of("crc", crc.toString()));
        try (opened;
                ProgressLine line = new ProgressLine(RpcrdmaCommand.streams(spec.commandLine()))) {
            seen = Demonstration.run(
                    opened, size.bytes(), done -> line.show("moving: %d %%".formatted(done * 50 / size.bytes())));
            line.show("calling");
            calls = RpcDemonstration.run(opened, size.bytes());
        } catch (OutOfMemoryError e) {
            throw new IOException("no memory for two buffers of " + size.bytes() + " bytes; try a smaller --size", e);
        }
        MappingLedger ledger = Demonstration.requireBalanced(opened.ledger());
        print(spec.commandLine().getOut(), opened.name(), seen, ledger, calls);
        return 0;
    }

    private void print(
            PrintWriter out, String name, Demonstration.Seen seen, MappingLedger ledger, RpcDemonstration.Seen calls) {
        line(out, "device", name + " of provider " + device.provider());
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
        printCalls(out, seen, calls);
        line(
                out,
                "after close",
                "%d leases taken, %d given back, %d bytes leased, %d regions"
                        .formatted(ledger.maps(), ledger.unmaps(), ledger.mappedBytes(), ledger.regions()));
    }

    private static void printCalls(PrintWriter out, Demonstration.Seen seen, RpcDemonstration.Seen calls) {
        line(out, "WRITE calls", speed(calls.take(), seen.plain()));
        line(out, "READ calls", speed(calls.give(), seen.plain()));
        line(
                out,
                "RPC over RDMA",
                "%d calls, %s each way, all bytes equal; %d registrations, %d invalidated by the server, %d here; %d regions made"
                        .formatted(
                                calls.count(ClientCounter.RECEIVES),
                                new ByteSize(calls.bytes()),
                                calls.count(ClientCounter.REGISTRATIONS),
                                calls.count(ClientCounter.REMOTE_INVALIDATIONS),
                                calls.count(ClientCounter.LOCAL_INVALIDATIONS),
                                calls.count(ClientCounter.REGIONS_ALLOCATED)));
        line(out, "mountstats", calls.mountstats());
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
