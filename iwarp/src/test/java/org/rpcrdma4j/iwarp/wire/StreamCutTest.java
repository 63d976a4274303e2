// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaFrame.Kind;

/** TCP may cut the stream anywhere; what is found in it stays the same. */
class StreamCutTest {
    private static final long SEED = 20049;

    @SuppressWarnings("ArrayRecordComponent") // never compared, never changed
    private record Stream(Kind kind, boolean crc, byte[] bytes) {
        DecodedStream whole() throws IwarpException {
            return new DecodedStream(kind, crc).feed(bytes, 0, bytes.length);
        }

        DecodedStream cutAt(int... cuts) throws IwarpException {
            DecodedStream decoded = new DecodedStream(kind, crc);
            int from = 0;
            for (int to : cuts) {
                decoded.feed(bytes, from, to);
                from = to;
            }
            return decoded.feed(bytes, from, bytes.length);
        }

        DecodedStream byteByByte() throws IwarpException {
            DecodedStream decoded = new DecodedStream(kind, crc);
            for (int i = 0; i < bytes.length; i++) {
                decoded.feed(bytes, i, i + 1);
            }
            return decoded;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/vectors/iwarp-vectors.pcap", "/captures/v3-crc.pcap"})
    void findsTheSameWhereverSmallStreamsAreCut(String resource) throws Exception {
        for (Stream stream : streams(resource)) {
            DecodedStream whole = stream.whole();
            for (int cut = 1; cut < stream.bytes().length; cut++) {
                assertSame(stream.cutAt(cut), whole, cut);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/vectors/iwarp-vectors.pcap",
                "/captures/v3-crc.pcap",
                "/captures/v41-crc.pcap",
                "/captures/v3-p2p.pcap",
                "/captures/v40.pcap",
                "/captures/v42.pcap",
                "/captures/v3.pcap.gz",
                "/captures/v41.pcap.gz",
            })
    void findsTheSameByteByByte(String resource) throws Exception {
        for (Stream stream : streams(resource)) {
            assertSame(stream.byteByByte(), stream.whole(), -1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/captures/v3-crc.pcap",
                "/captures/v41-crc.pcap",
                "/captures/v3-p2p.pcap",
                "/captures/v3.pcap.gz",
                "/captures/v41.pcap.gz",
            })
    void findsTheSameUnderManyRandomCuts(String resource) throws Exception {
        Random random = new Random(SEED);
        for (Stream stream : streams(resource)) {
            DecodedStream whole = stream.whole();
            for (int round = 0; round < 20; round++) {
                int pieces = 1 + random.nextInt(4000);
                int[] cuts = random.ints(pieces, 0, stream.bytes().length + 1)
                        .sorted()
                        .toArray();
                assertSame(stream.cutAt(cuts), whole, pieces);
            }
        }
    }

    private static void assertSame(DecodedStream cut, DecodedStream whole, int where) {
        assertThat(cut.frame()).as("frame, cut %d", where).isEqualTo(whole.frame());
        assertThat(cut.segments().equals(whole.segments()))
                .as("segments, cut %d", where)
                .isTrue();
        assertThat(cut.leftOver()).isZero();
    }

    private static List<Stream> streams(String resource) throws Exception {
        List<Stream> streams = new ArrayList<>();
        for (Capture.Connection connection : Capture.connections(resource)) {
            boolean crc = crc(Kind.REQUEST, connection.toResponder()) || crc(Kind.REPLY, connection.toInitiator());
            streams.add(new Stream(Kind.REQUEST, crc, connection.toResponder()));
            streams.add(new Stream(Kind.REPLY, crc, connection.toInitiator()));
        }
        return streams;
    }

    private static boolean crc(Kind kind, byte[] stream) throws IwarpException {
        MpaFrame frame = new DecodedStream(kind, false)
                .feed(stream, 0, MpaFrame.HEADER_BYTES + ((stream[18] << 8) | (stream[19] & 0xFF)))
                .frame();
        return frame.crc();
    }
}
