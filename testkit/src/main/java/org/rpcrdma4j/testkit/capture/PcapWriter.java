// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.capture;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Writes a classic capture file of TCP connections: what was sent and in what order is real, the headers around it are made up. Link type
 * 101, bare IPv4. Not safe for several threads, except by its monitor.
 */
public final class PcapWriter implements AutoCloseable {
    private static final int LINK_TYPE_RAW_IP = 101;
    private static final int MAX_PACKET = 65_535;
    private static final int HEADER_BYTES = 40;
    private static final int FLAG_FIN = 0x01;
    private static final int FLAG_SYN = 0x02;
    private static final int FLAG_ACK = 0x10;
    private static final int SERVER_PORT = 20049;
    private static final int LOOPBACK = 0x7F000001;

    private final OutputStream file;
    private long microseconds;

    /** Makes the file. */
    public PcapWriter(Path path) throws IOException {
        file = Files.newOutputStream(path);
        file.write(little(24)
                .putInt(0xA1B2C3D4)
                .putShort((short) 2)
                .putShort((short) 4)
                .putLong(0)
                .putInt(MAX_PACKET)
                .putInt(LINK_TYPE_RAW_IP)
                .array());
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** One connection in the file. */
    final class Connection {
        private final int clientPort;
        private int clientNext = 1000;
        private int serverNext = 5000;

        Connection(int clientPort) throws IOException {
            this.clientPort = clientPort;
            packet(true, FLAG_SYN, new byte[0], 0);
            clientNext++;
            packet(false, FLAG_SYN | FLAG_ACK, new byte[0], 0);
            serverNext++;
            packet(true, FLAG_ACK, new byte[0], 0);
        }

        /** Bytes went one way, in one read of the recorder. */
        void data(boolean fromClient, byte[] bytes, int length) throws IOException {
            synchronized (PcapWriter.this) {
                int most = MAX_PACKET - HEADER_BYTES;
                for (int at = 0; at < length; at += most) {
                    byte[] part = Arrays.copyOfRange(bytes, at, Math.min(length, at + most));
                    packet(fromClient, FLAG_ACK, part, part.length);
                    advance(fromClient, part.length);
                }
            }
        }

        void fin(boolean fromClient) throws IOException {
            synchronized (PcapWriter.this) {
                packet(fromClient, FLAG_FIN | FLAG_ACK, new byte[0], 0);
                advance(fromClient, 1);
            }
        }

        private void advance(boolean client, int bytes) {
            if (client) {
                clientNext += bytes;
            } else {
                serverNext += bytes;
            }
        }

        private void packet(boolean fromClient, int flags, byte[] payload, int length) throws IOException {
            ByteBuffer packet = ByteBuffer.allocate(HEADER_BYTES + length);
            packet.putShort((short) 0x4500).putShort((short) (HEADER_BYTES + length));
            packet.putInt(0).putShort((short) 0x4006).putShort((short) 0);
            packet.putInt(LOOPBACK).putInt(LOOPBACK);
            packet.putShort((short) (fromClient ? clientPort : SERVER_PORT));
            packet.putShort((short) (fromClient ? SERVER_PORT : clientPort));
            packet.putInt(fromClient ? clientNext : serverNext);
            packet.putInt((flags & FLAG_ACK) == 0 ? 0 : fromClient ? serverNext : clientNext);
            packet.putShort((short) (0x5000 | flags)).putShort((short) 0xFFFF).putInt(0);
            packet.put(payload, 0, length);
            write(packet.array());
        }
    }

    private void write(byte[] packet) throws IOException {
        microseconds += 10;
        file.write(little(16)
                .putInt((int) (microseconds / 1_000_000))
                .putInt((int) (microseconds % 1_000_000))
                .putInt(packet.length)
                .putInt(packet.length)
                .array());
        file.write(packet);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
