// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Rules of the RFCs that no other test of the client shows by itself. */
class ClientRulesTest {

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private static CallMessage callOf(ClientFixture fixture, int bytes) {
        return CallMessage.builder(
                        MemorySegment.ofArray(Words.call(fixture.client.nextXid(), ClientFixture.PROGRAM, 1, 7)
                                .u32(new int[(bytes - 40) / 4])
                                .toBytes()))
                .build();
    }

    /** RFC 8166, Section 3.3.3. */
    @ParameterizedTest
    @CsvSource({"SIMULATION,''", "IWARP,''", "SIMULATION,f6ab0e18 01000000", "IWARP,f6ab0e18 01000000"})
    void messagesOf1024BytesAreTakenWhateverTheServerSays(Network network, String peer) {
        try (ClientFixture fixture =
                new ClientFixture(network.open(), peer, builder -> builder.inlineBytes(1024, 1024))) {
            PendingReply pending = fixture.client.send(callOf(fixture, 1024 - 28));
            RawMessage call = fixture.call(1);
            assertThat(call.length()).isEqualTo(1024);
            assertThat(call.procedure()).isEqualTo(Words.RDMA_MSG);
            int[] results = new int[(1024 - 28 - 24) / 4];
            ClientFixture.answer(fixture.responder.connection(), call.xid(), 4, results);
            assertThat(fixture.reply(pending).message().byteSize()).isEqualTo(1024 - 28);
            assertThat(fixture.responder.connectionCount()).isEqualTo(1);
        }
    }

    /** RFC 8166, Section 4.3.2.2. */
    @ParameterizedTest
    @CsvSource({"SIMULATION,true", "SIMULATION,false", "IWARP,true", "IWARP,false"})
    void anUnusedWriteChunkIsNoResultWhateverWasWrittenThere(Network network, boolean isNative) {
        try (ClientFixture fixture = new ClientFixture(network.open())) {
            MemorySegment target = isNative ? arena.allocate(5000) : MemorySegment.ofArray(new byte[5000]);
            target.fill((byte) 0x21);
            PendingReply pending =
                    fixture.client.send(fixture.nullCall().target(target).build());
            RawMessage call = fixture.call(1);
            RawConnection server = fixture.responder.connection();
            List<Segment> unused = new ArrayList<>();
            for (Segment segment : call.writeList().getFirst()) {
                server.write(segment, ClientFixture.pattern(segment.length(), 77));
                unused.add(segment.withLength(0));
            }
            server.send(Words.header(call.xid(), 1, 4, Words.RDMA_MSG)
                    .end()
                    .chunk(unused)
                    .end()
                    .end()
                    .add(Words.reply(call.xid(), 0)));
            Reply reply = fixture.reply(pending);
            assertThat(reply.placedBytes()).isZero();
            assertThat(ClientFixture.bytes(reply.message()))
                    .isEqualTo(Words.reply(call.xid(), 0).toBytes());
            if (!isNative) {
                // What is not native is copied into, and nothing was to be copied.
                assertThat(ClientFixture.bytes(target)).containsOnly(0x21);
            }
        }
    }

