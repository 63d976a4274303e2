// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.time.Duration;
import org.rpcrdma4j.transport.rpc.Credential;

/** Volumes of a fake server without a network between. */
final class Volumes implements AutoCloseable {

    static final NfsUrl EXPORT = NfsUrl.parse("nfs://fake/export");

    final FakeNfs nfs;
    final DirectRpc rpc;
    final NfsVolume volume;

    Volumes(FakeNfs nfs) throws IOException {
        this(nfs, options());
    }

    Volumes(FakeNfs nfs, MountOptions options) throws IOException {
        this.nfs = nfs;
        rpc = new DirectRpc(nfs.table());
        volume = NfsVolume.over(rpc, EXPORT, nfs.root.handle(), options);
    }

    /** Small transfers, so that files of some kilobytes need many. */
    static MountOptions options() {
        return MountOptions.overTcp()
                .withCredential(new Credential.Sys(0, "test", 1000, 1000, java.util.List.of()))
                .withTransferBytes(1024, 1024)
                .withStreams(4, 4, 8 << 10)
                .withTimeouts(Duration.ofSeconds(20), Duration.ofSeconds(10));
    }

    @Override
    public void close() {
        volume.close();
    }
}
