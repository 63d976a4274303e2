// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.tcp.record.OutboundRecord;

/**
 * A record that came, and the way back for its reply. It is ended exactly once, by {@link #reply} or {@link #drop}, from any thread; its
 * message and the memory from {@link #allocate} stay as they are until the reply was written, or has failed, and are used again then.
 */
public final class InboundRecord {

    private final TcpServerConnection connection;
    private final MemorySegment buffer;
    private final MemorySegment message;
    private final List<MemorySegment> allocated = new ArrayList<>(1);
    private final AtomicBoolean ended = new AtomicBoolean();

    InboundRecord(TcpServerConnection connection, MemorySegment buffer, long bytes) {
        this.connection = connection;
        this.buffer = buffer;
        message = buffer.asSlice(0, bytes);
    }

    /** The connection that it came on. */
    public RecordConnection connection() {
        return connection;
    }

    /** The record's bytes, in one piece of native memory. */
    public MemorySegment message() {
        return message;
    }

    /**
     * Native memory for the reply, with the record's life. Not zeroed. Not by two threads at once. May wait some seconds for memory.
     *
     * @throws IllegalArgumentException if it is larger than the longest record
     * @throws IllegalStateException if the server's memory is used up, or the record was ended
     */
    public MemorySegment allocate(long bytes) {
        if (ended.get()) {
            throw new IllegalStateException("the record was ended");
        }
        MemorySegment memory = connection.allocate(bytes);
        allocated.add(memory);
        return memory.asSlice(0, bytes);
    }

    /**
     * Answers with a record of these pieces. Doesn't block. The list may be changed when this returns, its memory when the task is run: once,
     * on some thread, after the reply was written or has failed.
     *
     * @throws IllegalStateException if the record was ended
     */
    public void reply(List<MemorySegment> pieces, @Nullable Runnable released) {
        end(pieces, released, false);
    }

    /** The same on the caller's thread, which may block, if no other thread writes to the connection. */
    void replyAndWrite(List<MemorySegment> pieces, @Nullable Runnable released) {
        end(pieces, released, true);
    }

    /** Ends the record without a reply. */
    public void drop() {
        claim();
        release(null);
    }

    private void claim() {
        if (!ended.compareAndSet(false, true)) {
            throw new IllegalStateException("the record was ended already");
        }
    }

    private void end(List<MemorySegment> pieces, @Nullable Runnable released, boolean mayWrite) {
        claim();
        ReplyRecord reply = new ReplyRecord(List.copyOf(pieces), released);
        if (!connection.submit(reply, mayWrite)) {
            reply.onFailed();
        }
    }

    private void release(@Nullable Runnable released) {
        try {
            if (released != null) {
                released.run();
            }
        } finally {
            allocated.forEach(connection::giveBack);
            allocated.clear();
            connection.onRecordEnd(buffer);
        }
    }

    /** The reply on its way out. */
    private final class ReplyRecord implements OutboundRecord {
        private final List<MemorySegment> pieces;
        private final @Nullable Runnable released;

        ReplyRecord(List<MemorySegment> pieces, @Nullable Runnable released) {
            this.pieces = pieces;
            this.released = released;
        }

        @Override
        public List<MemorySegment> pieces() {
            return pieces;
        }

        @Override
        public boolean begin() {
            return true;
        }

        @Override
        public void onWritten() {
            connection.count(TcpServerCounter.REPLIES);
            release(released);
        }

        @Override
        public void onFailed() {
            connection.count(TcpServerCounter.REPLY_FAILURES);
            release(released);
        }
    }
}
