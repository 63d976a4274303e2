// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;

/** What Linux kernels really say to each other. */
class LinuxMessagesTest {
    @ParameterizedTest
    @CsvSource({"v3, 138, 12, 9", "v40, 142, 25, 23", "v41, 160, 28, 26", "v42, 152, 24, 21"})
    void decodesAndEncodesEveryMessageToTheByte(String session, int calls, int longReplies, int invalidations)
            throws Exception {
        TransportHeader header = new TransportHeader();
        int fromClient = 0;
        int noMessage = 0;
        int invalidating = 0;
        for (LinuxMessages.Message message : LinuxMessages.read(session).messages()) {
            byte[] payload = message.payload().toByteArray();

            assertThat(Decoding.decode(payload, header)).isEqualTo(Outcome.OK);
            assertThat(ReferenceHeader.of(Outcome.OK, header))
                    .isEqualTo(ReferenceHeader.decode(payload, Decoding.LIMITS));
            assertThat(Decoding.encode(header)).isEqualTo(Arrays.copyOf(payload, header.length()));
            assertThat(header.credits()).isEqualTo(message.fromClient() ? 128 : 64);
            fromClient += message.fromClient() ? 1 : 0;
            noMessage += header.procedure() == Procedure.RDMA_NOMSG ? 1 : 0;
            invalidating += message.invalidates() ? 1 : 0;
        }
        assertThat(fromClient).isEqualTo(calls);
        assertThat(noMessage).isEqualTo(longReplies);
        assertThat(invalidating).isEqualTo(invalidations);
    }

    /** The lists of a reply are those of its call, filled; what is invalidated is one of their handles. */
    @ParameterizedTest
    @ValueSource(strings = {"v3", "v40", "v41", "v42"})
    void everyReplyReturnsTheChunksOfItsCall(String session) throws Exception {
        Map<Integer, TransportHeader> calls = new HashMap<>();
        for (LinuxMessages.Message message : LinuxMessages.read(session).messages()) {
            TransportHeader header = Decoding.header(message.payload().toByteArray());
            if (message.fromClient()) {
                calls.put(header.xid(), header);
                continue;
            }
            TransportHeader call = calls.remove(header.xid());
            assertThat(call).as("call of %s", header).isNotNull();
            assertThat(header.readList().isEmpty()).isTrue();
            assertThat(header.writeList().isReturnOf(call.writeList()))
                    .as("%s to %s", header, call)
                    .isTrue();
            assertThat(header.hasReplyChunk()).isEqualTo(call.hasReplyChunk());
            assertThat(header.replyChunk().isReturnOf(call.replyChunk()))
                    .as("%s to %s", header, call)
                    .isTrue();
            if (message.invalidates()) {
                assertThat(call.toString()).contains("%08x+".formatted(message.key()));
            }
        }
        assertThat(calls).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"v3", "v40", "v41", "v42"})
    void theDirectionOfEveryInlineMessageIsSeen(String session) throws Exception {
        for (LinuxMessages.Message message : LinuxMessages.read(session).messages()) {
            byte[] payload = message.payload().toByteArray();
            TransportHeader header = Decoding.header(payload);
            RpcDirection direction = message.fromClient() ? RpcDirection.CALL : RpcDirection.REPLY;
            boolean inline = header.procedure() == Procedure.RDMA_MSG;

            assertThat(Decoding.direction(payload)).isEqualTo(inline ? direction : RpcDirection.UNKNOWN);
            assertThat(Decoding.peekDirection(payload))
                    .isEqualTo(inline && header.hasNoChunks() ? direction : RpcDirection.UNKNOWN);
        }
    }

    /** The words of enhanced MPA stand before it. */
    @ParameterizedTest
    @ValueSource(strings = {"v3", "v40", "v41", "v42"})
    void thePrivateDataIsUnderstood(String session) throws Exception {
        LinuxMessages messages = LinuxMessages.read(session);

        assertThat(PrivateMessage.find(messages.clientPrivateData())).isEqualTo(new PrivateMessage(true, 4096, 4096));
        assertThat(PrivateMessage.find(messages.serverPrivateData())).isEqualTo(new PrivateMessage(false, 4096, 4096));
    }
}
