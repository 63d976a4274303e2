// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.client;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.tcp.record.OutboundRecord;
import org.rpcrdma4j.tcp.record.RecordException;
import org.rpcrdma4j.tcp.record.RecordInput;
import org.rpcrdma4j.tcp.record.RecordOutput;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.ulb.Bindings;

/**
 * One connection to the server. The thread that runs {@link #serve} reads replies; another writes calls, so a server that does not read does
 * not keep its own replies from being read.
 */
final class TcpConnection {

    private static final System.Logger LOG = System.getLogger(TcpConnection.class.getName());

    private final TcpClientOptions options;
    private final SocketChannel channel;
    private final RecordInput input;
    private final RecordOutput output;
    private final ReplyAssembler assembler;

    /** XIDs of calls that were sent here and given up: their replies may still come. In the requester's monitor. */
    final Set<Integer> abandoned = new HashSet<>();

    /** Whether any reply came. In the requester's monitor. */
    boolean hadReply;

    TcpConnection(TcpClientOptions options, @Nullable Bindings bindings) throws IOException {
        this.options = options;
        channel = SocketChannel.open();
        input = new RecordInput(channel, options.maxRecordBytes());
        output = new RecordOutput(channel, this::breakOff);
        assembler = new ReplyAssembler(input, bindings);
    }

    /** Connects; fails when the time is over, or {@link #breakOff} is called. */
    void connect() throws IOException {
        InetSocketAddress address = options.address();
        InetSocketAddress resolved =
                address.isUnresolved() ? new InetSocketAddress(address.getHostString(), address.getPort()) : address;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        long millis = Math.clamp(options.connectTimeout().toMillis(), 1, Integer.MAX_VALUE);
        channel.socket().connect(resolved, (int) millis);
        if (channel.getLocalAddress().equals(channel.getRemoteAddress())) {
            // TCP allows a port to be connected with itself; where nobody listens that happens by chance.
            throw new ConnectException("nobody listens at " + resolved);
        }
    }

    /** Has a call written; false if the connection has ended. */
    boolean submit(TcpRequester requester, TcpCall call) {
        return output.submit(new Transmission(requester, call));
    }

    /** A call on its way out of this connection. */
    private final class Transmission implements OutboundRecord {
        private final TcpRequester requester;
        private final TcpCall call;

        Transmission(TcpRequester requester, TcpCall call) {
            this.requester = requester;
            this.call = call;
        }

        @Override
        public List<MemorySegment> pieces() {
            return call.pieces();
        }

        @Override
        public boolean begin() {
            return requester.beginWrite(call, TcpConnection.this);
        }

        @Override
        public void onWritten() {
            requester.endWrite(call);
        }

        @Override
        public void onFailed() {
            requester.endWrite(call);
        }
    }

    /** Writes calls and reads replies until the connection ends; when this returns, nothing uses the memory of its calls. */
    void serve(TcpRequester requester) {
        Thread writer = Thread.ofVirtual().name("rpcrdma-tcp-call").start(output);
        try {
            while (input.next()) {
                if (!assembler.readStart()) {
                    throw new RecordException("a record too short for a reply: " + input);
                }
                receive(requester);
            }
        } catch (RecordException e) {
            requester.count(TcpClientCounter.BAD_REPLIES, 1);
            LOG.log(Level.WARNING, options.address() + " sends what is no reply: " + e.getMessage());
        } catch (IOException e) {
            LOG.log(Level.DEBUG, () -> "connection to " + options.address() + " lost: " + e);
        } finally {
            breakOff();
            join(writer);
            requester.count(TcpClientCounter.BYTES_SENT, output.sentBytes());
            requester.count(TcpClientCounter.BYTES_RECEIVED, input.receivedBytes());
        }
    }

    private void receive(TcpRequester requester) throws IOException {
        TcpCall call = assembler.isReply() ? requester.beginRead(assembler.xid(), this) : null;
        if (call == null) {
            requester.count(TcpClientCounter.UNKNOWN_REPLIES, 1);
            input.skipRest();
            return;
        }
        Reply reply = null;
        TransportException failure = null;
        try {
            String fault = assembler.read(call.message, call::isDecided);
            if (fault == null) {
                long placed = assembler.placedBytes();
                requester.count(TcpClientCounter.BYTES_PLACED, placed);
                reply = Reply.of(assembler.message(call.message), placed, call.transmissions);
            } else {
                requester.count(TcpClientCounter.BAD_REPLIES, 1);
                failure = CallBook.failure(TransportException.Kind.BAD_REPLY, call, fault);
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            // The caller's memory was closed, or there is none; the place in the stream is lost with it.
            failure = CallBook.failure(TransportException.Kind.REGISTRATION_FAILED, call, e.toString());
            throw new IOException("the memory of " + call + " cannot be written to", e);
        } finally {
            requester.endRead(call, this, reply, failure);
        }
    }

    private static void join(Thread writer) {
        boolean interrupted = false;
        while (writer.isAlive()) {
            try {
                writer.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends it, from any thread; {@link #serve} returns then. */
    void breakOff() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "close", e);
        }
        output.close();
    }
}
