// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.mem.CountingDomain;
import org.rpcrdma4j.iwarp.mem.Leases;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.iwarp.mem.StagTable;
import org.rpcrdma4j.iwarp.queue.InboundReads;
import org.rpcrdma4j.iwarp.queue.ReceiveQueue;
import org.rpcrdma4j.iwarp.queue.SendQueue;
import org.rpcrdma4j.iwarp.queue.SoftCompletionQueue;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/**
 * One end of a {@link StreamPair}: the queues and the two directions, moved as the connection moves them, with a {@link Pipe} for the
 * socket. What ends the stream is kept in {@link #end}; then {@link #stop} flushes.
 */
final class StreamEnd {
    private static final int FAST_PAGES = 4096;
    private static final int PAGE_BYTES = 4096;
    private static final byte POISON = (byte) 0xDB;

    /** Shared by all ends, as by the connections of one loop: nothing may stay behind in it. */
    private static final ByteBuffer STAGING = ByteBuffer.allocateDirect(1 << 18);

    private static final MemorySegment STAGING_MEMORY = MemorySegment.ofBuffer(STAGING);

    final int index;
    final CountingDomain domain = new CountingDomain();
    final StagTable regions;
    final SendQueue sends;
    final ReceiveQueue receives;
    final SoftCompletionQueue sendCompletions;
    final SoftCompletionQueue receiveCompletions;
    final OutboundStream outbound;
    final InboundStream inbound;
    final StreamContext context;
    final FpduBatch batch = new FpduBatch(new CopyBuffers());
    final Pipe out;
    final Pipe in;
    private final InboundReads inboundReads = new InboundReads(FpduBatch.MAX_FPDUS);
    private final Leases leases = new Leases();
    private final boolean crc;
    private final Runnable afterWrite;
    private boolean writing;

    private byte[] carry = {};
    private boolean peerHasSent;
    private boolean stopped;
    private @Nullable StreamFault fault;
    private @Nullable StreamEnding end;

    /** @param afterWrite done between a write and its acceptance, where other threads may come in */
    StreamEnd(int index, StreamOptions options, long seed, Pipe out, Pipe in, Runnable afterWrite) {
        this.index = index;
        this.out = out;
        this.in = in;
        this.crc = options.crc();
        this.afterWrite = afterWrite;
        this.regions = new StagTable(new Random(seed)::nextInt, 1 << 10);
        this.sendCompletions = new SoftCompletionQueue(options.sendDepth(), () -> {}, () -> {});
        this.receiveCompletions = new SoftCompletionQueue(options.receiveDepth(), () -> {}, () -> {});
        sendCompletions.attach(options.sendDepth());
        receiveCompletions.attach(options.receiveDepth());
        int number = index + 1;
        this.sends = new SendQueue(number, options.sendDepth(), StreamOptions.MAX_SGES, sendCompletions, () -> {});
        this.receives =
                new ReceiveQueue(number, options.receiveDepth(), StreamOptions.MAX_SGES, receiveCompletions, () -> {});
        sends.setMaxReads(options.ord(index));
        inboundReads.setLimit(options.ord(1 - index));
        this.context = new StreamContext(domain, number, regions, new ReentrantLock(), sends, receives, inboundReads);
        this.outbound = new OutboundStream(context, batch, options.maxUlpdu(), options.crc());
        this.inbound = new InboundStream(context, options.crc(), index == 0 && options.rtr() == Opcode.READ_REQUEST);
    }

    PlainRegion register(MemorySegment memory, Access access) {
        return PlainRegion.register(domain, regions, leases, memory, access);
    }

    SoftFastRegion allocate() {
        return SoftFastRegion.allocate(domain, regions, leases, FAST_PAGES, PAGE_BYTES);
    }

    boolean isRunning() {
        return end == null;
    }

    @Nullable
    StreamEnding end() {
        return end;
    }

    private void end(StreamEnding cause) {
        if (end == null) {
            end = cause;
        }
    }

    /** The connection is lost. */
    void lose() {
        end(new StreamEnding(StreamEnding.Cause.LOST, "lost", null, null));
    }

    // Sending, as net.Transmitter does it.

