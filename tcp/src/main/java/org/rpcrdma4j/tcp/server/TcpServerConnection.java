// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.server;

import java.io.EOFException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.tcp.record.OutboundRecord;
import org.rpcrdma4j.tcp.record.RecordException;
import org.rpcrdma4j.tcp.record.RecordInput;
import org.rpcrdma4j.tcp.record.RecordOutput;

/**
 * One connection: a thread that reads records and gives them to the handler, and one that writes replies.
 *
 * <p>States: READING; FINISHING when the client has ended its stream, or the server is shut down: what was taken is answered; CLOSED. A record
 * is read only while fewer than the most calls are unanswered, so a client that does not read its replies is soon not read any more either.
 */
final class TcpServerConnection implements RecordConnection {

    private static final System.Logger LOG = System.getLogger(TcpServerConnection.class.getName());

    /** Results wait so long for memory; replies that are written give it back. */
    private static final long RESULT_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final TcpServerContext context;
    private final SocketChannel channel;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;
    private final long id;
    private final RecordInput input;
    private final RecordOutput output;
    private final Semaphore calls;
    private final AtomicBoolean aborted = new AtomicBoolean();
    private final Thread reader;
    private volatile @Nullable RecordHandler handler;
    /** The reader has come to a record's first byte, and not to its last, and does not wait for memory. */
    private volatile boolean isInRecord;

    private volatile boolean finishing;

    // Used by the watch alone.
    private long lastReceived;
    private long lastSent;
    private long receivedAt;
    private long sentAt;
    private long idleSince;

    TcpServerConnection(TcpServerContext context, SocketChannel channel, long id) throws IOException {
        this.context = context;
        this.channel = channel;
        this.id = id;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (!(channel.getRemoteAddress() instanceof InetSocketAddress address)) {
            throw new IOException("a connection from nowhere");
        }
        remoteAddress = address;
        if (!(channel.getLocalAddress() instanceof InetSocketAddress local)) {
            throw new IOException("a connection to nowhere");
        }
        localAddress = local;
        input = new RecordInput(channel, context.options().maxRecordBytes());
        output = new RecordOutput(channel, () -> abort("it cannot be written to"));
        calls = new Semaphore(context.options().maxInFlight());
        idleSince = System.nanoTime();
        reader = Thread.ofVirtual().name("rpcrdma-tcp-server-" + id).unstarted(this::read);
    }

