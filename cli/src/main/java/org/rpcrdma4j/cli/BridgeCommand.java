// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rpcrdma4j.bridge.Bridge;
import org.rpcrdma4j.bridge.BridgeCounter;
import org.rpcrdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Forwards calls between TCP and RDMA until it is stopped. */
@Command(
        name = "bridge",
        description = {
            "Forwards the calls of any ONC RPC program between TCP and RDMA, until Ctrl-C.",
            "A client that knows only TCP uses an RDMA server, or a server that knows only TCP gets RDMA."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma bridge --from tcp:127.0.0.1:2049 --to rdma:server.example:20049",
            "  rpcrdma bridge --from rdma:0.0.0.0:20049 --to tcp:127.0.0.1:2049"
        })
final class BridgeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--from",
            required = true,
            paramLabel = "KIND:HOST:PORT",
            converter = BridgeAddress.Converter.class,
            description = "Where clients come: tcp:HOST:PORT or rdma:HOST:PORT; port 0 for any that is free.")
    private BridgeAddress from;

    @Option(
            names = "--to",
            required = true,
            paramLabel = "KIND:HOST:PORT",
            converter = BridgeAddress.Converter.class,
            description = "The server, of the other kind.")
    private BridgeAddress to;

    @Option(
            names = "--crc",
            paramLabel = "on|off",
            defaultValue = "on",
            description = "Whether to ask for checksums over RDMA (default: ${DEFAULT-VALUE}).")
    private Switch crc;

    @Mixin
    private DeviceOption device;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    BridgeCommand() {}

    @Override
    public Integer call() throws IOException {
        require(
                from.kind() != to.kind(),
                "--from " + from + " --to " + to + ": expected one end over tcp and the other over rdma");
        require(to.port() != 0, "--to " + to + ": expected the server's port");
        PrintWriter out = spec.commandLine().getOut();
        try (StopSignal stop = StopSignal.install();
                RdmaDevice opened = device.open(Map.of("crc", crc.toString()));
                Bridge bridge = start(opened)) {
            out.println("bridge from " + from.kind() + " " + bridge.localAddress() + " to " + to + " is ready");
            out.flush();
            stop.await();
            out.printf(
                    "%d connections, %d calls, %d replies%n",
                    bridge.counters().get(BridgeCounter.CONNECTIONS),
                    bridge.counters().get(BridgeCounter.CALLS),
                    bridge.counters().get(BridgeCounter.REPLIES));
            out.flush();
        }
        return 0;
    }

    private Bridge start(RdmaDevice opened) throws IOException {
        Bridge.Builder builder =
                Bridge.builder().device(opened).from(from.resolve()).to(to.resolve());
        try {
            return builder.start();
        } catch (IOException e) {
            throw new IOException("cannot listen at " + from + ": " + e.getMessage(), e);
        }
    }

    private void require(boolean right, String wrong) {
        if (!right) {
            throw new ParameterException(spec.commandLine(), wrong);
        }
    }
}
