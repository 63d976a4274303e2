// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.files.LocalNames;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.Identity;
import org.rpcrdma4j.nfs.export.ServerUser;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.server.NfsServer;
import org.rpcrdma4j.nfs.server.NfsServerCounter;
import org.rpcrdma4j.nfs.server.NfsServerOptions;
import org.rpcrdma4j.tcp.server.TcpServerCounter;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Serves a directory until it is told to stop. */
@Command(
        name = "serve",
        description = {
            "Serves a directory by NFS version 3 over RDMA, until Ctrl-C; a second Ctrl-C ends it at once.",
            "NFS version 3 neither proves who calls nor encrypts: listen beyond this machine in networks only that you"
                    + " trust."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  rpcrdma serve .                                  for this machine",
            "  rpcrdma serve --listen 0.0.0.0 --read-only /srv  for all that reach it",
            "",
            "For a mount by Linux, whose MOUNT calls go over TCP:",
            "  rpcrdma serve --listen 192.0.2.1 --mountd-port 20048 /srv",
            "  mount -t nfs -o vers=3,proto=rdma,port=20049,mountproto=tcp,mountport=20048,nolock 192.0.2.1:/ /mnt"
        })
final class ServeCommand implements Callable<Integer> {
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final long MAX_ID = 0xffff_ffffL;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DIR", description = "The directory.")
    private Path directory;

    @Option(
            names = "--listen",
            paramLabel = "HOST[:PORT]",
            defaultValue = "127.0.0.1:20049",
            converter = HostPort.ListenConverter.class,
            description = "Where to listen over RDMA; port 0 for any (default: ${DEFAULT-VALUE}).")
    private HostPort listen;

    @Option(
            names = "--mountd-port",
            paramLabel = "N",
            description = "Answer MOUNT and NFS over TCP too, on this port of the same host; 0 for any.")
    private @Nullable Integer mountPort;

    @Option(
            names = "--tcp",
            paramLabel = "HOST:PORT",
            converter = HostPort.ListenConverter.class,
            description = "As --mountd-port, with a host of its own.")
    private @Nullable HostPort tcp;

    @Option(
            names = "--export",
            paramLabel = "NAME",
            defaultValue = "/",
            description = "The name by which clients mount it (default: ${DEFAULT-VALUE}).")
    private String exportName;

    @Option(names = "--read-only", description = "Refuse all changes.")
    private boolean readOnly;

    @Option(
            names = "--squash",
            paramLabel = "root|root-strict|none|all",
            defaultValue = "root",
            description = "Which users act as the anonymous one (default: ${DEFAULT-VALUE}): root, but for root of this"
                    + " machine over loopback; root-strict, that too; none; all. A server that does not run as"
                    + " root acts as its own user for all.")
    private Squash squash;

    @Option(
            names = "--anon-uid",
            paramLabel = "N",
            defaultValue = "65534",
            description = "The anonymous user (default: ${DEFAULT-VALUE}).")
    private long anonymousUser;

    @Option(
            names = "--anon-gid",
            paramLabel = "N",
            defaultValue = "65534",
            description = "Its group (default: ${DEFAULT-VALUE}).")
    private long anonymousGroup;

    @Option(
            names = "--rpcbind",
            negatable = true,
            description =
                    "Register with this host's rpcbind, if one runs (default: if it listens beyond this machine).")
    private @Nullable Boolean rpcbind;

    @Option(names = "--headers", description = "Print each transport header.")
    private boolean headers;

    @Option(
            names = "--crc",
            paramLabel = "on|off",
            defaultValue = "on",
            description = "Whether to ask for checksums in frames (default: ${DEFAULT-VALUE}).")
    private Switch crc;

    @Mixin
    private DeviceOption device;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    ServeCommand() {}

    @Override
    public Integer call() throws IOException {
        require(tcp == null || mountPort == null, "--tcp and --mountd-port exclude each other");
        InetSocketAddress address = listen.resolve();
        InetSocketAddress tcpAddress = tcpAddress(address);
        ExportOptions options = exportOptions();
        NfsServerOptions serverOptions = serverOptions(
                rpcbind != null ? rpcbind : isReachable(address) || (tcpAddress != null && isReachable(tcpAddress)));
        PrintWriter out = spec.commandLine().getOut();
        // ORDER: signals first, so that none finds a server that does not know of them; the device last to be closed.
        try (StopSignal stop = StopSignal.install();
                RdmaDevice opened = device.open(Map.of("crc", crc.toString()));
                Export export = Export.open(directory, options)) {
            NfsServer.Builder builder =
                    NfsServer.builder(export).device(opened).listen(address).options(serverOptions);
            if (tcpAddress != null) {
                builder.tcp(tcpAddress);
            }
            if (headers) {
                builder.wireListener(WireListener.printing(out));
            }
            long began = System.nanoTime();
            try (NfsServer server = builder.start()) {
                warnIfReachable(server);
                out.println("serving " + directory + " as " + describe(server, opened, serverOptions.rpcbind()));
                out.flush();
                stop.await();
                server.close(GRACE);
                requireNothingLeft(opened.ledger());
                out.println(summary(server, System.nanoTime() - began));
                out.flush();
            }
        }
        return 0;
    }

    private @Nullable InetSocketAddress tcpAddress(InetSocketAddress rdma) throws IOException {
        HostPort named = tcp;
        if (named != null) {
            return named.resolve();
        }
        Integer port = mountPort;
        if (port == null) {
            return null;
        }
        require(port >= 0 && port <= 0xffff, "--mountd-port " + port + ": expected 0 to 65535");
        return new InetSocketAddress(rdma.getAddress(), port);
    }

