// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rpcrdma4j.cli.loopback.Statistics;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;
import org.rpcrdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Calls procedure 0 of a program again and again. */
@Command(
        name = "ping",
        description = {
            "Calls procedure 0 of a program on an RPC-over-RDMA server and prints how long each answer takes.",
            "Without --program it asks for NFS version 3."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  rpcrdma ping server.example", "  rpcrdma ping 127.0.0.1:20049 -c 10 -i 0 --headers"})
final class PingCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "HOST[:PORT]",
            converter = HostPort.Converter.class,
            description = "The server; port 20049 unless named.")
    private HostPort server;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            defaultValue = "5",
            description = "How many calls (default: ${DEFAULT-VALUE}).")
    private int count;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "Pause between calls (default: ${DEFAULT-VALUE}).")
    private double interval;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "How long to wait for each answer, connecting included (default: ${DEFAULT-VALUE}).")
    private double timeout;

    @Option(
            names = "--program",
            paramLabel = "NUMBER",
            defaultValue = "" + Bindings.NFS,
            description = "The program (default: ${DEFAULT-VALUE}).")
    private int program;

    @Option(
            names = "--program-version",
            paramLabel = "NUMBER",
            defaultValue = "3",
            description = "Its version (default: ${DEFAULT-VALUE}).")
    private int version;

    @Option(names = "--headers", description = "Print each transport header too.")
    private boolean headers;

    @Option(
            names = "--crc",
            paramLabel = "on|off",
            defaultValue = "on",
            description = "Whether to ask for checksums (default: ${DEFAULT-VALUE}).")
    private Switch crc;

    @Mixin
    private DeviceOption device;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    PingCommand() {}

    @Override
    public Integer call() throws IOException {
        require(count >= 1, "--count " + count + ": expected at least 1");
        require(interval >= 0 && interval <= 3600, "--interval " + interval + ": expected 0 to 3600");
        require(timeout > 0 && timeout <= 3600, "--timeout " + timeout + ": expected more than 0 and at most 3600");
        InetSocketAddress address = server.resolve();
        PrintWriter out = spec.commandLine().getOut();
        try (RdmaDevice opened = device.open(Map.of("crc", crc.toString()));
                RpcRdmaClient client = client(opened, address, out)) {
            ping(client, address, out);
        }
        return 0;
    }

    private RpcRdmaClient client(RdmaDevice opened, InetSocketAddress address, PrintWriter out) {
        RpcRdmaClient.Builder builder = RpcRdmaClient.builder(opened, address)
                .connectAttempts(1)
                .maxInFlight(1)
                .callTimeout(Duration.ofNanos((long) (timeout * 1e9)));
        if (headers) {
            builder.wireListener(WireListener.printing(out));
        }
        return builder.build();
    }

    private void ping(RpcRdmaClient client, InetSocketAddress address, PrintWriter out) throws IOException {
        List<Long> nanos = new ArrayList<>(count);
        for (int i = 1; i <= count; i++) {
            long begin = System.nanoTime();
            callNull(client);
            long took = System.nanoTime() - begin;
            nanos.add(took);
            out.printf(
                    Locale.ROOT,
                    "answer from %s: call %d, %.3f ms%s%n",
                    address,
                    i,
                    took / 1e6,
                    i == 1 ? ", connecting included" : "");
            out.flush();
            if (i < count && interval > 0) {
                LockSupport.parkNanos((long) (interval * TimeUnit.SECONDS.toNanos(1)));
            }
        }
        long[] all = nanos.stream().mapToLong(Long::longValue).toArray();
        out.printf(
                Locale.ROOT,
                "%d calls, %d answers; least %.3f, median %.3f, p99 %.3f ms%n",
                count,
                all.length,
                Statistics.quantile(0, all) / 1e6,
                Statistics.quantile(0.5, all) / 1e6,
                Statistics.quantile(0.99, all) / 1e6);
    }

    private void callNull(RpcRdmaClient client) throws IOException {
        int xid = client.nextXid();
        XdrWriter head = new XdrWriter();
        new CallHeader(xid, program, version, 0, Credential.None.INSTANCE).encode(head);
        Reply reply = reply(
                client,
                CallMessage.builder(MemorySegment.ofArray(head.toByteArray())).build());
        try {
            ReplyReader.readHeader(new XdrReader(reply.message()), xid);
        } catch (RpcException e) {
            throw new IOException(
                    "program " + Integer.toUnsignedString(program) + " version " + version + ": " + e.getMessage(), e);
        }
    }

    private Reply reply(RpcRdmaClient client, CallMessage message) throws IOException {
        try {
            return client.call(message);
        } catch (TransportException e) {
            if (e.kind() == TransportException.Kind.TIMED_OUT) {
                throw new IOException("no answer from " + server + " within " + timeout + " s", e);
            }
            throw e;
        }
    }

    private void require(boolean right, String wrong) {
        if (!right) {
            throw new ParameterException(spec.commandLine(), wrong);
        }
    }
}
