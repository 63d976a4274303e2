// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message as it was received, and what it says, read by itself. A message that cannot be read as RFC 8166, Section 4 has it fails the
 * test that looks.
 */
public final class RawMessage {

    /** One entry of a Read list. */
    public record ReadSegment(int position, Segment segment) {}

    private final byte[] bytes;
    private final @Nullable Integer invalidatedKey;

    RawMessage(byte[] bytes, @Nullable Integer invalidatedKey) {
        this.bytes = bytes;
        this.invalidatedKey = invalidatedKey;
    }

    /** A message with the given bytes. */
    public static RawMessage of(byte... bytes) {
        return new RawMessage(bytes.clone(), null);
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    public int length() {
        return bytes.length;
    }

    /** The key that it invalidated; null if none. */
    public @Nullable Integer invalidatedKey() {
        return invalidatedKey;
    }

    /** Word number {@code i}. */
    public int word(int i) {
        if (4 * i + 4 > bytes.length) {
            throw new AssertionError("no word " + i + " in " + this);
        }
        return (bytes[4 * i] & 0xFF) << 24
                | (bytes[4 * i + 1] & 0xFF) << 16
                | (bytes[4 * i + 2] & 0xFF) << 8
                | (bytes[4 * i + 3] & 0xFF);
    }

    public int xid() {
        return word(0);
    }

    public int version() {
        return word(1);
    }

    public int credits() {
        return word(2);
    }

    public int procedure() {
        return word(3);
    }

    /** Whether it is an ERR_CHUNK, to the byte. */
    public boolean isErrorChunk() {
        return bytes.length == 20 && procedure() == Words.RDMA_ERROR && word(4) == Words.ERR_CHUNK;
    }

    public List<ReadSegment> readList() {
        return lists().reads;
    }

    public List<List<Segment>> writeList() {
        return lists().writes;
    }

    /** The Reply chunk; null if absent. */
    public @Nullable List<Segment> replyChunk() {
        return lists().reply;
    }

    /** What follows the header. */
    public byte[] body() {
        return Arrays.copyOfRange(bytes, lists().end * 4, bytes.length);
    }

    /** The RPC message that follows the header, as a message without header, to look at its words. */
    public RawMessage rpc() {
        return new RawMessage(body(), null);
    }

    private Lists lists() {
        return new Lists();
    }

    /** The chunk lists. */
    private final class Lists {
        private final List<ReadSegment> reads = new ArrayList<>();
        private final List<List<Segment>> writes = new ArrayList<>();
        private final @Nullable List<Segment> reply;
        private int end = 4;

        Lists() {
            if (procedure() != Words.RDMA_MSG && procedure() != Words.RDMA_NOMSG) {
                throw new AssertionError("no chunk lists in " + RawMessage.this);
            }
            while (isPresent()) {
                reads.add(new ReadSegment(word(end++), segment()));
            }
            while (isPresent()) {
                writes.add(segments());
            }
            reply = isPresent() ? segments() : null;
        }

        private boolean isPresent() {
            int word = word(end++);
            if (word != 0 && word != 1) {
                throw new AssertionError("word " + (end - 1) + " is no bool: " + RawMessage.this);
            }
            return word == 1;
        }

        private List<Segment> segments() {
            int count = word(end++);
            if (count < 0 || count > bytes.length / 16) {
                throw new AssertionError("count " + count + " in " + RawMessage.this);
            }
            List<Segment> segments = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                segments.add(segment());
            }
            return segments;
        }

        private Segment segment() {
            int handle = word(end++);
            int length = word(end++);
            long high = word(end++);
            long low = word(end++) & 0xFFFF_FFFFL;
            return new Segment(handle, length, high << 32 | low);
        }
    }

    @Override
    public String toString() {
        String text = Words.format(bytes.length > 256 ? Arrays.copyOf(bytes, 256) : bytes);
        return bytes.length + " bytes: " + text + (bytes.length > 256 ? " ..." : "")
                + (invalidatedKey == null ? "" : ", invalidated " + Integer.toHexString(invalidatedKey));
    }
}
