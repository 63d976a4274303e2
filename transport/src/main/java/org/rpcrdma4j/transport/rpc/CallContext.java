// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * What the transport under a call offers to the procedure that serves it, whatever the transport is. Valid until the procedure returns;
 * used by the thread that runs it.
 */
public interface CallContext {

    /** For calls that come from no transport: from the loopback address, port 0; memory from the heap. */
    CallContext NONE = new CallContext() {
        private final InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

        @Override
        public InetSocketAddress remoteAddress() {
            return nobody;
        }

        @Override
        public MemorySegment allocate(long bytes) {
            return MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
        }

        @Override
        public void whenReleased(Runnable task) {
            task.run();
        }
    };

    /** Whom the call came from. */
    InetSocketAddress remoteAddress();

    /** The connection that the call came on; null if the transport does not tell. It may be used after the procedure has returned. */
    default @Nullable CallerConnection connection() {
        return null;
    }

    /**
     * Memory for results, which is sent from where it lies; over RDMA it is registered. It is the procedure's until that returns, then the
     * transport's. Not zeroed.
     *
     * @throws IllegalArgumentException if no single buffer is so large
     * @throws IllegalStateException if the memory for results is used up, or the connection has ended
     */
    MemorySegment allocate(long bytes);

    /**
     * Lends native memory of the procedure's own that results were written from as items: it stays as it is until the task is run, so it
     * need not be copied. The task is run once, on some thread, after the reply is on its way or has failed; it must not block.
     */
    void whenReleased(Runnable task);

    /**
     * Takes the answer out of the hands of the thread that runs the call, for calls that wait for something. If this gives something,
     * nothing is sent when that thread is through: the transport takes the reply, once, from any thread, when it is given there, and
     * drops it if the connection has ended meanwhile. Null if the transport cannot do so; then the thread waits.
     */
    default @Nullable Consumer<XdrWriter> answerLater() {
        return null;
    }
}
