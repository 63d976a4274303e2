// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A peer on a plain socket that builds every byte itself. Of revision 1 without CRCs: for devices with {@code crc=off}. */
final class RawPeer implements Closeable {
    private static final int READ_LIMIT_MILLIS = 20_000;

    final Socket socket;
    private int nextSend = 1;

    private RawPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(READ_LIMIT_MILLIS);
        socket.setTcpNoDelay(true);
    }

    /** Sends a Request and reads the Reply; the socket takes in little while nobody reads. */
    static RawPeer connect(InetSocketAddress server) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(32 * 1024);
        socket.connect(server, READ_LIMIT_MILLIS);
        RawPeer peer = new RawPeer(socket);
        peer.send(frame("MPA ID Req Frame"));
        peer.readFrame();
        return peer;
    }

    /** Waits for a Request on a listening socket and answers it. */
    static RawPeer accept(ServerSocket server) throws IOException {
        server.setSoTimeout(READ_LIMIT_MILLIS);
        RawPeer peer = new RawPeer(server.accept());
        peer.readFrame();
        peer.send(frame("MPA ID Rep Frame"));
        return peer;
    }

    static ServerSocket server() throws IOException {
        ServerSocket server = new ServerSocket();
        server.setReceiveBufferSize(32 * 1024);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return server;
    }

    private static byte[] frame(String key) {
        ByteBuffer frame = ByteBuffer.allocate(20);
        return frame.put(key.getBytes(StandardCharsets.US_ASCII))
                .put((byte) 0)
                .put((byte) 1)
                .array();
    }

    private void readFrame() throws IOException {
        byte[] header = new DataInputStream(socket.getInputStream()).readNBytes(20);
        if (header.length < 20) {
            throw new IOException("the stream ended in the set-up");
        }
        socket.getInputStream().readNBytes(((header[18] & 0xFF) << 8) | (header[19] & 0xFF));
    }

    void send(byte... bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    static byte[] fpdu(byte[] ulpdu) {
        int pad = -(2 + ulpdu.length) & 3;
        ByteBuffer fpdu = ByteBuffer.allocate(2 + ulpdu.length + pad + 4);
        return fpdu.putShort((short) ulpdu.length).put(ulpdu).array();
    }

    static byte[] tagged(int opcode, boolean last, int stag, long to, byte... payload) {
        ByteBuffer ulpdu = ByteBuffer.allocate(14 + payload.length);
        ulpdu.put((byte) (last ? 0xC1 : 0x81)).put((byte) (0x40 | opcode));
        return fpdu(ulpdu.putInt(stag).putLong(to).put(payload).array());
    }

    static byte[] write(int stag, long to, byte... payload) {
        return tagged(0, true, stag, to, payload);
    }

    static byte[] untagged(int opcode, int queue, int msn, byte... payload) {
        ByteBuffer ulpdu = ByteBuffer.allocate(18 + payload.length);
        ulpdu.put((byte) 0x41)
                .put((byte) (0x40 | opcode))
                .putInt(0)
                .putInt(queue)
                .putInt(msn)
                .putInt(0);
        return fpdu(ulpdu.put(payload).array());
    }

    void sendMessage(byte... payload) throws IOException {
        send(untagged(3, 0, nextSend++, payload));
    }

    static byte[] readRequest(int msn, int sinkStag, long sinkTo, int size, int sourceStag, long sourceTo) {
        ByteBuffer header = ByteBuffer.allocate(28);
        header.putInt(sinkStag).putLong(sinkTo).putInt(size).putInt(sourceStag).putLong(sourceTo);
        return untagged(1, 1, msn, header.array());
    }

    /** Whether FIN comes next, not a ULPDU and not a reset. */
    boolean isAtFin() throws IOException {
        return nextUlpdu() == null;
    }

    /** The next ULPDU. */
    byte[] readUlpdu() throws IOException {
        return requireNonNull(nextUlpdu(), "the stream ended");
    }

    /** The next ULPDU; null at FIN. Throws at a reset. */
    byte @Nullable [] nextUlpdu() throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        int high = in.read();
        if (high < 0) {
            return null;
        }
        int length = (high << 8) | in.readUnsignedByte();
        byte[] ulpdu = new byte[length];
        in.readFully(ulpdu);
        in.skipNBytes((-(2 + length) & 3) + 4L);
        return ulpdu;
    }

    static int opcode(byte[] ulpdu) {
        return ulpdu[1] & 0xF;
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
