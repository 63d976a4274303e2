// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.client.TransportException.Kind;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ResultLimits;

/** A client with the bindings of NFS: what may be marked, and where results must be. */
class EligibilityTest {

    private static final int GETATTR = 1;
    private static final int READ = 6;
    private static final int WRITE = 7;

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private static ClientFixture fixture() {
        return new ClientFixture(
                Network.SIMULATION.open(), builder -> builder.bindings(Bindings.nfs(ResultLimits.DEFAULT)));
    }

    private static MemorySegment nfs(ClientFixture fixture, int procedure, int... arguments) {
        return MemorySegment.ofArray(Words.call(fixture.client.nextXid(), Bindings.NFS, 3, procedure)
                .u32(arguments)
                .toBytes());
    }

    private CallMessage read(ClientFixture fixture) {
        return CallMessage.builder(nfs(fixture, READ, 4, 0xF11E, 0, 0, 5000))
                .target(arena.allocate(5000))
                .build();
    }

    @Test
    void onlyWhatTheBindingNamesMayBeMarked() {
        try (ClientFixture fixture = fixture().answering(4)) {
            MemorySegment data = arena.allocate(5000);
            CallMessage write = CallMessage.builder(nfs(fixture, WRITE, 4, 0xF11E, 0, 0, 5000, 2, 5000))
                    .item(data)
                    .build();
            fixture.reply(fixture.client.send(write));
            CallMessage shifted = CallMessage.builder(nfs(fixture, WRITE, 4, 0xF11E, 0, 0, 5000, 2, 4996))
                    .item(data)
                    .build();
            assertThatThrownBy(() -> fixture.client.send(shifted)).isInstanceOf(IllegalArgumentException.class);
            CallMessage getattr = CallMessage.builder(nfs(fixture, GETATTR, 4, 0xF11E))
                    .target(data)
                    .build();
            assertThatThrownBy(() -> fixture.client.send(getattr))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no result is eligible");
            CallMessage unknown = fixture.nullCall().target(data).build();
            assertThatThrownBy(() -> fixture.client.send(unknown)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** A READ's results, with or without the data. */
    private static Words results(int xid, int count, byte... inline) {
        return Words.reply(xid, 0).u32(0, 0, count, 1, count).padded(inline);
    }

    private static void answer(RawConnection server, RawMessage call, int placed, Words rpc) {
        Segment segment = call.writeList().getFirst().getFirst();
        if (placed > 0) {
            server.write(segment.withLength(placed), ClientFixture.pattern(placed, 1));
        }
        server.send(Words.header(call.xid(), 1, 4, Words.RDMA_MSG)
                .end()
                .chunk(List.of(segment.withLength(placed)))
                .end()
                .end()
                .add(rpc));
    }

    @Test
    void aResultInItsTargetWithItsCountIsTaken() {
        try (ClientFixture fixture = fixture()) {
            PendingReply pending = fixture.client.send(read(fixture));
            RawMessage call = fixture.call(1);
            answer(fixture.responder.connection(), call, 4097, results(call.xid(), 4097));
            assertThat(fixture.reply(pending).placedBytes()).isEqualTo(4097);
        }
    }

    @Test
    void anErrorLeavesTheTargetUnused() {
        try (ClientFixture fixture = fixture()) {
            PendingReply pending = fixture.client.send(read(fixture));
            RawMessage call = fixture.call(1);
            answer(
                    fixture.responder.connection(),
                    call,
                    0,
                    Words.reply(call.xid(), 0).u32(5, 0));
            assertThat(fixture.reply(pending).placedBytes()).isZero();
        }
    }

    @Test
    void anEligibleResultInTheMessageFailsTheCall() {
        try (ClientFixture fixture = fixture()) {
            PendingReply pending = fixture.client.send(read(fixture));
            RawMessage call = fixture.call(1);
            answer(fixture.responder.connection(), call, 0, results(call.xid(), 9, ClientFixture.pattern(9, 1)));
            TransportException failure = fixture.failure(pending);
            assertThat(failure.kind()).isEqualTo(Kind.BAD_REPLY);
            assertThat(fixture.responder.messageCount()).isEqualTo(1);
        }
    }

    @Test
    void placedBytesThatNoResultAccountsForFailTheCall() {
        try (ClientFixture fixture = fixture()) {
            for (boolean isError : new boolean[] {true, false}) {
                CallMessage message = read(fixture);
                PendingReply pending = fixture.client.send(message);
                RawMessage call = fixture.callOf(message);
                Words rpc = isError ? Words.reply(call.xid(), 0).u32(5, 0) : results(call.xid(), 4096);
                answer(fixture.responder.connection(), call, 4097, rpc);
                assertThat(fixture.failure(pending).kind()).isEqualTo(Kind.BAD_REPLY);
            }
        }
    }
}
