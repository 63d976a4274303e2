// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.OwnThread;

/** Stands between two ends of one TCP connection and breaks it after a number of bytes of one direction. */
final class CuttingProxy implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final InetSocketAddress target;
    private final boolean cutsTowardsTarget;
    private final long cutAfter;
    private final boolean reset;
    private volatile @Nullable Socket near;
    private volatile @Nullable Socket far;

    CuttingProxy(InetSocketAddress target, boolean cutsTowardsTarget, long cutAfter, boolean reset) throws IOException {
        this.target = target;
        this.cutsTowardsTarget = cutsTowardsTarget;
        this.cutAfter = cutAfter;
        this.reset = reset;
        var _ = OwnThread.run(this::run);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    private void run() throws IOException {
        Socket from = server.accept();
        near = from;
        Socket to = new Socket(target.getAddress(), target.getPort());
        far = to;
        from.setTcpNoDelay(true);
        to.setTcpNoDelay(true);
        var _ = OwnThread.run(() -> pump(to, from, cutsTowardsTarget ? Long.MAX_VALUE : cutAfter));
        pump(from, to, cutsTowardsTarget ? cutAfter : Long.MAX_VALUE);
    }

    private void pump(Socket from, Socket to, long limit) throws IOException {
        byte[] buffer = new byte[4096];
        long left = limit;
        try {
            while (left > 0) {
                int count = from.getInputStream().read(buffer, 0, (int) Math.min(buffer.length, left));
                if (count < 0) {
                    break;
                }
                to.getOutputStream().write(buffer, 0, count);
                left -= count;
            }
            if (left == 0 && reset) {
                breakOff(from);
                breakOff(to);
                return;
            }
            to.shutdownOutput();
            from.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
        } catch (IOException e) {
            // One end was reset: so is the other.
            breakOff(from);
            breakOff(to);
        }
    }

    private static void breakOff(Socket socket) throws IOException {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // Closed already.
        }
        socket.close();
    }

    @Override
    public void close() throws IOException {
        server.close();
        close(near);
        close(far);
    }

    private static void close(@Nullable Socket socket) throws IOException {
        if (socket != null) {
            socket.close();
        }
    }
}
