// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.LongConsumer;
import org.rpcrdma4j.nfs.client.CreateMode;
import org.rpcrdma4j.nfs.client.MountClient;
import org.rpcrdma4j.nfs.client.MountOptions;
import org.rpcrdma4j.nfs.client.NfsBuffer;
import org.rpcrdma4j.nfs.client.NfsFile;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsReader;
import org.rpcrdma4j.nfs.client.NfsUrl;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.client.NfsWriter;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.event.MountstatsLine;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.RdmaDevice;

/** The files over NFS/RDMA: an export that is mounted, through one connection. */
final class NfsTransfer implements FileTransfer, AutoCloseable {
    private static final PathBytes EXPORT = PathBytes.of("/");
    private static final Duration RECONNECT_DELAY = Duration.ofMillis(20);
    private static final long LONGEST_UNCOMMITTED_BYTES = 64L << 20;

    private final DemoFiles files;
    private final RpcRdmaClient rpc;
    private final NfsVolume volume;

    private NfsTransfer(DemoFiles files, RpcRdmaClient rpc, NfsVolume volume) {
        this.files = files;
        this.rpc = rpc;
        this.volume = volume;
    }

    /** Mounts what the server at the address exports, and creates the files that are not there. */
    static NfsTransfer mount(RdmaDevice device, InetSocketAddress server, DemoFiles files) throws IOException {
        MountOptions options = MountOptions.over(device)
                .withStreams(IN_FLIGHT, IN_FLIGHT, LONGEST_UNCOMMITTED_BYTES)
                .withTransferBytes(DemoFiles.BLOCK_BYTES, DemoFiles.BLOCK_BYTES);
        NfsUrl url = NfsUrl.of(server.getAddress().getHostAddress(), server.getPort(), NfsPath.ROOT);
        RpcRdmaClient rpc = RpcRdmaClient.builder(device, server)
                .bindings(Bindings.nfs(ResultLimits.DEFAULT))
                .maxInFlight(options.maxInFlight())
                .maxPayloadBytes(DemoFiles.BLOCK_BYTES)
                .callTimeout(options.timeout())
                .reconnectDelay(RECONNECT_DELAY, Duration.ofSeconds(1))
                .build();
        NfsTransfer transfer = null;
        try {
            MountClient mount = new MountClient(rpc, url.display(), options.credential(), options.timeout());
            if (!(mount.mount(EXPORT) instanceof Mount.Ok ok)) {
                throw new IOException("cannot mount " + url.display() + ": refused");
            }
            NfsVolume volume = NfsVolume.over(rpc, url, ok.directory(), options);
            transfer = new NfsTransfer(files, rpc, volume);
            for (int file = 0; file < DemoFiles.COUNT; file++) {
                volume.createFile(transfer.path(file), CreateMode.EXISTING_TOO, SetAttributes.NONE.withMode(0600));
            }
            return transfer;
        } finally {
            if (transfer == null) {
                rpc.close();
            }
        }
    }

    private NfsPath path(int file) {
        return NfsPath.ROOT.resolve(files.name(file));
    }

    @Override
    public void write(int round, int from, int to, LongConsumer progress) throws IOException {
        for (int file = from; file < to; file++) {
            NfsFile there = volume.file(path(file), false);
            try (NfsWriter writer = volume.openWrite(there)) {
                for (long at = 0; at < files.length(file); at += DemoFiles.BLOCK_BYTES) {
                    int length = files.pieceBytes(file, at);
                    NfsBuffer buffer = writer.buffer();
                    files.fill(round, file, at, buffer.memory().asSlice(0, length));
                    writer.write(at, buffer, length);
                    progress.accept(length);
                }
            }
        }
    }

    @Override
    public void read(int round, int from, int to, LongConsumer progress) throws IOException {
        for (int file = from; file < to; file++) {
            long done = 0;
            try (NfsReader reader = volume.openRead(path(file))) {
                for (NfsBuffer next = reader.next(); next != null; next = reader.next()) {
                    try (NfsBuffer buffer = next) {
                        files.verify(round, file, buffer.offset(), buffer.data(), "read over RDMA");
                        done += buffer.length();
                        progress.accept(buffer.length());
                    }
                }
            }
            files.verifyLength(file, done, "read over RDMA");
        }
    }

    /** What the connection has to do now. */
    Gauges gauges() {
        return rpc.gauges();
    }

    /** What its client counted so far. */
    ClientCounts counts() {
        return new ClientCounts(
                rpc.counters().snapshot(), MountstatsLine.of(rpc.counters(), 0, MountstatsLine.Columns.TO_27));
    }

    /** Unmounts. */
    @Override
    public void close() {
        volume.close();
    }
}
