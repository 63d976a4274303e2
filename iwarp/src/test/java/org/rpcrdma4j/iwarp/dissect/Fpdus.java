// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.dissect;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.rpcrdma4j.testkit.capture.PcapWriter;

/** Counts the FPDUs in a file of {@link PcapWriter} by their length fields alone. */
final class Fpdus {
    private static final int FILE_HEADER_BYTES = 24;
    private static final int PACKET_HEADER_BYTES = 16;
    private static final int IP_TCP_HEADER_BYTES = 40;
    private static final int START_UP_HEADER_BYTES = 20;

    private Fpdus() {}

    static long count(Path capture) throws IOException {
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(capture));
        Map<Integer, ByteArrayOutputStream> streams = new TreeMap<>();
        file.position(FILE_HEADER_BYTES);
        while (file.hasRemaining()) {
            int length = file.order(ByteOrder.LITTLE_ENDIAN).getInt(file.position() + 8);
            int packet = file.position() + PACKET_HEADER_BYTES;
            int ports = file.order(ByteOrder.BIG_ENDIAN).getInt(packet + 20);
            byte[] payload = new byte[length - IP_TCP_HEADER_BYTES];
            file.get(packet + IP_TCP_HEADER_BYTES, payload);
            streams.computeIfAbsent(ports, key -> new ByteArrayOutputStream()).write(payload);
            file.position(packet + length);
        }
        return streams.values().stream()
                .mapToLong(stream -> count(stream.toByteArray()))
                .sum();
    }

    private static long count(byte[] stream) {
        ByteBuffer bytes = ByteBuffer.wrap(stream);
        if (bytes.remaining() < START_UP_HEADER_BYTES) {
            return 0;
        }
        bytes.position(START_UP_HEADER_BYTES + Short.toUnsignedInt(bytes.getShort(START_UP_HEADER_BYTES - 2)));
        long count = 0;
        while (bytes.remaining() >= 2) {
            int unpadded = 2 + Short.toUnsignedInt(bytes.getShort(bytes.position()));
            bytes.position(bytes.position() + (unpadded + 3 & ~3) + 4);
            count++;
        }
        return count;
    }
}
