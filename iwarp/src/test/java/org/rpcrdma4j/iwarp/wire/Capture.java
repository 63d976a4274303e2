// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The TCP connections of a classic capture file: Ethernet, IPv4, each direction put together again. */
final class Capture {
    /** What both ends sent; the initiator is the one that sent the first SYN. */
    @SuppressWarnings("ArrayRecordComponent") // never compared, never changed
    record Connection(byte[] toResponder, byte[] toInitiator) {}

    private record Endpoints(long source, long target) {
        Endpoints reversed() {
            return new Endpoints(target, source);
        }
    }

    private static final int MAGIC = 0xA1B2C3D4;
    private static final int FILE_HEADER_BYTES = 24;
    private static final int LINK_TYPE_OFFSET = 20;
    private static final int LINK_TYPE_ETHERNET = 1;
    private static final int ETHERTYPE_OFFSET = 12;
    private static final int ETHERNET_BYTES = 14;
    private static final int ETHERTYPE_IPV4 = 0x0800;
    private static final int PROTOCOL_TCP = 6;
    private static final int FLAG_SYN = 0x02;
    private static final int FLAG_ACK = 0x10;

    private final Map<Endpoints, Direction> directions = new LinkedHashMap<>();
    private final List<Endpoints> initiators = new ArrayList<>();

    private Capture() {}

    static List<Connection> connections(String resource) throws IOException {
        Capture capture = new Capture();
        capture.readFile(ByteBuffer.wrap(Resources.read(resource)));
        return capture.initiators.stream()
                .map(initiator -> new Connection(
                        capture.direction(initiator).bytes(),
                        capture.direction(initiator.reversed()).bytes()))
                .toList();
    }

    private void readFile(ByteBuffer file) {
        file.order(ByteOrder.LITTLE_ENDIAN);
        if (file.getInt(0) != MAGIC || file.getInt(LINK_TYPE_OFFSET) != LINK_TYPE_ETHERNET) {
            throw new IllegalArgumentException("expected a little-endian capture of Ethernet frames");
        }
        file.position(FILE_HEADER_BYTES);
        while (file.hasRemaining()) {
            file.getLong();
            int captured = file.getInt();
            if (file.getInt() != captured) {
                throw new IllegalArgumentException("expected whole packets, found one cut at " + captured);
            }
            readPacket(file.slice(file.position(), captured));
            file.position(file.position() + captured);
        }
    }

    private void readPacket(ByteBuffer packet) {
        int ip = ETHERNET_BYTES;
        if (Short.toUnsignedInt(packet.getShort(ETHERTYPE_OFFSET)) != ETHERTYPE_IPV4
                || packet.get(ip + 9) != PROTOCOL_TCP) {
            return;
        }
        int tcp = ip + (packet.get(ip) & 0x0F) * 4;
        int end = ip + Short.toUnsignedInt(packet.getShort(ip + 2));
        int data = tcp + (Byte.toUnsignedInt(packet.get(tcp + 12)) >>> 4) * 4;
        int flags = packet.get(tcp + 13);
        Endpoints endpoints = new Endpoints(
                endpoint(packet.getInt(ip + 12), packet.getShort(tcp)),
                endpoint(packet.getInt(ip + 16), packet.getShort(tcp + 2)));
        if ((flags & FLAG_SYN) != 0 && (flags & FLAG_ACK) == 0 && !initiators.contains(endpoints)) {
            initiators.add(endpoints);
        }
        byte[] payload = new byte[end - data];
        packet.get(data, payload);
        direction(endpoints).add(packet.getInt(tcp + 4), (flags & FLAG_SYN) != 0, payload);
    }

    private Direction direction(Endpoints endpoints) {
        return directions.computeIfAbsent(endpoints, key -> new Direction());
    }

    private static long endpoint(int address, short port) {
        return (long) address << 16 | Short.toUnsignedLong(port);
    }

    /** One direction: pieces by their distance from the SYN, so that repeats and disorder do not matter. */
    private static final class Direction {
        private final TreeMap<Integer, byte[]> pieces = new TreeMap<>();
        private int firstSequence;
        private boolean started;

        void add(int sequence, boolean syn, byte[] payload) {
            if (syn) {
                firstSequence = sequence + 1;
                started = true;
            } else if (!started) {
                throw new IllegalArgumentException("expected a SYN before the data");
            }
            int distance = sequence - firstSequence;
            if (payload.length > 0 && distance >= 0) {
                pieces.merge(distance, payload, (old, now) -> old.length >= now.length ? old : now);
            }
        }

        byte[] bytes() {
            ByteBuffer stream = ByteBuffer.allocate(
                    pieces.values().stream().mapToInt(piece -> piece.length).sum());
            pieces.forEach((distance, piece) -> {
                int known = stream.position() - distance;
                if (known < 0) {
                    throw new IllegalArgumentException("%d bytes are missing".formatted(-known));
                }
                if (known < piece.length) {
                    stream.put(piece, known, piece.length - known);
                }
            });
            byte[] bytes = new byte[stream.flip().remaining()];
            stream.get(bytes);
            return bytes;
        }
    }
}
