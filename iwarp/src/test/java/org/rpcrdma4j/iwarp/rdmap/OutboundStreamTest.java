// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendRequest;

class OutboundStreamTest {
    private static StreamOptions options(int ord, int depth, @Nullable Opcode rtr) {
        return new StreamOptions(1442, true, ord, ord, depth, 64, rtr);
    }

    private static StreamOptions options(int ord, int depth, int maxUlpdu) {
        return new StreamOptions(maxUlpdu, true, ord, ord, depth, 64, null);
    }

    @Test
    void sequenceNumbersOfBothQueuesGoFromTheLargestToZero() {
        SingleStream stream = new SingleStream(StreamOptions.large(1442, true));
        stream.pair.first.outbound.presetMsn(-2, -1);
        stream.pair.second.inbound.presetMsn(-2, -1);
        stream.receives(stream.pair.second, 8, 64);
        for (int i = 0; i < 4; i++) {
            stream.send(2L * i, 0, 10);
            stream.read(2L * i + 1, 10);
        }
        stream.pair.settle();

        assertThat(stream.wire)
                .filteredOn(WireSegment::isSend)
                .extracting(WireSegment::msn)
                .containsExactly(-2, -1, 0, 1);
        assertThat(stream.wire)
                .filteredOn(segment -> segment.opcode() == WireSegment.READ_REQUEST)
                .extracting(WireSegment::msn)
                .containsExactly(-1, 0, 1, 2);
        assertThat(SingleStream.completions(stream.pair.first)).hasSize(8).allMatch(done -> done.endsWith("SUCCESS"));
    }

    @Test
    void messagesOfTheSendQueueAndResponsesTakeTurns() {
        SingleStream stream = new SingleStream(StreamOptions.large(1442, true));
        stream.receives(stream.pair.second, 8, 4096);
        for (int i = 0; i < 6; i++) {
            stream.readBack(i, 3000);
        }
        stream.pair.second.write(Integer.MAX_VALUE);
        stream.pair.first.deliver(Integer.MAX_VALUE);
        for (int i = 0; i < 6; i++) {
            stream.send(i, 0, 3000);
        }
        stream.pair.first.write(Integer.MAX_VALUE);

        List<Integer> order = stream.wire.stream()
                .filter(WireSegment::last)
                .map(WireSegment::opcode)
                .toList();
        assertThat(order).containsExactly(3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2);
    }

    @Test
    void aFlowOfResponsesDoesNotHoldUpTheSendQueueNorTheOtherWayRound() {
        SingleStream stream = new SingleStream(options(1, 64, null));
        stream.receives(stream.pair.second, 64, 4096);
        for (int i = 0; i < 20; i++) {
            stream.readBack(i, 500);
            stream.send(i, 0, 500);
        }
        stream.pair.settle();

        assertThat(SingleStream.completions(stream.pair.first)).hasSize(20);
        assertThat(SingleStream.completions(stream.pair.second)).hasSize(20);
    }