    /** RFC 8166, Section 8.1.3. */
    @Test
    void anInterruptedCallersMemoryIsShut() throws InterruptedException {
        try (ClientFixture fixture = new ClientFixture(Network.IWARP.open())) {
            MemorySegment target = arena.allocate(5000);
            CallMessage message = fixture.nullCall().target(target).build();
            List<TransportException> failures = new CopyOnWriteArrayList<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                try {
                    fixture.client.call(message);
                } catch (TransportException e) {
                    failures.add(e);
                    // From here on the memory is the caller's.
                    target.fill((byte) 0x42);
                }
            });
            RawMessage call = fixture.call(1);
            caller.interrupt();
            assertThat(caller.join(Duration.ofSeconds(20)))
                    .as("%s", fixture.client)
                    .isTrue();
            assertThat(failures).extracting(TransportException::kind).containsExactly(Kind.CANCELLED);
            RawConnection server = fixture.responder.connection();
            Segment segment = call.writeList().getFirst().getFirst();
            server.write(segment, new byte[segment.length()]);
            fixture.rig.await("the connection ends", server::hasEnded);
            assertThat(ClientFixture.bytes(target)).containsOnly(0x42);
        }
    }

    private static ClientFixture withReverse(Network network, List<ReverseCall> calls, int credits) {
        return new ClientFixture(network.open(), builder -> builder.reverseHandler(calls::add, credits));
    }

    /** RFC 8167, Section 4.1: the XID of the error is that of a call in either direction. */
    @ParameterizedTest
    @EnumSource
    void anErrorWhoseDirectionCannotBeToldChangesNoCredits(Network network) {
        List<ReverseCall> reverse = new CopyOnWriteArrayList<>();
        try (ClientFixture fixture = withReverse(network, reverse, 4).answering(8)) {
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.responder.onMessage((connection, message) -> {});
            CallMessage message = fixture.nullCall().build();
            PendingReply pending = fixture.client.send(message);
            fixture.callOf(message);
            RawConnection server = fixture.responder.connection();
            server.send(Words.inline(message.xid(), 2).add(Words.call(message.xid(), 0x4000_0000, 1, 0)));
            fixture.rig.await("the reverse call arrives", () -> reverse.size() == 1);
            server.send(Words.errorChunk(message.xid(), 1, 1));
            assertThat(fixture.failure(pending).kind()).isEqualTo(Kind.PEER_ERROR_CHUNK);
            int before = fixture.responder.messageCount();
            List<PendingReply> many = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                many.add(fixture.client.send(fixture.nullCall().build()));
            }
            fixture.call(before + 8);
            fixture.rig.settle();
            assertThat(fixture.responder.messageCount())
                    .as("8 are granted still")
                    .isEqualTo(before + 8);
            fixture.answering(8);
            fixture.responder
                    .messages()
                    .subList(before, before + 8)
                    .forEach(call -> ClientFixture.answer(server, call.xid(), 8));
            many.forEach(fixture::reply);
            reverse.getFirst()
                    .reply(MemorySegment.ofArray(
                            Words.reply(reverse.getFirst().xid(), 0).toBytes()));
        }
    }

    /** RFC 8167, Section 4.2. */
    @ParameterizedTest
    @EnumSource
    void aReverseReplyMayBeAsLongAsACall(Network network) {
        List<ReverseCall> reverse = new CopyOnWriteArrayList<>();
        // The server sends up to 1024 bytes and receives up to 4096.
        try (ClientFixture fixture = new ClientFixture(
                        network.open(),
                        "f6ab0e18 01000003",
                        builder -> builder.inlineBytes(8192, 1024).reverseHandler(reverse::add, 2))
                .answering(4)) {
            // On iWARP the connecting end speaks first.
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.responder.onMessage((connection, message) -> {});
            fixture.responder
                    .connection()
                    .send(Words.inline(9, 2)
                            .add(Words.call(9, 0x4000_0000, 1, 0))
                            .u32(new int[(1024 - 28 - 40) / 4]));
            fixture.rig.await("the reverse call arrives", () -> reverse.size() == 1);
            ReverseCall call = reverse.getFirst();
            assertThat(call.message().byteSize()).isEqualTo(1024 - 28);
            assertThat(call.maxReplyBytes()).isEqualTo(4096 - 28);
            call.reply(MemorySegment.ofArray(
                    Words.reply(9, 0).u32(new int[(4096 - 28 - 24) / 4]).toBytes()));
            assertThat(fixture.call(2).length()).isEqualTo(4096);
        }
    }

    /** RFC 8267, Section 6.7.2. */
    @ParameterizedTest
    @EnumSource
    void anErrorJustBeforeTheEndFailsItsCallAndTheOthersAreSentAgain(Network network) {
        try (ClientFixture fixture = new ClientFixture(network.open()).answering(4)) {
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            fixture.responder.onMessage((connection, message) -> {});
            PendingReply[] pending = new PendingReply[3];
            for (int i = 0; i < 3; i++) {
                pending[i] = fixture.client.send(fixture.nullCall().build());
            }
            RawMessage refused = fixture.call(4);
            RawConnection server = fixture.responder.connection();
            fixture.answering(4);
            RawWork error = server.send(Words.errorChunk(refused.xid(), 1, 4));
            fixture.rig.await("the error is sent", error::isDone);
            server.end();
            assertThat(fixture.failure(pending[2]).kind()).isEqualTo(Kind.PEER_ERROR_CHUNK);
            fixture.reply(pending[0]);
            fixture.reply(pending[1]);
            assertThat(fixture.counter(ClientCounter.RETRANSMISSIONS)).isEqualTo(2);
            assertThat(fixture.responder.connection().messages())
                    .extracting(RawMessage::xid)
                    .doesNotContain(refused.xid());
        }
    }

    /** The device may still read the buffer, though the reply is there. */
    @Test
    void aSendBufferIsNotUsedAgainBeforeItsSendCompletes() {
        ScriptedFaults faults = new ScriptedFaults()
                .delayCompletion(
                        WorkCompletion.Operation.SEND, 1, Duration.ofSeconds(1).toNanos());
        SimulatedRig rig = new SimulatedRig(1, SimulationOptions.DEFAULT.withFaults(faults), SimulationOptions.DEFAULT);
        try (ClientFixture fixture = new ClientFixture(rig, builder -> builder.maxInFlight(1)).answering(1)) {
            long begin = rig.time().nanoTime();
            PendingReply first = fixture.client.send(fixture.nullCall().build());
            PendingReply second = fixture.client.send(fixture.nullCall().build());
            fixture.reply(first);
            assertThat(Duration.ofNanos(rig.time().nanoTime() - begin))
                    .as("the caller does not wait for the Send")
                    .isLessThan(Duration.ofMillis(500));
            assertThat(fixture.counter(ClientCounter.REPLY_WAITS_FOR_SEND)).isEqualTo(1);
            rig.awaitWithin(Duration.ofMillis(400), second::isDone);
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
            fixture.reply(second);
            assertThat(Duration.ofNanos(rig.time().nanoTime() - begin)).isGreaterThan(Duration.ofSeconds(1));
        }
    }

    /** RFC 8166, Section 8.2.2.3. The words of the credential: version, message, sequence number, service, handle. */
    @ParameterizedTest
    @CsvSource({"1,true", "2,false", "3,false"})
    void nothingIsReducedUnderGssIntegrityOrPrivacy(int service, boolean mayReduce) {
        try (ClientFixture fixture = new ClientFixture(
                        Network.SIMULATION.open(), builder -> builder.bindings(Bindings.nfs(ResultLimits.DEFAULT)))
                .answering(4)) {
            int xid = fixture.client.nextXid();
            // NFS version 3, WRITE of 5000 bytes.
            MemorySegment head = MemorySegment.ofArray(new Words()
                    .u32(xid, 0, 2, Bindings.NFS, 3, 7)
                    .u32(6, 20, 1, 0, 9, service, 0, 0, 0)
                    .u32(4, 0xF11E, 0, 0, 5000, 2, 5000)
                    .toBytes());
            CallMessage reduced =
                    CallMessage.builder(head).item(arena.allocate(5000)).build();
            if (mayReduce) {
                fixture.reply(fixture.client.send(reduced));
                assertThat(fixture.call(1).readList()).isNotEmpty();
            } else {
                assertThatThrownBy(() -> fixture.client.send(reduced)).isInstanceOf(IllegalArgumentException.class);
                // All of it as a Long Call is another matter.
                byte[] whole = new Words()
                        .raw(ClientFixture.bytes(head))
                        .raw(new byte[5000])
                        .toBytes();
                fixture.reply(fixture.client.send(
                        CallMessage.builder(MemorySegment.ofArray(whole)).build()));
                assertThat(fixture.call(1).procedure()).isEqualTo(Words.RDMA_NOMSG);
            }
        }
    }

    /** The next connection has one; a call is sent when it is there. */
    @Test
    void aPadThatCannotBeRegisteredIsTheEndOfItsConnection() {
        ScriptedFaults faults = new ScriptedFaults().refuse(FaultPlan.Resource.MAP, 1);
        SimulatedRig rig = new SimulatedRig(1, SimulationOptions.DEFAULT.withFaults(faults), SimulationOptions.DEFAULT);
        try (ClientFixture fixture = new ClientFixture(rig, builder -> builder.offerWritePad(true)).answering(4)) {
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            assertThat(fixture.counter(ClientCounter.REGION_MAP_FAILURES)).isEqualTo(1);
            assertThat(fixture.responder.connectionCount()).isEqualTo(2);
            assertThat(fixture.responder.connection(0).messageCount()).isZero();
        }
    }

    /** RFC 8797, Section 4.1: the pad's handle stands in many calls, and is not to be invalidated by the reply to one. */
    @ParameterizedTest
    @CsvSource({"false,f6ab0e1801010303", "true,f6ab0e1801000303"})
    void withRoomForPadNoRegionMayBeInvalidatedByTheServer(boolean pad, String privateData) {
        try (ClientFixture fixture =
                new ClientFixture(Network.SIMULATION.open(), builder -> builder.offerWritePad(pad)).answering(4)) {
            fixture.reply(fixture.client.send(fixture.nullCall().build()));
            assertThat(fixture.responder.requests().getFirst().privateData()).hasToString(privateData);
        }
    }
}
