// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.util.List;
import org.rpcrdma4j.cli.payload.CallLoop;
import org.rpcrdma4j.cli.payload.PayloadCall;
import org.rpcrdma4j.verbs.RdmaDevice;

/** NULL calls, one at a time, each waited for. */
public final class RpcPingPong implements PingPong {
    private final RpcLink link;
    private final CallLoop loop;

    /** Connects with the first call. */
    public RpcPingPong(RdmaDevice device) throws IOException {
        link = new RpcLink(device, Runnable::run, 1, ByteStream.PIECE_BYTES);
        List<PayloadCall> calls = link.calls(PayloadCall.Kind.NULL, 1, 0);
        loop = new CallLoop(link.client(), calls);
    }

    @Override
    public void run(long[] nanos) {
        for (int i = 0; i < nanos.length; i++) {
            long begin = System.nanoTime();
            loop.run(1);
            nanos[i] = System.nanoTime() - begin;
        }
    }

    @Override
    public void close() {
        link.close();
    }
}
