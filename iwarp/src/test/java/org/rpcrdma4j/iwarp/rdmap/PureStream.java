// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import org.rpcrdma4j.iwarp.mem.CountingDomain;
import org.rpcrdma4j.iwarp.mem.Leases;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.StagTable;
import org.rpcrdma4j.iwarp.mpa.FpduParser;
import org.rpcrdma4j.iwarp.queue.InboundReads;
import org.rpcrdma4j.iwarp.queue.ReceiveQueue;
import org.rpcrdma4j.iwarp.queue.SendQueue;
import org.rpcrdma4j.iwarp.queue.SoftCompletionQueue;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Both directions of a stream with their queues and no socket: segments go in and come out as octets. */
final class PureStream {
    private static final int READS = 16;

    final SendQueue sends;
    final ReceiveQueue receives;
    final InboundStream inbound;
    final OutboundStream outbound;
    private final SoftCompletionQueue completions = new SoftCompletionQueue(64, () -> {}, () -> {});
    private final StagTable regions = new StagTable(new Random(1)::nextInt, 100);
    private final Leases leases = new Leases();
    private final CountingDomain domain = new CountingDomain();
    private final FpduBatch batch = new FpduBatch(new CopyBuffers());

    PureStream(int maxUlpdu) {
        sends = new SendQueue(1, 32, 4, completions, () -> {});
        receives = new ReceiveQueue(1, 32, 4, completions, () -> {});
        InboundReads reads = new InboundReads(FpduBatch.MAX_FPDUS);
        sends.setMaxReads(READS);
        reads.setLimit(READS);
        completions.attach(64);
        StreamContext context = new StreamContext(domain, 1, regions, new ReentrantLock(), sends, receives, reads);
        inbound = new InboundStream(context, false, false);
        outbound = new OutboundStream(context, batch, maxUlpdu, false);
        outbound.allow(null);
    }

    /** Registers fresh memory. */
    PlainRegion region(int bytes, Access access) {
        return PlainRegion.register(domain, regions, leases, Arena.ofAuto().allocate(bytes), access);
    }

    /** Takes a segment in. */
    void receive(byte[] ulpdu) throws Exception {
        int pad = -(2 + ulpdu.length) & 3;
        ByteBuffer staging = ByteBuffer.allocateDirect(2 + ulpdu.length + pad + 4);
        staging.putShort((short) ulpdu.length).put(ulpdu).rewind();
        inbound.receive(staging, MemorySegment.ofBuffer(staging));
    }

    /** All segments there are to send now; each write must consist of whole FPDUs. */
    List<byte[]> transmit() throws Exception {
        ByteBuffer stream = ByteBuffer.allocate(1 << 20);
        FpduParser parser = new FpduParser(false);
        List<byte[]> segments = new ArrayList<>();
        while (outbound.fill()) {
            stream.clear();
            for (int i = batch.firstEntry(); i < batch.firstEntry() + batch.entriesLeft(); i++) {
                stream.put(batch.entries()[i]);
            }
            batch.leaveAll();
            batch.accepted(batch.remaining());
            for (Object owner = batch.nextCompleted(); owner != null; owner = batch.nextCompleted()) {
                outbound.accepted(owner);
            }
            stream.flip();
            for (int length = parser.next(stream); length >= 0; length = parser.next(stream)) {
                byte[] segment = new byte[length];
                stream.get(parser.ulpduOffset(), segment);
                segments.add(segment);
            }
            if (stream.hasRemaining()) {
                throw new AssertionError("a write ends inside an FPDU: " + stream);
            }
        }
        return segments;
    }

    /** The next completion; fails if there is none. */
    WorkCompletion completion() {
        WorkCompletion[] into = {new WorkCompletion()};
        if (completions.poll(into) == 0) {
            throw new AssertionError("no completion");
        }
        return into[0];
    }
}
