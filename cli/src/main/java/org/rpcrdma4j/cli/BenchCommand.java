// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rpcrdma4j.cli.demo.NfsBenchmark;
import org.rpcrdma4j.cli.loopback.Gate;
import org.rpcrdma4j.cli.loopback.RpcBenchmark;
import org.rpcrdma4j.cli.loopback.VerbsBenchmark;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures a device beside plain TCP, and NFS on it beside oncrpc4j's TCP. */
@Command(
        name = "bench",
        description = {
            "Measures a device over loopback, in one process, each row in turns with the same over a plain socket; files over"
                    + " NFS/RDMA in turns with the same through stock oncrpc4j over TCP.",
            "Ratios are of neighbouring samples, medians of 5 rounds. CPU is that of the whole process, both ends together."
        })
final class BenchCommand implements Callable<Integer> {
    /** Which frames to measure. */
    enum Crc {
        ON,
        OFF,
        BOTH
    }

    /** What to measure. */
    enum Layer {
        VERBS,
        RPC,
        NFS,
        ALL;

        boolean includes(Layer part) {
            return this == ALL || this == part;
        }
    }

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Seconds for each row, without warm-up (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
            names = "--crc",
            paramLabel = "on|off|both",
            defaultValue = "both",
            description = "Whether frames carry a checksum (default: ${DEFAULT-VALUE}).")
    private Crc crc;

    @Option(
            names = "--layer",
            paramLabel = "verbs|rpc|nfs|all",
            defaultValue = "all",
            description =
                    "What to measure: the device alone, calls through the transport, files over NFS, or all of them"
                            + " (default: ${DEFAULT-VALUE}).")
    private Layer layer;

    @Mixin
    private DeviceOption device;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    BenchCommand() {}

    @Override
    public Integer call() throws IOException {
        if (!(seconds > 0 && seconds <= 3600)) {
            throw new ParameterException(
                    spec.commandLine(), "--seconds " + seconds + ": expected more than 0 and at most 3600");
        }
        List<Gate> gates = new ArrayList<>();
        try (ProgressLine line = new ProgressLine(RpcrdmaCommand.streams(spec.commandLine()))) {
            boolean off = crc != Crc.ON;
            boolean on = crc != Crc.OFF;
            if (layer.includes(Layer.VERBS)) {
                gates.addAll(new VerbsBenchmark(device::open, seconds, line::show).run(off, on));
            }
            if (layer.includes(Layer.RPC)) {
                gates.addAll(new RpcBenchmark(device::open, seconds, line::show).run(off, on));
            }
            if (layer.includes(Layer.NFS)) {
                gates.addAll(new NfsBenchmark(device::open, seconds, line::show).run(off, on));
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(JsonText.of(gates.stream().map(BenchCommand::facts).toList()));
        } else {
            print(out, gates);
        }
        return 0;
    }

    private static void print(PrintWriter out, List<Gate> gates) {
        out.printf("%-66s %8s %17s  %-10s %s%n", "", "median", "least..most", "gate", "");
        for (Gate gate : gates) {
            String bound =
                    gate.isBounded() ? (gate.atLeast() ? ">= " : "<= ") + number(gate.bound(), gate.unit()) : "-";
            String verdict = gate.isBounded() ? (gate.holds() ? "holds" : "does not hold") : "";
            out.printf(
                    "%-66s %8s %17s  %-10s %-13s  %s%n",
                    gate.subject(),
                    number(gate.median(), gate.unit()),
                    number(gate.least(), "") + ".." + number(gate.most(), ""),
                    bound,
                    verdict,
                    gate.note());
        }
    }

    private static String number(double value, String unit) {
        String form = Math.abs(value) >= 100 ? "%.0f%s" : "%.2f%s";
        return String.format(Locale.ROOT, form, value, unit.equals("x") ? "" : unit.isEmpty() ? "" : " " + unit);
    }

    private static Map<String, Object> facts(Gate gate) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("subject", gate.subject());
        facts.put("unit", gate.unit().equals("x") ? "ratio" : gate.unit());
        facts.put("median", gate.median());
        facts.put("values", gate.values());
        if (gate.isBounded()) {
            facts.put(gate.atLeast() ? "atLeast" : "atMost", gate.bound());
            facts.put("holds", gate.holds());
        }
        facts.put("note", gate.note());
        return facts;
    }
}
