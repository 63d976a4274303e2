// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The other end, on a plain blocking socket; builds every byte itself and knows none of the product's codecs. */
final class RawMpaPeer implements Closeable {
    static final int M = 0x80;
    static final int C = 0x40;
    static final int R = 0x20;
    static final int S = 0x10;

    private static final int READ_LIMIT_MILLIS = 10_000;

    private final Socket socket;

    private RawMpaPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(READ_LIMIT_MILLIS);
        socket.setTcpNoDelay(true);
    }

    static RawMpaPeer connect(InetSocketAddress remote) throws IOException {
        Socket socket = new Socket();
        socket.connect(remote, READ_LIMIT_MILLIS);
        return new RawMpaPeer(socket);
    }

    /** A listening socket of the other end. */
    static final class Server implements Closeable {
        private final ServerSocket server;

        Server() throws IOException {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            server.setSoTimeout(READ_LIMIT_MILLIS);
        }

        InetSocketAddress address() {
            return (InetSocketAddress) server.getLocalSocketAddress();
        }

        RawMpaPeer accept() throws IOException {
            return new RawMpaPeer(server.accept());
        }

        boolean hasNoneWithin(int millis) throws IOException {
            server.setSoTimeout(millis);
            try {
                server.accept().close();
                return false;
            } catch (SocketTimeoutException e) {
                return true;
            } finally {
                server.setSoTimeout(READ_LIMIT_MILLIS);
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    static byte[] frame(String key, int flags, int revision, int pdLength, byte[] body) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.writeBytes(key.getBytes(StandardCharsets.US_ASCII));
        frame.write(flags);
        frame.write(revision);
        frame.write(pdLength >> 8);
        frame.write(pdLength);
        frame.writeBytes(body);
        return frame.toByteArray();
    }

    static byte[] request(int flags, int revision, byte... body) {
        return frame("MPA ID Req Frame", flags, revision, body.length, body);
    }

    static byte[] reply(int flags, int revision, byte... body) {
        return frame("MPA ID Rep Frame", flags, revision, body.length, body);
    }

    /** Control words and private data behind them. */
    static byte[] words(int first, int second, byte... data) {
        return join(new byte[] {(byte) (first >> 8), (byte) first, (byte) (second >> 8), (byte) second}, data);
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    /** One write per byte. */
    void sendByteByByte(byte[] bytes) throws IOException {
        for (byte value : bytes) {
            socket.getOutputStream().write(value);
            socket.getOutputStream().flush();
        }
    }

    byte[] read(int count) throws IOException {
        return socket.getInputStream().readNBytes(count);
    }

    /** A whole start-up frame. */
    byte[] readFrame() throws IOException {
        byte[] header = read(20);
        if (header.length < 20) {
            throw new IOException("end of stream after " + header.length + " bytes of a header");
        }
        return join(header, read(((header[18] & 0xFF) << 8) | (header[19] & 0xFF)));
    }

    /** All bytes up to FIN; throws if the end is a reset. */
    byte[] readUntilFin() throws IOException {
        return socket.getInputStream().readAllBytes();
    }

    /** All bytes up to FIN or reset. */
    byte[] readUntilEnd() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            for (int value = socket.getInputStream().read();
                    value >= 0;
                    value = socket.getInputStream().read()) {
                all.write(value);
            }
        } catch (SocketTimeoutException e) {
            throw new IOException("neither FIN nor reset within " + READ_LIMIT_MILLIS + " ms, read " + all.size(), e);
        } catch (SocketException e) {
            // A reset is an end, too.
            return all.toByteArray();
        }
        return all.toByteArray();
    }

    /** Whether the other side has ended the connection, waiting some time for it. */
    boolean isEndedWithin(int millis) throws IOException {
        socket.setSoTimeout(millis);
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        } finally {
            socket.setSoTimeout(READ_LIMIT_MILLIS);
        }
    }

    void finish() throws IOException {
        socket.shutdownOutput();
    }

    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
