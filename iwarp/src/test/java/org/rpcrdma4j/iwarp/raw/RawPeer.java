// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The other end on a plain blocking socket: makes and reads start-up frames and FPDUs with code of its own. */
final class RawPeer implements Closeable {
    static final int C = 0x40;
    static final int S = 0x10;

    private static final int LIMIT_MILLIS = 10_000;

    private final Socket socket;
    private boolean crc;

    private RawPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(LIMIT_MILLIS);
    }

    static RawPeer of(Socket accepted) throws IOException {
        return new RawPeer(accepted);
    }

    static RawPeer connect(InetSocketAddress remote) throws IOException {
        Socket socket = new Socket();
        socket.connect(remote, LIMIT_MILLIS);
        return new RawPeer(socket);
    }

    /** Asks for a connection and reads the Reply; returns its private data. */
    byte[] initiate(int flags, byte[] privateData) throws IOException {
        send(startUp("MPA ID Req Frame", flags, privateData));
        byte[] reply = readStartUp("MPA ID Rep Frame");
        assertThat(reply[16] & 0x20).as("R of the Reply").isZero();
        crc = ((flags | reply[16]) & C) != 0;
        return Arrays.copyOfRange(reply, 20, reply.length);
    }

    /** Reads a Request; returns its private data. */
    byte[] readRequest() throws IOException {
        byte[] request = readStartUp("MPA ID Req Frame");
        crc = (request[16] & C) != 0;
        return Arrays.copyOfRange(request, 20, request.length);
    }

    /** Answers a Request. */
    void reply(int flags, byte[] privateData) throws IOException {
        crc |= (flags & C) != 0;
        send(startUp("MPA ID Rep Frame", flags, privateData));
    }

    boolean usesCrc() {
        return crc;
    }

    /** IRD and ORD with their flags. */
    static byte[] words(int first, int second) {
        return ByteBuffer.allocate(4)
                .putShort((short) first)
                .putShort((short) second)
                .array();
    }

    private static byte[] startUp(String key, int flags, byte[] privateData) {
        return ByteBuffer.allocate(20 + privateData.length)
                .put(key.getBytes(StandardCharsets.US_ASCII))
                .put((byte) flags)
                .put((byte) ((flags & S) != 0 ? 2 : 1))
                .putShort((short) privateData.length)
                .put(privateData)
                .array();
    }

    private byte[] readStartUp(String key) throws IOException {
        byte[] header = read(20);
        assertThat(new String(header, 0, 16, StandardCharsets.US_ASCII)).isEqualTo(key);
        byte[] data = read(((header[18] & 0xFF) << 8) | (header[19] & 0xFF));
        return ByteBuffer.allocate(20 + data.length).put(header).put(data).array();
    }

    /** Sends segments in one write. */
    void send(Ulpdu... segments) throws IOException {
        send(fpdus(segments));
    }

    byte[] fpdus(Ulpdu... segments) {
        byte[][] parts = new byte[segments.length][];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = segments[i].fpdu(crc);
        }
        return join(parts);
    }

    static byte[] join(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(
                Arrays.stream(parts).mapToInt(part -> part.length).sum());
        for (byte[] part : parts) {
            all.put(part);
        }
        return all.array();
    }

    void send(byte[] octets) throws IOException {
        send(octets, 0, octets.length);
    }

    void send(byte[] octets, int from, int to) throws IOException {
        socket.getOutputStream().write(octets, from, to - from);
    }

    private byte[] read(int count) throws IOException {
        byte[] octets = socket.getInputStream().readNBytes(count);
        if (octets.length < count) {
            throw new EOFException("end of stream after " + octets.length + " of " + count + " bytes");
        }
        return octets;
    }

    /** The next segment; its pad and CRC are checked. */
    Ulpdu receive() throws IOException {
        return receive(read(1)[0]);
    }

    private Ulpdu receive(int firstOctet) throws IOException {
        byte[] length = {(byte) firstOctet, read(1)[0]};
        int ulpduLength = ((length[0] & 0xFF) << 8) | (length[1] & 0xFF);
        int pad = Ulpdu.padLength(ulpduLength);
        byte[] rest = read(ulpduLength + pad + 4);
        Ulpdu ulpdu = new Ulpdu(Arrays.copyOf(rest, ulpduLength));
        assertThat(RawPeer.join(length, rest)).as("FPDU of %s", ulpdu).isEqualTo(ulpdu.fpdu(crc));
        return ulpdu;
    }

    /** The last segment before FIN. */
    Ulpdu receiveLastBeforeFin() throws IOException {
        Ulpdu last = receive();
        for (Ulpdu next = receiveOrFin(); next != null; next = receiveOrFin()) {
            last = next;
        }
        return last;
    }

    /** Payload bytes of all segments up to FIN. */
    int receiveUntilFin() throws IOException {
        int payload = 0;
        for (Ulpdu next = receiveOrFin(); next != null; next = receiveOrFin()) {
            payload += next.payload().length;
        }
        return payload;
    }

    private Ulpdu receiveOrFin() throws IOException {
        int first = socket.getInputStream().read();
        return first < 0 ? null : receive(first);
    }

    /** Nothing but FIN is left to read; a reset throws. */
    void expectFin() throws IOException {
        assertThat(socket.getInputStream().readAllBytes())
                .as("bytes before FIN")
                .isEmpty();
    }

    /** Whether nothing comes for some time. */
    boolean isSilentFor(int millis) throws IOException {
        socket.setSoTimeout(millis);
        try {
            int value = socket.getInputStream().read();
            throw new AssertionError(value < 0 ? "FIN instead of silence" : "a byte instead of silence: " + value);
        } catch (SocketTimeoutException e) {
            return true;
        } finally {
            socket.setSoTimeout(LIMIT_MILLIS);
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
