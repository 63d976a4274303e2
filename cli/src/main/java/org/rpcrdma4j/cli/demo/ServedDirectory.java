// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.export.Squash;
import org.rpcrdma4j.nfs.server.NfsServer;
import org.rpcrdma4j.verbs.RdmaDevice;

/** A directory that is served over NFS/RDMA on the loopback address, at a free port. */
final class ServedDirectory implements AutoCloseable {
    private final Export export;
    private final NfsServer server;
    private final InetSocketAddress address;

    private ServedDirectory(Export export, NfsServer server, InetSocketAddress address) {
        this.export = export;
        this.server = server;
        this.address = address;
    }

    /** Serves it; the device stays the caller's. */
    static ServedDirectory serve(RdmaDevice device, Path directory) throws IOException {
        // The caller is this process itself; root may write what is root's.
        Export export = Export.open(directory, ExportOptions.DEFAULT.withSquash(Squash.NONE));
        ServedDirectory served = null;
        try {
            NfsServer server = NfsServer.builder(export)
                    .device(device)
                    .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .start();
            InetSocketAddress address = server.rdmaAddress();
            if (address == null) {
                throw new IllegalStateException("no address: " + server);
            }
            served = new ServedDirectory(export, server, address);
            return served;
        } finally {
            if (served == null) {
                export.close();
            }
        }
    }

    InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() {
        try {
            server.close();
        } finally {
            export.close();
        }
    }
}
