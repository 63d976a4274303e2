// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mpa.Crc32c;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaInitiator;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome;
import org.rpcrdma4j.iwarp.mpa.MpaResponder;
import org.rpcrdma4j.iwarp.mpa.MpaWishes;
import org.rpcrdma4j.iwarp.mpa.Rtr;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;

/** The start-up machines and the Terminate builder make the frames of the vector file by themselves. */
class VectorHandshakeTest {
    @ParameterizedTest
    @CsvSource({
        "mpa-req-rev2-p2p, 32, 32, true, true",
        "mpa-req-rev2-siw-nfs, 128, 0, false, false",
        "mpa-req-rev2-p2p-b, 8, 8, true, true",
    })
    void makesTheEnhancedRequests(String request, int ird, int ord, boolean crc, boolean peerToPeer)
            throws IwarpException {
        WireVector vector = WireVector.named(request);
        MpaWishes wishes = MpaWishes.of(ird, ord).withCrc(crc).withPeerToPeer(peerToPeer);

        assertThat(new MpaInitiator(wishes, DecodedFields.frame(vector).privateData()).request())
                .isEqualTo(vector.bytes());
    }

    @ParameterizedTest
    @CsvSource({"mpa-req-rev1-crc, true", "mpa-req-rev1-bare, false"})
    void makesThePlainRequests(String request, boolean crc) throws IwarpException {
        WireVector vector = WireVector.named(request);
        MpaWishes wishes = MpaWishes.of(1, 1).plain().withCrc(crc);

        assertThat(new MpaInitiator(wishes, DecodedFields.frame(vector).privateData()).request())
                .isEqualTo(vector.bytes());
    }

    @ParameterizedTest
    @CsvSource({
        "mpa-req-rev1-crc, mpa-rep-rev1-crc, 0, 0",
        "mpa-req-rev2-siw-nfs, mpa-rep-rev2-siw-nfs, 0, 128",
        "mpa-req-rev2-p2p-b, mpa-rep-rev2-p2p-write, 0, 128",
    })
    void makesTheReplies(String request, String reply, int ird, int ord) throws IwarpException {
        MpaFrame expected = DecodedFields.frame(WireVector.named(reply));
        MpaResponder responder = asked(MpaWishes.of(0, 0).withCrc(false), request);

        assertThat(responder.accept(expected.privateData(), ird, ord).reply())
                .isEqualTo(WireVector.named(reply).bytes());
    }

    @Test
    void makesTheRejects() throws IwarpException {
        assertThat(asked(MpaWishes.of(0, 0).withCrc(false), "mpa-req-rev1-bare").reject(new byte[0]))
                .isEqualTo(WireVector.named("mpa-rep-rev1-reject").bytes());
        assertThat(asked(MpaWishes.of(32, 32), "mpa-req-rev2-markers").automaticReject())
                .isEqualTo(WireVector.named("mpa-rep-rev2-reject").bytes());
    }

    @Test
    void sendsTheReadRtrToAReplyThatNamesIt() throws IwarpException {
        MpaInitiator initiator = new MpaInitiator(MpaWishes.of(32, 32).withPeerToPeer(true), new byte[0]);

        MpaOutcome outcome = initiator.onBytes(
                ByteBuffer.wrap(WireVector.named("mpa-rep-rev2-p2p-read").bytes()));

        assertThat(((MpaOutcome.Established) outcome).rtr()).isEqualTo(Rtr.READ);
    }

    @ParameterizedTest
    @CsvSource({
        "term-mpa-crc, MPA_CRC, send-5",
        "term-mpa-ird, MPA_INSUFFICIENT_IRD, send-5",
        "term-mpa-rtr, MPA_NO_MATCHING_RTR, send-5",
        "term-rdmap-access, RDMAP_ACCESS_RIGHTS, read-req-viol",
        "term-rfc-untagged-nobuf, DDP_UNTAGGED_NO_BUFFER, send-5",
    })
    void makesTheTerminates(String terminate, TerminateError error, String offender) {
        ByteBuffer segment = ByteBuffer.wrap(WireVector.named(offender).bytes());
        TerminateMessage message = TerminateMessage.of(error, segment, Fpdu.LENGTH_BYTES, Fpdu.length(segment, 0));

        assertThat(fpdu(message)).isEqualTo(WireVector.named(terminate).hex());
    }

    private static String fpdu(TerminateMessage message) {
        ByteBuffer fpdu = ByteBuffer.allocate(Fpdu.fpduBytes(message.ulpduBytes()));
        Fpdu.putLength(fpdu, 0, message.ulpduBytes());
        int end = Fpdu.LENGTH_BYTES + message.encodeUlpdu(fpdu, Fpdu.LENGTH_BYTES);
        Crc32c crc = new Crc32c();
        crc.update(fpdu, 0, end);
        Fpdu.putTrailer(fpdu, end, message.ulpduBytes(), crc);
        return HexFormat.of().formatHex(fpdu.array());
    }

    private static MpaResponder asked(MpaWishes wishes, String request) throws IwarpException {
        MpaResponder responder = new MpaResponder(wishes);
        assertThat(responder.onBytes(ByteBuffer.wrap(WireVector.named(request).bytes())))
                .isTrue();
        return responder;
    }
}
