// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.MappingLedger;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** Shows on one device what RDMA does: data there and back through registrations that last for one piece, and a key that opens nothing. */
public final class Demonstration {
    /**
     * What was seen.
     *
     * @param agreed what the two ends agreed on
     * @param bytes moved each way, found equal there and back
     * @param write there
     * @param read back
     * @param plain the same amount over a plain socket
     * @param registrations of both ways
     * @param invalidations of both ways
     * @param keys different keys, the larger count of the two ways
     * @param refusal how the connection ended on which a stale key was tried
     * @param firstConnection state of the first connection after that
     */
    public record Seen(
            String agreed,
            long bytes,
            Sample write,
            Sample read,
            Sample plain,
            long registrations,
            long invalidations,
            int keys,
            Disconnect refusal,
            QueuePair.State firstConnection) {}

    private static final long WARM_UP_BYTES = 64 << 20;
    private static final int WARM_UP_ROUNDS = 3;

    private Demonstration() {}

    /**
     * Runs it; the device has nothing left open afterwards.
     *
     * @param bytes to move each way
     * @param progress told of the bytes moved, in both ways together
     * @throws IllegalStateException if anything is not as it should be
     */
    public static Seen run(RdmaDevice device, long bytes, LongConsumer progress) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment source = arena.allocate(bytes, 4096);
            MemorySegment remote = arena.allocate(bytes, 4096);
            MemorySegment back = arena.allocate(bytes, 4096);
            fill(source);
            @Nullable Mailbox[] mail = new Mailbox[2];
            try (Link link =
                    Link.open(device, end -> mail[mail[0] == null ? 0 : 1] = FastTransfer.mailbox(end, arena))) {
                return run(device, link, mail, source, remote, back, progress);
            }
        }
    }

    private static Seen run(
            RdmaDevice device,
            Link link,
            @Nullable Mailbox[] mail,
            MemorySegment source,
            MemorySegment remote,
            MemorySegment back,
            LongConsumer progress)
            throws IOException {
        long bytes = source.byteSize();
        long[] before = {0};
        try (Mailbox clientMail = present(mail[0]);
                Mailbox serverMail = present(mail[1]);
                FastTransfer transfer = new FastTransfer(
                        device, link, clientMail, serverMail, done -> progress.accept(before[0] + done))) {
            warmUp(transfer, source, remote, back);
            Sample plain = plain(bytes);
            FastTransfer.Report write = transfer.write(source, remote);
            requireEqual(source, remote, "at the server");
            before[0] = bytes;
            FastTransfer.Report read = transfer.read(remote, back);
            requireEqual(source, back, "back at the client");
            Disconnect refusal = StaleKey.tryTwice(device);
            QueuePair.State first = link.client().queuePair().state();
            link.client().queuePair().abort();
            link.server().queuePair().abort();
            return new Seen(
                    link.info().details(),
                    bytes,
                    write.sample(),
                    read.sample(),
                    plain,
                    write.registrations() + read.registrations(),
                    write.invalidations() + read.invalidations(),
                    Math.max(write.keys(), read.keys()),
                    refusal,
                    first);
        }
    }

    /** Touches all memory and lets the compiler do its work, so that the figures tell of the transfer. */
    private static void warmUp(FastTransfer transfer, MemorySegment source, MemorySegment remote, MemorySegment back)
            throws IOException {
        remote.fill((byte) 0);
        back.fill((byte) 0);
        long part = Math.min(source.byteSize(), WARM_UP_BYTES);
        for (int i = 0; i < WARM_UP_ROUNDS; i++) {
            transfer.write(source.asSlice(0, part), remote.asSlice(0, part));
            transfer.read(remote.asSlice(0, part), back.asSlice(0, part));
            plain(part);
        }
        remote.fill((byte) 0);
        back.fill((byte) 0);
    }

    private static Mailbox present(@Nullable Mailbox mailbox) {
        if (mailbox == null) {
            throw new IllegalStateException("an end was not prepared");
        }
        return mailbox;
    }

    private static Sample plain(long bytes) throws IOException {
        int pieces = (int) Math.max(1, bytes / ByteStream.PIECE_BYTES);
        try (TcpStream stream = TcpStream.open()) {
            return stream.move(pieces);
        }
    }

    private static void fill(MemorySegment memory) {
        SplittableRandom random = new SplittableRandom(memory.byteSize());
        long words = memory.byteSize() / 8;
        for (long i = 0; i < words; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
        for (long i = 8 * words; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
    }

    private static void requireEqual(MemorySegment expected, MemorySegment found, String where) {
        long at = expected.mismatch(found);
        if (at >= 0) {
            throw new IllegalStateException("data " + where + " differs from byte " + at + " on");
        }
    }

    /**
     * The account after the device was closed.
     *
     * @throws IllegalStateException if it is not balanced
     */
    public static MappingLedger requireBalanced(MappingLedger ledger) {
        if (!ledger.isBalanced()) {
            throw new IllegalStateException("memory is still leased after close: " + ledger);
        }
        return ledger;
    }
}
