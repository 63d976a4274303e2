// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.server.ServerFixture.XID;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.testkit.sim.SimulatedDevice;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawRequester;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.SimulatedRig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrWriter;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Whose memory is what, when a reply is on its way, and when there is too little of it. */
class ServerMemoryTest {

    private static final int BYTES = 20_000;

    /** Answers with the arguments, as an eligible result, from where they lie. */
    private static void echo(ServerRequest request, AtomicBoolean released) {
        MemorySegment arguments = request.message().getFirst().asSlice(40, BYTES);
        XdrWriter head = new XdrWriter();
        ReplyHeader.of(request.xid(), AcceptStatus.SUCCESS).encode(head);
        head.writeInt(1);
        head.writeInt(BYTES);
        request.reply(new ReplyPieces()
                .data(head.part(0))
                .item(arguments)
                .data(MemorySegment.ofArray(new Words().u32(TestProgram.MARK).toBytes()))
                .whenReleased(() -> released.set(true)));
    }

    @Test
    void argumentsThatAreResultsTooAreNotOverwrittenByTheNextMessage() {
        ServerOptions options = ServerOptions.builder()
                .credits(1)
                .reverseCredits(0)
                .receiveBytes(32 * 1024)
                .build();
        byte[] data = TestProgram.result(BYTES);
        byte[] junk = new byte[32 * 1024];
        Arrays.fill(junk, (byte) 0x55);
        System.arraycopy(Words.header(1, 1, 1, Words.RDMA_DONE).toBytes(), 0, junk, 0, 16);
        for (int seed = 1; seed <= 100; seed++) {
            HeldRequests held = new HeldRequests();
            AtomicBoolean released = new AtomicBoolean();
            Rig rig = new SimulatedRig(seed, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT);
            try (ServerFixture fixture = new ServerFixture(rig, options, held)) {
                RawConnection client = fixture.connect(
                        new RawRequester(rig).receives(8, 4096).privateData("f6ab0e18 0100 1f1f".replace(" ", "")));
                RawConnection.Exposed room = client.expose(BYTES, Access.REMOTE_WRITE);
                client.send(Words.header(XID, 1, 1, Words.RDMA_MSG)
                        .end()
                        .chunk(room.segment())
                        .end()
                        .end()
                        .add(TestProgram.call(XID, TestProgram.FETCH))
                        .raw(data));
                fixture.await("the call is there", () -> held.size() == 1);
                echo(held.take(), released);
                // Receives are taken in turn: one of these comes where the call had been.
                client.send(junk);
                client.send(junk);
                fixture.await("the reply is there", () -> client.messageCount() == 1);
                assertThat(Arrays.equals(room.bytes(), data))
                        .as("seed %d", seed)
                        .isTrue();
                fixture.await("the memory is given back", released::get);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallThatOffersMoreThanTheServerWritesIsServedWithTheSmallestMemory(Network network) {
        ServerOptions options = ServerOptions.builder().maxPayloadBytes(1024).build();
        ServerOptions least = ServerOptions.builder()
                .maxPayloadBytes(1024)
                .connectionMemoryBytes(ServerOptions.leastMemoryBytes(1024))
                .serverMemoryBytes(ServerOptions.leastMemoryBytes(1024))
                .build();
        for (ServerOptions each : new ServerOptions[] {options, least}) {
            try (ServerFixture fixture = new ServerFixture(network, each)) {
                RawConnection client = fixture.connect();
                RawConnection.Exposed source = client.expose(60_000, Access.REMOTE_READ);
                RawConnection.Exposed room = client.expose(1 << 20, Access.REMOTE_WRITE);
                source.fill(TestProgram.call(XID, TestProgram.ECHO)
                        .opaque(new byte[59_900])
                        .toBytes());
                RawMessage reply = fixture.exchange(
                        client,
                        Words.header(XID, 1, 1, Words.RDMA_NOMSG)
                                .readSegment(0, source.part(0, 40 + 4 + 59_900))
                                .end()
                                .end()
                                .chunk(room.segment()));
                assertThat(reply.procedure()).isEqualTo(Words.RDMA_NOMSG);
                assertThat(reply.isErrorChunk()).isFalse();
            }
        }
    }

    private static Words store(int xid, int length, Segment source) {
        return Words.header(xid, 1, 64, Words.RDMA_MSG)
                .readSegment(48, source)
                .end()
                .end()
                .end()
                .add(Words.call(xid, TestProgram.PROGRAM, 1, TestProgram.STORE))
                .u32(1, length, TestProgram.MARK);
    }

    @Test
    void callsOfOneHostWhoseReadsAreNeverServedDoNotKeepOthersWaiting() {
        AtomicBoolean stalls = new AtomicBoolean(true);
        FaultPlan faults = new FaultPlan() {
            @Override
            public boolean losesCompletion(WorkCompletion.Operation operation) {
                return stalls.get() && operation == WorkCompletion.Operation.RDMA_READ;
            }
        };
        SimulatedRig rig = new SimulatedRig(
                Long.getLong("rpcrdma.seed", 1),
                SimulationOptions.DEFAULT,
                SimulationOptions.DEFAULT.withFaults(faults));
        // Eleven of these calls are all that the server has memory for, five what a connection has.
        int length = 90_000;
        ServerOptions options = ServerOptions.builder()
                .maxPayloadBytes(100_000)
                .connectionMemoryBytes(500_000)
                .serverMemoryBytes(1_000_000)
                .drainTimeout(Duration.ofSeconds(1))
                .build();
        try (ServerFixture fixture = new ServerFixture(rig, options, null);
                SimulatedDevice elsewhere =
                        SimulatedDevice.attach(rig.network(), "elsewhere", SimulationOptions.DEFAULT)) {
            for (int i = 0; i < 4; i++) {
                RawConnection greedy = fixture.connect();
                RawConnection.Exposed source = greedy.expose(length, Access.REMOTE_READ);
                for (int call = 0; call < 6; call++) {
                    greedy.send(store(XID + call, length, source.segment()));
                }
            }
            rig.settle();
            assertThat(fixture.count(ServerCounter.CALLS)).isEqualTo(24);
            assertThat(fixture.count(ServerCounter.READS)).isEqualTo(8);
            stalls.set(false);
            byte[] data = TestProgram.result(length);
            try (RawConnection other = new RawRequester(rig)
                    .from(elsewhere)
                    .receives(32, 4096)
                    .privateData(ServerFixture.CLIENT)
                    .connect(fixture.address())) {
                RawConnection.Exposed source =
                        other.expose(length, Access.REMOTE_READ).fill(data);
                for (int call = 0; call < 20; call++) {
                    other.send(store(XID + call, length, source.segment()));
                }
                assertThat(rig.awaitWithin(Duration.ofSeconds(1), () -> other.messageCount() == 20))
                        .as(rig.describe())
                        .isTrue();
            }
            assertThat(fixture.program.stored).hasSize(20).allMatch(stored -> Arrays.equals(stored, data));
        }
    }

    private static RdmaDevice shortOfMemory(RdmaDevice target, AtomicBoolean isShort) {
        return (RdmaDevice) Proxy.newProxyInstance(
                RdmaDevice.class.getClassLoader(), new Class<?>[] {RdmaDevice.class}, (proxy, called, args) -> {
                    if (called.getName().equals("createCompletionQueue") && isShort.get()) {
                        throw new OutOfMemoryError("on purpose");
                    }
                    try {
                        return called.invoke(target, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void aConnectionThatThereIsNoMemoryForIsRejectedAtOnceAndTheNextOneServed() throws Exception {
        AtomicBoolean isShort = new AtomicBoolean(true);
        try (Rig rig = Network.SIMULATION.open()) {
            RpcRdmaServer server = RpcRdmaServer.builder(shortOfMemory(rig.serverDevice(), isShort), new TestProgram())
                    .address(rig.listenAddress())
                    .time(rig.time())
                    .worker(rig.worker())
                    .handlerExecutor(rig.worker())
                    .start();
            RawRequester requester = new RawRequester(rig).receives(8, 4096);
            RawConnection refused = requester.dial(server.localAddress());
            rig.await("the client is refused", refused::hasEnded);
            assertThat(String.valueOf(refused.refusal())).contains("REJECTED");
            isShort.set(false);
            RawConnection client = requester.connect(server.localAddress());
            client.send(ServerFixture.nullCall(XID));
            rig.await("the call is answered", () -> client.messageCount() == 1);
            server.abort();
            rig.await("the server is closed", () -> server.connections() == 0);
            refused.close();
            client.close();
        }
    }
}
