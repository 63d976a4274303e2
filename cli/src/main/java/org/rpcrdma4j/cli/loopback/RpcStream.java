// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.util.List;
import org.rpcrdma4j.cli.payload.CallLoop;
import org.rpcrdma4j.cli.payload.PayloadCall;
import org.rpcrdma4j.verbs.RdmaDevice;

/** A stream of calls, each of which moves one payload by RDMA, several in flight. */
public final class RpcStream implements ByteStream {
    private final RpcLink link;
    private final List<PayloadCall> calls;

    private RpcStream(RpcLink link, PayloadCall.Kind kind, int inFlight, long payloadBytes) {
        this.link = link;
        calls = link.calls(kind, inFlight, payloadBytes);
    }

    /** READ-like calls: the server writes into the client's memory. */
    public static RpcStream reads(RdmaDevice device) throws IOException {
        RpcLink link = new RpcLink(device, Runnable::run, RdmaStream.IN_FLIGHT, PIECE_BYTES);
        return new RpcStream(link, PayloadCall.Kind.GIVE, RdmaStream.IN_FLIGHT, PIECE_BYTES);
    }

    /** WRITE-like calls: the server reads from the client's memory. */
    public static RpcStream writes(RdmaDevice device) throws IOException {
        RpcLink link = new RpcLink(device, Runnable::run, RdmaStream.IN_FLIGHT, PIECE_BYTES);
        return new RpcStream(link, PayloadCall.Kind.TAKE, RdmaStream.IN_FLIGHT, PIECE_BYTES);
    }

    @Override
    public Sample move(int pieces) {
        Sample.Meter meter = new Sample.Meter();
        new CallLoop(link.client(), calls).run(pieces);
        return meter.sample((long) pieces * PIECE_BYTES);
    }

    @Override
    public void close() {
        link.close();
    }
}
