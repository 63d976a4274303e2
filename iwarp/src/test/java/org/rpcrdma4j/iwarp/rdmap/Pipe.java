// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** One direction of a TCP connection in memory: takes and gives any number of bytes, and shows what was written to a listener. */
final class Pipe {
    private byte[] bytes = new byte[1 << 12];
    private int head;
    private int tail;
    private long written;
    private long delivered;
    private boolean dropped;
    private long flipAt = Long.MAX_VALUE;
    private int flipMask;
    private Consumer<ByteBuffer> onWritten = written -> {};

    /** Shows all bytes, in order, as they are written. */
    void tap(Consumer<ByteBuffer> listener) {
        onWritten = listener;
    }

    /** Takes bytes up to a count; returns how many. */
    int write(ByteBuffer source, int atMost) {
        int count = Math.min(source.remaining(), atMost);
        if (count == 0) {
            return 0;
        }
        makeRoom(count);
        source.get(bytes, tail, count);
        onWritten.accept(ByteBuffer.wrap(bytes, tail, count).slice().asReadOnlyBuffer());
        if (flipAt >= written && flipAt < written + count) {
            bytes[tail + (int) (flipAt - written)] ^= (byte) flipMask;
        }
        tail += count;
        written += count;
        return count;
    }

    private void makeRoom(int count) {
        if (tail + count <= bytes.length) {
            return;
        }
        int used = tail - head;
        byte[] target = used + count > bytes.length / 2 ? new byte[2 * (used + count)] : bytes;
        System.arraycopy(bytes, head, target, 0, used);
        bytes = target;
        head = 0;
        tail = used;
    }

    /** Gives up to this many bytes; returns how many. */
    int read(ByteBuffer target, int atMost) {
        int count = Math.min(Math.min(tail - head, atMost), target.remaining());
        target.put(bytes, head, count);
        head += count;
        delivered += count;
        return count;
    }

    /** Damages one byte to come. */
    void flip(long at, int mask) {
        flipAt = at;
        flipMask = mask;
    }

    /** Whether the damaged byte was written. */
    boolean isFlipped() {
        return flipAt < written;
    }

    long flipAt() {
        return flipAt;
    }

    /** Loses what is under way; nothing is taken any more. */
    void drop() {
        dropped = true;
        head = tail;
    }

    boolean isDropped() {
        return dropped;
    }

    int available() {
        return tail - head;
    }

    long written() {
        return written;
    }

    long delivered() {
        return delivered;
    }
}