    private ExportOptions exportOptions() {
        require(
                anonymousUser >= 0 && anonymousUser <= MAX_ID,
                "--anon-uid " + anonymousUser + ": expected 0 to " + MAX_ID);
        require(
                anonymousGroup >= 0 && anonymousGroup <= MAX_ID,
                "--anon-gid " + anonymousGroup + ": expected 0 to " + MAX_ID);
        return ExportOptions.DEFAULT
                .withReadOnly(readOnly)
                .withSquash(squash)
                .withAnonymous(new Identity((int) anonymousUser, (int) anonymousGroup, List.of()));
    }

    private NfsServerOptions serverOptions(boolean register) {
        require(exportName.startsWith("/"), "--export " + exportName + ": expected a name that begins with a slash");
        return NfsServerOptions.DEFAULT.withExportName(PathBytes.of(exportName)).withRpcbind(register);
    }

    private void require(boolean right, String wrong) {
        if (!right) {
            throw new ParameterException(spec.commandLine(), wrong);
        }
    }

    private static boolean isReachable(InetSocketAddress address) {
        return !address.getAddress().isLoopbackAddress();
    }

    private void warnIfReachable(NfsServer server) {
        List<String> where = new ArrayList<>();
        for (InetSocketAddress address : addresses(server)) {
            if (isReachable(address)) {
                where.add(text(address));
            }
        }
        if (!where.isEmpty()) {
            spec.commandLine()
                    .getErr()
                    .println(spec.qualifiedName() + ": warning: no authentication, no encryption: whoever reaches "
                            + String.join(" or ", where) + " can read " + (readOnly ? "" : "and change ")
                            + "what is in " + directory);
        }
    }

    private static List<InetSocketAddress> addresses(NfsServer server) {
        List<InetSocketAddress> addresses = new ArrayList<>();
        InetSocketAddress rdma = server.rdmaAddress();
        if (rdma != null) {
            addresses.add(rdma);
        }
        InetSocketAddress overTcp = server.tcpAddress();
        if (overTcp != null) {
            addresses.add(overTcp);
        }
        return addresses;
    }

    private String describe(NfsServer server, RdmaDevice opened, boolean registered) throws IOException {
        InetSocketAddress address = addresses(server).getFirst();
        List<String> how = new ArrayList<>();
        how.add(readOnly ? "read-only" : "read-write");
        ServerUser user = ServerUser.current();
        how.add(
                user.privileged()
                        ? squashed(server)
                        : "all act as "
                                + LocalNames.ofThisMachine()
                                        .user(user.identity().uid()));
        how.add("device " + opened.name());
        InetSocketAddress overTcp = server.tcpAddress();
        if (overTcp != null) {
            how.add("MOUNT and NFS over TCP on " + text(overTcp));
        }
        if (registered) {
            how.add("registered if rpcbind runs");
        }
        NfsUrl url = NfsUrl.of(hostOf(address), address.getPort(), NfsPath.parse(exportName));
        return url + " (" + String.join(", ", how) + ")";
    }

    private String squashed(NfsServer server) {
        return switch (squash) {
            case NONE -> "root is root";
            case ROOT -> rootSquashed(addresses(server));
            case ROOT_STRICT -> "root acts as user " + anonymousUser;
            case ALL -> "all act as user " + anonymousUser;
        };
    }

    /** Root of this machine is known by the sockets of loopback. */
    private String rootSquashed(List<InetSocketAddress> addresses) {
        boolean reachesOthers = addresses.stream().anyMatch(ServeCommand::isReachable);
        boolean isLoopback = addresses.stream()
                .map(InetSocketAddress::getAddress)
                .anyMatch(host -> host.isLoopbackAddress() || host.isAnyLocalAddress());
        if (!isLoopback) {
            return "root acts as user " + anonymousUser;
        }
        return "root of this machine is root" + (reachesOthers ? ", of other machines user " + anonymousUser : "");
    }

    private static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }

    /** An address that others can use; of one that means all, any that reaches beyond this machine. */
    private static String hostOf(InetSocketAddress address) throws IOException {
        InetAddress host = address.getAddress();
        if (!host.isAnyLocalAddress()) {
            return host.getHostAddress();
        }
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(own -> !own.isLoopbackAddress() && !own.isLinkLocalAddress())
                .map(InetAddress::getHostAddress)
                .min((one, other) -> Boolean.compare(one.indexOf(':') >= 0, other.indexOf(':') >= 0))
                .orElse("127.0.0.1");
    }

    /** The last promise of a server: what it has registered for its clients is given back. */
    private static void requireNothingLeft(MappingLedger ledger) throws IOException {
        if (!ledger.isBalanced()) {
            throw new IOException("the server has ended and left " + ledger.regions() + " regions and "
                    + ledger.mappedBytes() + " registered bytes behind; please report this");
        }
    }

    private static String summary(NfsServer server, long nanos) {
        long calls = server.calls().snapshot().values().stream()
                .mapToLong(Long::longValue)
                .sum();
        long connections = 0;
        if (server.rdmaServer() != null) {
            connections += server.rdmaServer().counters().get(ServerCounter.CONNECTS);
        }
        if (server.tcpServer() != null) {
            connections += server.tcpServer().counters().get(TcpServerCounter.CONNECTS);
        }
        return String.format(
                Locale.ROOT,
                "served %d calls on %d connections in %d s: %d bytes read, %d bytes written; nothing is left registered",
                calls,
                connections,
                Math.round(nanos / 1e9),
                server.counters().get(NfsServerCounter.READ_BYTES),
                server.counters().get(NfsServerCounter.WRITTEN_BYTES));
    }
}
