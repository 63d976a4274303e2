// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands between a client and a server, and can break the connection just when the server answers: the answer is lost. */
final class CuttingProxy implements AutoCloseable {

    private final InetSocketAddress server;
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean armed = new AtomicBoolean();
    private final AtomicInteger cuts = new AtomicInteger();

    CuttingProxy(InetSocketAddress server) throws IOException {
        this.server = server;
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    /** The next bytes that the server sends are lost with their connection. */
    void cutNextAnswer() {
        armed.set(true);
    }

    int cuts() {
        return cuts.get();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                sockets.add(client);
                Socket behind = new Socket(server.getAddress(), server.getPort());
                sockets.add(behind);
                client.setTcpNoDelay(true);
                behind.setTcpNoDelay(true);
                Thread.ofVirtual().start(() -> pump(client, behind, false));
                Thread.ofVirtual().start(() -> pump(behind, client, true));
            }
        } catch (IOException e) {
            // The proxy is closed.
            closeAll();
        }
    }

    private void pump(Socket from, Socket to, boolean answers) {
        byte[] buffer = new byte[64 << 10];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            int n;
            while ((n = in.read(buffer)) > 0) {
                if (answers && armed.compareAndSet(true, false)) {
                    cuts.incrementAndGet();
                    return;
                }
                out.write(buffer, 0, n);
            }
        } catch (IOException e) {
            // Either side is gone; the other one follows.
            closeQuietly(to);
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void closeAll() {
        sockets.forEach(CuttingProxy::closeQuietly);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        closeAll();
    }
}
