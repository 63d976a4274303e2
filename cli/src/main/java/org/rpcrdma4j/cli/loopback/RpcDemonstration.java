// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.rpcrdma4j.cli.payload.CallLoop;
import org.rpcrdma4j.cli.payload.PayloadCall;
import org.rpcrdma4j.cli.payload.PayloadCall.Verification;
import org.rpcrdma4j.transport.client.RpcRdmaClient;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.MountstatsLine;
import org.rpcrdma4j.verbs.RdmaDevice;

/** RPC calls with payloads over one device: there, back, compared to the byte. */
public final class RpcDemonstration {
    private static final int IN_FLIGHT = 8;

    /** Calls before the ones that are measured, so that not the compiler is measured. */
    private static final int WARM_UP_CALLS = 128;

    private RpcDemonstration() {}

    /**
     * What was seen.
     *
     * @param bytes moved each way
     * @param take calls that send a payload
     * @param give calls that get one
     * @param counters of the client
     * @param mountstats the same as Linux prints them
     */
    public record Seen(long bytes, Sample take, Sample give, Map<ClientCounter, Long> counters, String mountstats) {
        /** A counter's value. */
        public long count(ClientCounter counter) {
            return counters.getOrDefault(counter, 0L);
        }
    }

    /**
     * Calls, each with a payload of 1 MiB, so many bytes each way.
     *
     * @throws IllegalStateException if a byte differs
     */
    public static Seen run(RdmaDevice device, long bytes) throws IOException {
        int calls = (int) Math.max(1, bytes / ByteStream.PIECE_BYTES);
        try (RpcLink link = new RpcLink(device, Runnable::run, IN_FLIGHT, ByteStream.PIECE_BYTES)) {
            sample(link, PayloadCall.Kind.TAKE, Math.min(calls, WARM_UP_CALLS));
            sample(link, PayloadCall.Kind.GIVE, Math.min(calls, WARM_UP_CALLS));
        }
        try (RpcLink link = new RpcLink(device, Runnable::run, IN_FLIGHT, ByteStream.PIECE_BYTES)) {
            Sample take = sample(link, PayloadCall.Kind.TAKE, calls);
            Sample give = sample(link, PayloadCall.Kind.GIVE, calls);
            RpcRdmaClient client = link.client();
            return new Seen(
                    (long) calls * ByteStream.PIECE_BYTES,
                    take,
                    give,
                    client.counters().snapshot(),
                    MountstatsLine.of(client.counters(), 0, MountstatsLine.Columns.TO_27));
        }
    }

    private static Sample sample(RpcLink link, PayloadCall.Kind kind, int calls) {
        List<PayloadCall> messages = link.calls(kind, IN_FLIGHT, ByteStream.PIECE_BYTES, Verification.CLEARED);
        Sample.Meter meter = new Sample.Meter();
        new CallLoop(link.client(), messages).run(calls);
        return meter.sample((long) calls * ByteStream.PIECE_BYTES);
    }
}
