// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.error.ProtocolViolation;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;

/** RFC 5041, Section 4.3: message sequence numbers count modulo 2^32, 0 behind 2^32 - 1. */
class MsnWrapTest {
    private static final int AT_MSN = 10;

    private final PureStream stream = new PureStream(64768);

    private static byte[] send(int msn) {
        return ByteBuffer.allocate(18)
                .putShort((short) 0x4143)
                .putInt(0)
                .putInt(0)
                .putInt(msn)
                .putInt(0)
                .array();
    }

    private static byte[] readRequest(int msn) {
        return ByteBuffer.allocate(46)
                .putShort((short) 0x4141)
                .putInt(0)
                .putInt(1)
                .putInt(msn)
                .array();
    }

    private static int msn(byte[] segment) {
        return ByteBuffer.wrap(segment).getInt(AT_MSN);
    }

    @Test
    void sendsThatArriveGoOnWithZero() throws Exception {
        stream.inbound.presetMsn(-2, 1);
        for (int i = 0; i < 4; i++) {
            stream.receives.post(new ReceiveRequest().id(i), 0);
        }
        for (int i = 0; i < 4; i++) {
            stream.receive(send(-2 + i));
            assertThat(stream.completion().isSuccess()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1, -2})
    void aSendBehindTheLargestNumberIsZeroAndNothingElse(int wrong) throws Exception {
        stream.inbound.presetMsn(-1, 1);
        stream.receives.post(new ReceiveRequest().id(1), 0);
        stream.receives.post(new ReceiveRequest().id(2), 0);
        stream.receive(send(-1));
        ProtocolViolation violation = catchThrowableOfType(ProtocolViolation.class, () -> stream.receive(send(wrong)));
        assertThat(violation.terminateError()).isEqualTo(TerminateError.DDP_UNTAGGED_MSN_RANGE);
    }

    @Test
    void readRequestsThatArriveGoOnWithZero() throws Exception {
        stream.inbound.presetMsn(1, -2);
        for (int i = 0; i < 4; i++) {
            stream.receive(readRequest(-2 + i));
        }
        assertThat(stream.transmit()).hasSize(4);
        assertThat(catchThrowableOfType(ProtocolViolation.class, () -> stream.receive(readRequest(3)))
                        .terminateError())
                .isEqualTo(TerminateError.DDP_UNTAGGED_MSN_RANGE);
    }

    @Test
    void whatIsSentGoesOnWithZeroEachQueueAlone() throws Exception {
        stream.outbound.presetMsn(-1, -2);
        PlainRegion sink = stream.region(8, Access.LOCAL_WRITE);
        for (int i = 0; i < 3; i++) {
            stream.sends.post(new SendRequest(), 0);
            stream.sends.post(new RdmaReadRequest().sge(sink, 0, 8).source(0x100, 0), 0);
        }
        List<byte[]> segments = stream.transmit();
        assertThat(segments).hasSize(6);
        for (int i = 0; i < 3; i++) {
            assertThat(msn(segments.get(2 * i))).isEqualTo(-1 + i);
            assertThat(msn(segments.get(2 * i + 1))).isEqualTo(-2 + i);
        }
    }
}
