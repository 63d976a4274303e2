// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** A {@link StreamPair} with memory and short ways to post, for tests of single rules. */
final class SingleStream {
    static final int MEMORY_BYTES = 1 << 14;

    final StreamPair pair;
    final MemorySegment memory = EndModel.allocate(MEMORY_BYTES);
    final PlainRegion region;
    final PlainRegion peerRegion;
    final List<WireSegment> wire = new ArrayList<>();
    final List<WireSegment> back = new ArrayList<>();
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    SingleStream(StreamOptions options) {
        pair = new StreamPair(options, 1);
        for (int i = 0; i < MEMORY_BYTES; i++) {
            memory.set(java.lang.foreign.ValueLayout.JAVA_BYTE, i, (byte) (31 * i + (i >> 8)));
        }
        region = pair.first.register(memory, Access.REMOTE_READ_WRITE);
        peerRegion = pair.second.register(EndModel.allocate(MEMORY_BYTES), Access.REMOTE_READ_WRITE);
        WireTap tap = new WireTap(options.maxUlpdu(), options.crc(), wire::add);
        pair.first.out.tap(bytes -> {
            keep(bytes.duplicate());
            tap.accept(bytes);
        });
        pair.second.out.tap(new WireTap(options.maxUlpdu(), options.crc(), back::add));
    }

    /** Does not look at what is written, so that it may be nonsense. */
    void untapped() {
        pair.first.out.tap(this::keep);
    }

    private void keep(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            written.write(bytes.get());
        }
    }

    /** All that the first end has written. */
    byte[] written() {
        return written.toByteArray();
    }

    void post(StreamEnd end, SendQueueRequest request) {
        var refused = end.sends.post(request, 0);
        if (refused != null) {
            throw new AssertionError(refused);
        }
    }

    void send(long id, long... offsetsAndLengths) {
        SendRequest request = new SendRequest().id(id);
        for (int i = 0; i < offsetsAndLengths.length; i += 2) {
            request.sge(region, offsetsAndLengths[i], offsetsAndLengths[i + 1]);
        }
        post(pair.first, request);
    }

    void write(long id, PlainRegion from, long offset, long length) {
        post(
                pair.first,
                new RdmaWriteRequest()
                        .id(id)
                        .sge(from, offset, length)
                        .target(peerRegion.remoteKey(), peerRegion.remoteAddress()));
    }

    void read(long id, long length) {
        post(
                pair.first,
                new RdmaReadRequest()
                        .id(id)
                        .sge(region, 0, length)
                        .source(peerRegion.remoteKey(), peerRegion.remoteAddress()));
    }

    void readBack(long id, long length) {
        post(
                pair.second,
                new RdmaReadRequest()
                        .id(id)
                        .sge(peerRegion, 0, length)
                        .source(region.remoteKey(), region.remoteAddress()));
    }

    /** Posts a registration of the first end, of pieces cut from the memory one behind the other. */
    SoftFastRegion fast(long id, int... lengths) {
        SoftFastRegion fast = pair.first.allocate();
        List<MemorySegment> pieces = new ArrayList<>();
        int at = 0;
        for (int length : lengths) {
            pieces.add(memory.asSlice(at, length));
            at += length + 1;
        }
        if (fast.map(pieces, 0) != pieces.size()) {
            throw new AssertionError("not all mapped");
        }
        post(
                pair.first,
                new RegisterRequest().id(id).region(fast, fast.advanceKey()).access(Access.REMOTE_READ));
        return fast;
    }

    void receives(StreamEnd end, int count, int bytes) {
        PlainRegion into = end.index == 0 ? region : peerRegion;
        for (int i = 0; i < count; i++) {
            end.receives.post(new ReceiveRequest().id(i).sge(into, 0, bytes), 0);
        }
    }

    /** All completions of a send queue, as "id STATUS". */
    static List<String> completions(StreamEnd end) {
        WorkCompletion[] into =
                IntStream.range(0, 256).mapToObj(i -> new WorkCompletion()).toArray(WorkCompletion[]::new);
        int count = end.sendCompletions.poll(into);
        return IntStream.range(0, count)
                .mapToObj(i -> into[i].id() + " " + into[i].status())
                .toList();
    }
}
