// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.tcp.rpcbind.NetworkId;
import org.rpcrdma4j.tcp.rpcbind.RpcbindClient;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.rpc.RpcException;

/**
 * Finds the root of the export that holds a URL's path. MOUNT is looked for in this order: not at all if a handle is given; at the TCP port
 * that is given; on the connection of NFS itself; where the host's rpcbind says.
 */
final class Mounting {

    private static final Duration UNMOUNT_TIMEOUT = Duration.ofSeconds(2);

    /** As many exports are named in a message, and so much of each name. */
    private static final int MAX_LISTED = 8;

    private static final int MAX_LISTED_LENGTH = 60;

    private final NfsUrl url;
    private final MountOptions options;
    private final Connecting connecting;

    /**
     * What was found.
     *
     * @param export the export's path
     * @param root the handle of its root
     * @param wasAsked whether MOUNT was asked for it, which then knows of it
     * @param mountAddress where MOUNT is served over TCP; null if it is on the connection of NFS, or not needed
     */
    record Mounted(
            NfsPath export,
            FileHandle root,
            boolean wasAsked,
            @Nullable InetSocketAddress mountAddress) {}

    Mounting(NfsUrl url, MountOptions options, Connecting connecting) {
        this.url = url;
        this.options = options;
        this.connecting = connecting;
    }

    Mounted mount() throws IOException {
        FileHandle given = url.handle() == null ? options.handle() : url.handle();
        int port = url.mountPort() == 0 ? options.mountPort() : url.mountPort();
        try (RpcClient nfs = connecting.impatient()) {
            // ORDER: a server that is not there is found out here, by a client that does not wait for it.
            Waiting.await(NfsClient.over(nfs, options).nothing(), "mount", url.display());
            if (given != null) {
                return new Mounted(NfsPath.ROOT, given, false, null);
            }
            if (port != 0) {
                return mountOverTcp(new InetSocketAddress(connecting.host(), port));
            }
            try {
                return find(nfs, null);
            } catch (CallFailedException e) {
                if (!(e.getCause() instanceof RpcException.ProgramUnavailable)
                        && !(e.getCause() instanceof RpcException.ProgramMismatch)) {
                    throw e;
                }
            }
        }
        Optional<InetSocketAddress> found = RpcbindClient.of(connecting.host())
                .find(Mount.PROGRAM, Mount.VERSION, NetworkId.tcpFor(connecting.host()));
        return mountOverTcp(found.orElseThrow(() -> new IOException("cannot mount " + url.display()
                + ": neither the NFS server nor rpcbind of the host knows of MOUNT; name its port by ?mountport=N")));
    }

    private Mounted mountOverTcp(InetSocketAddress address) throws IOException {
        try (RpcClient rpc = connecting.mount(address)) {
            return find(rpc, address);
        }
    }

    private Mounted find(RpcClient rpc, @Nullable InetSocketAddress mountAddress) throws IOException {
        MountClient client = new MountClient(rpc, url.display(), options.credential(), options.timeout());
        List<NfsPath> exports = exports(client);
        Status failure = Status.NOENT;
        for (NfsPath candidate : candidates(exports)) {
            switch (client.mount(candidate.toPathBytes())) {
                case Mount.Ok ok -> {
                    return new Mounted(candidate, ok.directory(), true, mountAddress);
                }
                case Mount.Failed failed -> {
                    Status status = failed.status().status();
                    failure = status == Status.NOENT || status == Status.NOTDIR ? failure : status;
                }
            }
        }
        // RFC 1813, Section 5.2.1: either may be the answer to a path outside all exports; Linux refuses.
        boolean isOutside = (failure == Status.NOENT || failure == Status.ACCES)
                && exports.stream().noneMatch(url.path()::startsWith);
        if (isOutside && !exports.isEmpty()) {
            throw new NfsException(
                    Status.NOENT,
                    "mount",
                    url.display(),
                    "no such export; " + url.host() + " exports: " + listed(exports));
        }
        throw new NfsException(failure, "mount", url.display());
    }

    private static String listed(List<NfsPath> exports) {
        String names = exports.stream()
                .limit(MAX_LISTED)
                .map(NfsPath::toString)
                .map(name -> name.length() <= MAX_LISTED_LENGTH ? name : name.substring(0, MAX_LISTED_LENGTH) + "…")
                .collect(Collectors.joining(", "));
        return exports.size() <= MAX_LISTED ? names : names + " and " + (exports.size() - MAX_LISTED) + " more";
    }

    /** The exports that the server tells of; none if it does not. */
    private static List<NfsPath> exports(MountClient client) throws IOException {
        List<NfsPath> paths = new ArrayList<>();
        try {
            for (Mount.Export export : client.exports()) {
                paths.add(NfsPath.parse(export.directory().bytes()));
            }
        } catch (CallFailedException e) {
            if (!(e.getCause() instanceof RpcException.ProcedureUnavailable)) {
                throw e;
            }
        } catch (IllegalArgumentException e) {
            throw new IOException("the server's list of exports makes no sense: " + e.getMessage(), e);
        }
        return paths;
    }

    /** Exports that hold the path, the longest first; else the path itself and what is above it. */
    private List<NfsPath> candidates(List<NfsPath> exports) {
        List<NfsPath> holding = exports.stream()
                .filter(url.path()::startsWith)
                .distinct()
                .sorted(Comparator.comparingInt(NfsPath::depth).reversed())
                .toList();
        if (!holding.isEmpty()) {
            return holding;
        }
        List<NfsPath> above = new ArrayList<>();
        int plain = 0;
        for (FileName name : url.path().names()) {
            if (!name.isPlain()) {
                break;
            }
            plain++;
        }
        for (int depth = plain; depth >= 0; depth--) {
            above.add(url.path().first(depth));
        }
        return above;
    }

    /** RFC 1813, Section 5.2.3: a courtesy; whether the server hears of it makes no difference. */
    static void unmount(RpcClient nfs, Mounted mounted, Connecting connecting, MountOptions options) {
        if (!mounted.wasAsked()) {
            return;
        }
        InetSocketAddress address = mounted.mountAddress();
        RpcClient rpc = address == null ? nfs : connecting.mount(address);
        try {
            String host = address == null ? nfs.remoteAddress().toString() : address.toString();
            new MountClient(rpc, host, options.credential(), UNMOUNT_TIMEOUT)
                    .unmount(mounted.export().toPathBytes());
        } catch (IOException e) {
            System.getLogger(Mounting.class.getName()).log(System.Logger.Level.DEBUG, "not unmounted", e);
        } finally {
            if (address != null) {
                rpc.close();
            }
        }
    }
}
