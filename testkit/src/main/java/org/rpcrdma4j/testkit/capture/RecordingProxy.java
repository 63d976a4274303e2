// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.capture;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Passes TCP connections on to a server and records what passes, in both directions, until it is closed. */
public final class RecordingProxy implements AutoCloseable {
    private final ServerSocket listening = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    private final InetSocketAddress target;
    private final PcapWriter pcap;
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final List<IOException> failures = new CopyOnWriteArrayList<>();
    private final AtomicInteger nextPort = new AtomicInteger(40_000);

    /** Listens on any port of the loopback interface. The file stays the caller's. */
    public RecordingProxy(InetSocketAddress target, PcapWriter pcap) throws IOException {
        this.target = target;
        this.pcap = pcap;
        start(this::accept);
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    private void start(Runnable work) {
        Thread thread = Thread.ofPlatform().daemon().name("recording-proxy").unstarted(work);
        threads.add(thread);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                Socket server = new Socket(target.getAddress(), target.getPort());
                sockets.add(client);
                sockets.add(server);
                PcapWriter.Connection record;
                synchronized (pcap) {
                    record = pcap.new Connection(nextPort.getAndIncrement());
                }
                start(() -> pass(client, server, record, true));
                start(() -> pass(server, client, record, false));
            }
        } catch (IOException e) {
            if (!listening.isClosed()) {
                failures.add(e);
            }
        }
    }

    private void pass(Socket from, Socket to, PcapWriter.Connection record, boolean fromClient) {
        byte[] buffer = new byte[60_000];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                record.data(fromClient, buffer, count);
                out.write(buffer, 0, count);
            }
            record.fin(fromClient);
            to.shutdownOutput();
        } catch (IOException e) {
            // A connection that one end has cut; the recording ends here.
        }
    }

    /** Ends and waits for its threads; what it could not do makes it fail. */
    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        try {
            for (Thread thread : threads) {
                thread.join(5_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!failures.isEmpty()) {
            throw failures.getFirst();
        }
    }
}
