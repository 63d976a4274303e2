// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.PendingReply;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.Words;

/** Client and server of the product with each other. */
class ClientServerTest {

    private static int word(Reply reply, int i) {
        return reply.message().get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN), 4L * i);
    }

    private static MemorySegment block(MemorySegment memory) {
        for (int i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, BlockProgram.blockByte(i));
        }
        return memory;
    }

    @ParameterizedTest
    @EnumSource
    void nullCallsOneAfterTheOtherAndManyAtOnce(Network network) {
        try (ClientServerFixture fixture = new ClientServerFixture(network.open())) {
            for (int i = 0; i < 20; i++) {
                fixture.call(
                        CallMessage.builder(fixture.head(BlockProgram.NULL)).build());
            }
            List<PendingReply> pending = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                pending.add(fixture.client.send(
                        CallMessage.builder(fixture.head(BlockProgram.NULL)).build()));
            }
            pending.forEach(fixture::reply);
        }
    }

    @ParameterizedTest
    @EnumSource
    void blocksOfAllSizesAreStoredAndFetched(Network network) {
        try (Arena arena = Arena.ofShared();
                ClientServerFixture fixture = new ClientServerFixture(network.open())) {
            for (int length : new int[] {1, 3, 4, 5, 1000, 3999, 4000, 4001, 4096, 5000, 65_535, 65_536, 1 << 20}) {
                for (boolean isNative : new boolean[] {true, false}) {
                    MemorySegment item =
                            block(isNative ? arena.allocate(length) : MemorySegment.ofArray(new byte[length]));
                    Reply stored = fixture.call(CallMessage.builder(fixture.head(BlockProgram.STORE, length))
                            .item(item)
                            .tail(MemorySegment.ofArray(new Words().u32(77).toBytes()))
                            .build());
                    assertThat(word(stored, 6)).isEqualTo(BlockProgram.sumOf(item));
                    assertThat(word(stored, 7)).isEqualTo(77);
                    MemorySegment target = isNative ? arena.allocate(length) : MemorySegment.ofArray(new byte[length]);
                    Reply fetched = fixture.call(CallMessage.builder(fixture.head(BlockProgram.FETCH, length))
                            .target(target)
                            .build());
                    assertThat(fetched.placedBytes()).isEqualTo(length);
                    assertThat(target.mismatch(item)).isEqualTo(-1);
                    assertThat(word(fetched, 6)).isEqualTo(length);
                    assertThat(word(fetched, 7)).isEqualTo(length);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void longCallsAndLongRepliesAreEchoed(Network network) {
        try (ClientServerFixture fixture = new ClientServerFixture(network.open())) {
            for (int length : new int[] {0, 1, 3900, 3995, 4001, 5000, 100_000, 1_000_000}) {
                byte[] bytes = block(MemorySegment.ofArray(new byte[length])).toArray(ValueLayout.JAVA_BYTE);
                Words call = Words.call(fixture.client.nextXid(), BlockProgram.PROGRAM, 1, BlockProgram.ECHO)
                        .opaque(bytes);
                Reply reply = fixture.call(CallMessage.builder(MemorySegment.ofArray(call.toBytes()))
                        .maxReplyBytes(length + 64)
                        .build());
                assertThat(reply.message().toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(Words.reply(reply.xid(), 0).opaque(bytes).toBytes());
            }
        }
    }

    @Test
    void aReplyWithoutRoomIsRefusedAndTheNextCallWorks() {
        try (ClientServerFixture fixture = new ClientServerFixture(Network.SIMULATION.open())) {
            PendingReply pending = fixture.client.send(CallMessage.builder(fixture.head(BlockProgram.FETCH, 60_000))
                    .build());
            fixture.rig.await("the call ends", pending::isDone);
            assertThat(pending.exceptionNow())
                    .isInstanceOfSatisfying(
                            TransportException.class,
                            failure -> assertThat(failure.kind()).isEqualTo(TransportException.Kind.PEER_ERROR_CHUNK));
            fixture.call(CallMessage.builder(fixture.head(BlockProgram.NULL)).build());
        }
    }

    @ParameterizedTest
    @EnumSource
    void callsOfManyThreadsAreEachAnswered(Network network) throws InterruptedException {
        if (network == Network.SIMULATION) {
            return;
        }
        try (ClientServerFixture fixture = new ClientServerFixture(network.open())) {
            AtomicInteger failures = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                threads.add(new Thread(() -> callManyTimes(fixture, failures)));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join(60_000);
                assertThat(thread.isAlive()).isFalse();
            }
            assertThat(failures).hasValue(0);
        }
    }

    private static void callManyTimes(ClientServerFixture fixture, AtomicInteger failures) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(20_000);
            for (int i = 0; i < 300; i++) {
                int length = 1 + (i * 7919) % 20_000;
                Reply reply = fixture.client.call(CallMessage.builder(fixture.head(BlockProgram.FETCH, length))
                        .target(target.asSlice(0, length))
                        .build());
                if (reply.placedBytes() != length
                        || target.get(ValueLayout.JAVA_BYTE, length - 1) != BlockProgram.blockByte(length - 1)) {
                    failures.incrementAndGet();
                }
            }
        } catch (TransportException e) {
            failures.incrementAndGet();
            throw new AssertionError(e);
        }
    }
}