    /** One write that takes up to this many bytes; false if there was nothing to write. */
    boolean write(int accept) {
        // One transmits at a time, as net.Transmitter sees to.
        if (writing) {
            return false;
        }
        writing = true;
        try {
            while (end == null) {
                if (batch.isEmpty() && !refill()) {
                    return false;
                }
                if (batch.mustReenter() && !batch.reenter()) {
                    fault = outbound.lost(batch.lostOwner(), batch.lostOffset());
                } else {
                    writeBatch(accept);
                    return true;
                }
            }
            return false;
        } finally {
            batch.leaveAll();
            writing = false;
        }
    }

    private boolean refill() {
        boolean filled = false;
        if (fault == null) {
            try {
                filled = outbound.fill();
            } catch (StreamFault e) {
                fault = e;
                filled = !batch.isEmpty();
            }
        }
        if (!filled && fault != null) {
            end(new StreamEnding(StreamEnding.Cause.FAULT, fault.getMessage(), fault.terminate(), null));
        }
        return filled;
    }

    private void writeBatch(int accept) {
        int left = accept;
        ByteBuffer[] entries = batch.entries();
        int last = batch.firstEntry() + batch.entriesLeft();
        for (int i = batch.firstEntry(); i < last && left > 0; i++) {
            left -= out.write(entries[i], left);
        }
        batch.accepted(accept - left);
        if (!batch.isEmpty()) {
            batch.copyOutBegun();
        }
        batch.leaveAll();
        afterWrite.run();
        for (Object owner = batch.nextCompleted(); owner != null; owner = batch.nextCompleted()) {
            outbound.accepted(owner);
        }
    }

    // Receiving, as net.Receiver does it.

    /** Takes up to this many bytes from the peer. */
    int deliver(int atMost) {
        if (end != null) {
            return 0;
        }
        STAGING.clear().put(carry);
        int count = in.read(STAGING, atMost);
        STAGING.flip();
        try {
            inbound.receive(STAGING, STAGING_MEMORY);
        } catch (IwarpException e) {
            boolean answered = e.terminateError().isReported() && !inbound.offenderIsTerminate();
            TerminateMessage answer = answered ? inbound.terminateFor(e, STAGING) : null;
            end(new StreamEnding(StreamEnding.Cause.VIOLATION, String.valueOf(e.getMessage()), answer, null));
        } catch (RemoteTerminate e) {
            failNamedRead(e.message());
            end(new StreamEnding(StreamEnding.Cause.PEER, String.valueOf(e.getMessage()), null, e.message()));
        }
        carry = new byte[STAGING.remaining()];
        STAGING.get(carry);
        STAGING_MEMORY.asSlice(0, STAGING.position()).fill(POISON);
        if (!peerHasSent && inbound.fpdus() > 0) {
            peerHasSent = true;
            outbound.peerHasSent();
        }
        return count;
    }

    private void failNamedRead(TerminateMessage message) {
        var named = sends.findOpenRead(read -> InboundStream.names(message, read));
        if (named != null) {
            sends.finish(named, Status.REMOTE_ACCESS_ERROR);
        }
    }

    /** Hands bytes to the ended stream: nothing may come of them. */
    void deliverAfterEnd() throws IwarpException, RemoteTerminate {
        STAGING.clear().put(carry);
        in.read(STAGING, STAGING.remaining());
        STAGING.flip();
        inbound.receive(STAGING, STAGING_MEMORY);
    }

    // The end, as net.Connection does it.

    /** Stops and flushes; the rest of a begun FPDU and the Terminate go out, unless the pipe is dropped. */
    void stop() {
        StreamEnding cause = end;
        if (stopped || cause == null) {
            return;
        }
        stopped = true;
        batch.cutAfterBegun();
        TerminateMessage terminate = cause.answer();
        ByteBuffer fpdu = terminate == null ? ByteBuffer.allocate(0) : terminate.fpdu(crc);
        ByteBuffer words = ByteBuffer.allocate((int) batch.remaining() + fpdu.remaining());
        batch.copyRest(words);
        words.put(fpdu).flip();
        if (!out.isDropped()) {
            out.write(words, words.remaining());
        }
        sends.flush();
        receives.flush();
    }

    @Override
    public String toString() {
        return "end " + index + ": " + sends.outstanding() + " sends, " + receives.outstanding() + " receives, written "
                + out.written() + ", delivered " + in.delivered() + ", " + end;
    }
}