    @Test
    void aRequestIsNotTakenForTheReadWhosePlaceItHas() {
        SingleStream stream = new SingleStream(options(16, 2, null));
        stream.receives(stream.pair.second, 8, 4096);
        stream.read(1, 10);
        // While the writer has not come back from its write, the answer comes, and the place is used again.
        boolean[] once = {true};
        stream.pair.afterWrite(() -> {
            if (once[0] && stream.wire.size() == 1) {
                once[0] = false;
                stream.pair.second.deliver(Integer.MAX_VALUE);
                stream.pair.second.write(Integer.MAX_VALUE);
                stream.pair.first.deliver(Integer.MAX_VALUE);
                assertThat(SingleStream.completions(stream.pair.first)).containsExactly("1 SUCCESS");
                stream.read(2, 10);
                stream.send(3, 0, 100);
            }
        });
        stream.pair.first.write(Integer.MAX_VALUE);
        assertThat(once[0]).isFalse();
        // The second Read leaves, of the Send only a part; then the Read is answered.
        stream.pair.first.write(60);
        stream.pair.second.deliver(Integer.MAX_VALUE);
        stream.pair.second.write(Integer.MAX_VALUE);
        stream.pair.first.deliver(Integer.MAX_VALUE);

        assertThat(SingleStream.completions(stream.pair.first)).containsExactly("2 SUCCESS");
        stream.pair.first.write(Integer.MAX_VALUE);
        assertThat(SingleStream.completions(stream.pair.first)).containsExactly("3 SUCCESS");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 16})
    void aReadAsRtrCountsAmongTheOpenReads(int ord) {
        SingleStream stream = new SingleStream(options(ord, 32, Opcode.READ_REQUEST));
        for (int i = 0; i < 20; i++) {
            stream.read(i, 10);
        }
        stream.pair.first.write(Integer.MAX_VALUE);
        assertThat(stream.wire).as("the RTR and Reads").hasSize(ord);

        stream.pair.settle();

        assertThat(stream.pair.first.isRunning()).isTrue();
        assertThat(stream.pair.second.isRunning()).as(stream.pair.toString()).isTrue();
        assertThat(SingleStream.completions(stream.pair.first)).hasSize(20);
    }

    @Test
    void aReadAsRtrGoesOutAlsoWhereNoOtherReadWasAgreed() {
        SingleStream stream = new SingleStream(options(0, 4, Opcode.READ_REQUEST));
        stream.receives(stream.pair.second, 2, 100);
        stream.send(1, 0, 50);
        stream.pair.first.write(Integer.MAX_VALUE);

        assertThat(stream.wire).extracting(WireSegment::opcode).containsExactly(1, 3);
        assertThat(SingleStream.completions(stream.pair.first)).containsExactly("1 SUCCESS");
    }

    @Test
    void aResponderWaitsForTheFirstFpdu() {
        SingleStream stream = new SingleStream(options(4, 4, Opcode.WRITE));
        stream.readBack(1, 10);

        assertThat(stream.pair.second.write(Integer.MAX_VALUE)).isFalse();
        stream.pair.settle();
        assertThat(stream.wire.getFirst().opcode()).isEqualTo(WireSegment.WRITE);
        assertThat(SingleStream.completions(stream.pair.second)).containsExactly("1 SUCCESS");
    }

    @Test
    void aKickIsAWriteOfNoLengthThatNobodyNotices() {
        SingleStream stream = new SingleStream(StreamOptions.large(1442, true));
        stream.pair.first.outbound.kick();
        stream.pair.settle();

        assertThat(stream.wire).hasSize(1);
        assertThat(stream.wire.getFirst().payloadBytes()).isZero();
        assertThat(stream.wire.getFirst().last()).isTrue();
        assertThat(stream.pair.second.isRunning()).isTrue();
    }

    @Test
    void aReadCutShortIsQuotedWithWhatIsLeftOfIt() {
        for (int accepted = 0; accepted < 8900; accepted += 7) {
            SingleStream stream = new SingleStream(options(4, 8, 526));
            var source = stream.pair.first.register(stream.memory.asSlice(0, 8192), Access.REMOTE_READ);
            stream.post(
                    stream.pair.second,
                    new RdmaReadRequest()
                            .id(1)
                            .sge(stream.peerRegion, 100, 8192)
                            .source(source.remoteKey(), source.remoteAddress()));
            stream.pair.second.write(Integer.MAX_VALUE);
            stream.pair.first.deliver(Integer.MAX_VALUE);
            stream.pair.first.write(accepted);
            source.close();
            stream.pair.first.write(Integer.MAX_VALUE);
            stream.pair.first.write(Integer.MAX_VALUE);
            if (stream.pair.first.isRunning()) {
                // The last FPDU had begun.
                assertThat(accepted).isGreaterThan(15 * 532);
                continue;
            }
            stream.pair.first.stop();
            stream.pair.second.deliver(Integer.MAX_VALUE);

            int sent = (accepted + 531) / 532 * 512;
            ByteBuffer terminate = stream.wire.getLast().ulpdu();
            assertThat(terminate.getInt(18)).as("0/1/00 with M, D and R").isEqualTo(0x0100_E000);
            assertThat(terminate.getInt(42)).as("sink STag").isEqualTo(stream.peerRegion.remoteKey());
            assertThat(terminate.getLong(46)).isEqualTo(stream.peerRegion.remoteAddress() + 100 + sent);
            assertThat(terminate.getInt(54)).as("size").isEqualTo(8192 - sent);
            assertThat(terminate.getInt(58)).as("source STag").isEqualTo(source.remoteKey());
            assertThat(terminate.getLong(62)).isEqualTo(stream.memory.address() + sent);
            stream.pair.second.stop();
            assertThat(SingleStream.completions(stream.pair.second)).containsExactly("1 REMOTE_ACCESS_ERROR");
        }
    }

    @Test
    void anInvalidationWaitsUntilTcpHasAllThatIsBeforeIt() {
        SingleStream stream = new SingleStream(StreamOptions.large(1442, true));
        var fast = stream.fast(1, 1000, 1000);
        stream.post(
                stream.pair.first,
                new RdmaWriteRequest()
                        .id(2)
                        .sge(fast, 0, 2000)
                        .target(stream.peerRegion.remoteKey(), stream.peerRegion.remoteAddress()));
        stream.pair.first.write(0);
        stream.post(stream.pair.first, new LocalInvalidateRequest().id(3).key(fast.remoteKey()));
        while (stream.pair.first.out.written() < 2000) {
            stream.pair.first.write(100);
            assertThat(fast.isValid()).isTrue();
        }
        stream.pair.settle();

        assertThat(fast.isValid()).isFalse();
        assertThat(SingleStream.completions(stream.pair.first)).containsExactly("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
    }

    @Test
    void aSendIsNotCompleteBeforeTcpHasItsLastByte() {
        SingleStream stream = new SingleStream(StreamOptions.large(1442, true));
        stream.send(1, 0, 100);
        for (int i = 0; i < 123; i++) {
            stream.pair.first.write(1);
            assertThat(SingleStream.completions(stream.pair.first))
                    .as("%d bytes", i + 1)
                    .isEmpty();
        }
        stream.pair.first.write(1);

        assertThat(SingleStream.completions(stream.pair.first)).containsExactly("1 SUCCESS");
    }

    @Test
    void aSendBehindAReadLeavesBeforeTheAnswerAndCompletesAfterIt() {
        SingleStream stream = new SingleStream(StreamOptions.large(1442, true));
        stream.receives(stream.pair.second, 1, 100);
        stream.read(1, 3000);
        stream.send(2, 0, 100);
        stream.post(stream.pair.first, new SendRequest().id(3).fence(true));
        stream.pair.first.write(Integer.MAX_VALUE);

        assertThat(stream.wire).hasSize(2);
        assertThat(SingleStream.completions(stream.pair.first)).isEmpty();
        stream.receives(stream.pair.second, 1, 100);
        stream.pair.settle();
        assertThat(SingleStream.completions(stream.pair.first)).containsExactly("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
    }
}