    void start() {
        reader.start();
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public boolean isOpen() {
        return !aborted.get();
    }

    private void read() {
        Thread writer = Thread.ofVirtual().name("rpcrdma-tcp-reply-" + id).start(output);
        try {
            RecordHandler accepted = context.service().accept(this);
            handler = accepted;
            readRecords(accepted);
            // ORDER: all replies are written before the connection is closed.
            calls.acquire(context.options().maxInFlight());
            channel.shutdownOutput();
        } catch (RecordException e) {
            context.counters().increment(TcpServerCounter.BAD_RECORDS);
            LOG.log(Level.DEBUG, () -> this + ": " + e.getMessage());
        } catch (IOException | InterruptedException e) {
            LOG.log(Level.DEBUG, () -> this + ": " + e);
        } catch (RuntimeException | OutOfMemoryError e) {
            LOG.log(Level.WARNING, this + " ends", e);
        } finally {
            abort("it has ended");
            end(writer);
        }
    }

    private void readRecords(RecordHandler accepted) throws IOException, InterruptedException {
        try {
            boolean more = true;
            while (more && !finishing) {
                more = readRecord(accepted);
            }
        } catch (EOFException e) {
            // A record that was cut by the server's own end; those before it are answered.
            if (!finishing) {
                throw e;
            }
        }
    }

    private boolean readRecord(RecordHandler accepted) throws IOException, InterruptedException {
        if (!calls.tryAcquire()) {
            context.counters().increment(TcpServerCounter.READS_HELD);
            calls.acquire();
        }
        InboundRecord record = null;
        try {
            record = input.next() ? receive() : null;
        } finally {
            isInRecord = false;
            if (record == null) {
                calls.release();
            }
        }
        if (record == null) {
            return false;
        }
        context.counters().increment(TcpServerCounter.RECORDS);
        accepted.onRecord(record);
        return true;
    }

    private InboundRecord receive() throws IOException, InterruptedException {
        isInRecord = true;
        long first = input.left();
        MemorySegment buffer =
                take(input.isLastFragment() ? first : context.options().maxRecordBytes());
        isInRecord = true;
        boolean whole = false;
        try {
            long bytes = input.read(buffer);
            whole = input.left() == 0;
            return new InboundRecord(this, buffer, bytes);
        } finally {
            if (!whole) {
                context.memory().giveBack(buffer);
            }
        }
    }

    private MemorySegment take(long bytes) throws InterruptedException {
        MemorySegment buffer = context.memory().take(bytes, 0);
        if (buffer != null) {
            return buffer;
        }
        isInRecord = false;
        context.counters().increment(TcpServerCounter.MEMORY_WAITS);
        return context.memory().take(bytes);
    }

    private void end(Thread writer) {
        boolean interrupted = false;
        while (writer.isAlive()) {
            try {
                writer.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        RecordHandler told = handler;
        try {
            if (told != null) {
                told.onClosed();
            }
        } finally {
            context.counters().increment(TcpServerCounter.DISCONNECTS);
            context.counters().add(TcpServerCounter.BYTES_RECEIVED, input.receivedBytes());
            context.counters().add(TcpServerCounter.BYTES_SENT, output.sentBytes());
            context.onClosed().accept(this);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    MemorySegment allocate(long bytes) {
        if (bytes < 0 || bytes > context.options().maxRecordBytes()) {
            throw new IllegalArgumentException(
                    bytes + " bytes; a record has up to " + context.options().maxRecordBytes());
        }
        MemorySegment memory = null;
        try {
            memory = context.results().take(bytes, RESULT_WAIT_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (memory == null) {
            throw new IllegalStateException("the server's memory is used up: "
                    + context.results().availableBytes() + " bytes are left, " + bytes + " wanted");
        }
        return memory;
    }

    void giveBack(MemorySegment memory) {
        context.results().giveBack(memory);
    }

    void onRecordEnd(MemorySegment buffer) {
        context.memory().giveBack(buffer);
        calls.release();
    }

    void count(TcpServerCounter counter) {
        context.counters().increment(counter);
    }

    boolean submit(OutboundRecord reply, boolean mayWrite) {
        return mayWrite ? output.submitAndWrite(reply) : output.submit(reply);
    }

    /** Takes no more calls; closes when those that were taken are answered. */
    void finish() {
        finishing = true;
        try {
            channel.shutdownInput();
        } catch (IOException e) {
            abort("it is closed already");
        }
    }

    @Override
    public void abort(String reason) {
        if (!aborted.compareAndSet(false, true)) {
            return;
        }
        LOG.log(Level.DEBUG, () -> this + " is closed: " + reason);
        try {
            channel.close();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "close", e);
        }
        output.close();
        // It may wait for memory, or for calls to be answered.
        reader.interrupt();
    }

    /** Looks whether there is progress where there should be. By the watch's thread. */
    void look(long now) {
        long received = input.receivedBytes();
        if (received != lastReceived || !isInRecord) {
            receivedAt = now;
        }
        long sent = output.sentBytes();
        if (sent != lastSent || !output.isBusy()) {
            sentAt = now;
        }
        // One call is that which is awaited.
        boolean busy = calls.availablePermits() < context.options().maxInFlight() - 1;
        if (received != lastReceived || sent != lastSent || busy) {
            idleSince = now;
        }
        lastReceived = received;
        lastSent = sent;
        long stall = context.options().stallTimeout().toNanos();
        long idle = context.options().idleTimeout().toNanos();
        if (now - receivedAt > stall || now - sentAt > stall) {
            context.counters().increment(TcpServerCounter.STALLED_DISCONNECTS);
            abort("no progress");
        } else if (idle > 0 && now - idleSince > idle) {
            context.counters().increment(TcpServerCounter.IDLE_DISCONNECTS);
            abort("no call");
        }
    }

    @Override
    public String toString() {
        return "connection " + id + " from " + remoteAddress + ", "
                + (context.options().maxInFlight() - calls.availablePermits()) + " calls, " + input.receivedBytes()
                + " bytes received, " + output.sentBytes() + " sent";
    }
}
