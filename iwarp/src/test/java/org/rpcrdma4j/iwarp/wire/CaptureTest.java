// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.mpa.EnhancedSetup;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaInitiator;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome;
import org.rpcrdma4j.iwarp.mpa.MpaResponder;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.iwarp.mpa.Rtr;
import org.rpcrdma4j.iwarp.rdmap.Opcode;

/** What Linux kernels really sent each other, and the streams of the vector file. */
class CaptureTest {
    @ParameterizedTest
    @CsvSource({
        "/captures/v3-crc.pcap, 1, true, 279",
        "/captures/v41-crc.pcap, 2, true, 325",
        "/captures/v3-p2p.pcap, 1, false, 280",
        "/captures/v3-rsize4k.pcap, 1, false, 279",
        "/captures/v40.pcap, 1, false, 332",
        "/captures/v42.pcap, 1, false, 352",
        "/captures/v3.pcap.gz, 1, false, 2078",
        "/captures/v41.pcap.gz, 1, false, 2201",
    })
    void decodesEveryFpduOfTheLinuxKernel(String resource, int connections, boolean crc, int fpdus) throws Exception {
        List<Capture.Connection> all = Capture.connections(resource);

        int found = 0;
        for (Capture.Connection connection : all) {
            assertThat(usesCrc(connection)).isEqualTo(crc);
            found += decodeInOrder(MpaFrame.Kind.REQUEST, crc, connection.toResponder());
            found += decodeInOrder(MpaFrame.Kind.REPLY, crc, connection.toInitiator());
        }

        assertThat(all).hasSize(connections);
        assertThat(found).isEqualTo(fpdus);
    }

    @ParameterizedTest
    @CsvSource({"0, true, 15", "1, true, 6", "2, false, 2", "3, false, 0", "4, true, 0", "5, true, 3"})
    void decodesEveryFpduOfTheVectorStreams(int stream, boolean crc, int fpdus) throws Exception {
        Capture.Connection connection =
                Capture.connections("/vectors/iwarp-vectors.pcap").get(stream);

        assertThat(usesCrc(connection)).isEqualTo(crc);
        assertThat(decodeInOrder(MpaFrame.Kind.REQUEST, crc, connection.toResponder())
                        + decodeInOrder(MpaFrame.Kind.REPLY, crc, connection.toInitiator()))
                .isEqualTo(fpdus);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/captures/v3-crc.pcap",
                "/captures/v3-p2p.pcap",
                "/captures/v3-rsize4k.pcap",
                "/captures/v40.pcap",
                "/captures/v41-crc.pcap",
                "/captures/v42.pcap",
            })
    void setsConnectionsUpAsTheLinuxKernelDoes(String resource) throws Exception {
        for (Capture.Connection connection : Capture.connections(resource)) {
            MpaFrame request = frame(MpaFrame.Kind.REQUEST, connection.toResponder());
            MpaFrame reply = frame(MpaFrame.Kind.REPLY, connection.toInitiator());
            EnhancedSetup asked = request.enhancedSetup();
            MpaWishes client = MpaWishes.of(asked.ird(), asked.ord())
                    .withCrc(request.crc())
                    .withPeerToPeer(asked.peerToPeer());
            MpaWishes server = MpaWishes.of(0, 0).withCrc(false);

            MpaInitiator initiator = new MpaInitiator(client, request.privateData());
            assertThat(initiator.request()).isEqualTo(request.encode());
            MpaOutcome outcome = initiator.onBytes(ByteBuffer.wrap(reply.encode()));
            assertThat(outcome).isEqualTo(expectedAtTheClient(request, reply, outcome));

            MpaResponder responder = new MpaResponder(server);
            assertThat(responder.onBytes(ByteBuffer.wrap(request.encode()))).isTrue();
            assertThat(responder.accept(reply.privateData(), 0, 128).reply()).isEqualTo(reply.encode());
        }
    }

    /** Linux asks for IRD 128 and ORD 0 (1 if peer-to-peer); its server answers with the same numbers crosswise. */
    private static MpaOutcome expectedAtTheClient(MpaFrame request, MpaFrame reply, MpaOutcome found) {
        boolean peerToPeer = request.enhancedSetup().peerToPeer();
        Rtr rtr = peerToPeer ? Rtr.WRITE : null;
        int depthForTheRtr = peerToPeer ? 1 : 0;
        assertThat(found.privateData()).isEqualTo(reply.privateData());
        MpaOutcome.Established established = (MpaOutcome.Established) found;
        assertThat(established.revision()).isEqualTo(2);
        assertThat(established.crc()).isEqualTo(request.crc());
        assertThat(established.ird()).isEqualTo(128);
        assertThat(established.ord()).isEqualTo(depthForTheRtr);
        assertThat(established.peerIrd()).isEqualTo(depthForTheRtr);
        assertThat(established.peerOrd()).isEqualTo(128);
        assertThat(established.rtr()).isEqualTo(rtr);
        return established;
    }

    private static boolean usesCrc(Capture.Connection connection) throws IwarpException {
        return frame(MpaFrame.Kind.REQUEST, connection.toResponder()).crc()
                || frame(MpaFrame.Kind.REPLY, connection.toInitiator()).crc();
    }

    private static MpaFrame frame(MpaFrame.Kind kind, byte[] stream) throws IwarpException {
        return new DecodedStream(kind, false)
                .feed(stream, 0, startupBytes(stream))
                .frame();
    }

    private static int startupBytes(byte[] stream) {
        return MpaFrame.HEADER_BYTES
                + Short.toUnsignedInt(ByteBuffer.wrap(stream).getShort(18));
    }

    /** Decodes a direction, and follows the message numbers of its queues; returns the number of FPDUs. */
    private static int decodeInOrder(MpaFrame.Kind kind, boolean crc, byte[] stream)
            throws IwarpException, IOException {
        int[] msn = {DdpHeader.FIRST_MSN, DdpHeader.FIRST_MSN, DdpHeader.FIRST_MSN};
        DecodedStream decoded = new DecodedStream(kind, crc, (opcode, staging, at, length) -> {
            if (!opcode.isTagged()) {
                int queue = DdpHeader.queueNumber(staging, at);
                assertThat(DdpHeader.msn(staging, at)).isEqualTo(msn[queue]);
                msn[queue] += DdpHeader.isLast(staging, at) ? 1 : 0;
            }
            assertThat(opcode).isNotEqualTo(opcode.isTagged() ? Opcode.SEND : Opcode.WRITE);
        });
        decoded.feed(stream, 0, stream.length);
        assertThat(decoded.leftOver()).isZero();
        return decoded.segments().size();
    }
}
