// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.rpcbind;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.tcp.record.RecordException;
import org.rpcrdma4j.tcp.record.RecordInput;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** One call and its reply on a connection of their own, within a limit of time. */
final class RpcbindExchange {

    private static final int LAST = 0x8000_0000;
    private static final int LARGEST_REPLY = 1 << 20;

    private final SocketAddress server;
    private final Duration timeout;

    RpcbindExchange(SocketAddress server, Duration timeout) {
        this.server = server;
        this.timeout = timeout;
    }

    /**
     * Sends the call and returns a reader of the reply; null if no server is there, or none that answers in time.
     *
     * @throws RecordException if the answer is no record, or too long
     */
    @Nullable
    XdrReader call(byte[] call) throws RecordException {
        try (SocketChannel channel = open()) {
            FutureTask<byte[]> task = new FutureTask<>(() -> exchange(channel, call));
            Thread.ofVirtual().name("rpcrdma-rpcbind").start(task);
            // ORDER: when the time is over, the channel is closed, which ends the thread.
            return new XdrReader(MemorySegment.ofArray(task.get(timeout.toNanos(), TimeUnit.NANOSECONDS)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RecordException bad) {
                throw bad;
            }
            return null;
        } catch (TimeoutException | IOException e) {
            return null;
        }
    }

    private SocketChannel open() throws IOException {
        return server instanceof InetSocketAddress
                ? SocketChannel.open()
                : SocketChannel.open(StandardProtocolFamily.UNIX);
    }

    private byte[] exchange(SocketChannel channel, byte[] call) throws IOException {
        if (!channel.connect(server)) {
            throw new IOException("not connected");
        }
        ByteBuffer record = ByteBuffer.allocate(Integer.BYTES + call.length);
        record.putInt(LAST | call.length).put(call).flip();
        while (record.hasRemaining()) {
            channel.write(record);
        }
        RecordInput input = new RecordInput(channel, LARGEST_REPLY);
        if (!input.next()) {
            throw new IOException("closed without an answer");
        }
        byte[] reply = new byte[0];
        while (input.left() > 0) {
            int from = reply.length;
            reply = Arrays.copyOf(reply, from + (int) input.left());
            input.read(MemorySegment.ofArray(reply).asSlice(from));
        }
        return reply;
    }
}
