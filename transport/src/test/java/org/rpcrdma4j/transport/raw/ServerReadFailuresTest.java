// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ServerUnderTest.expect;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** RFC 8166, Section 4.5.3: the server's RDMA Reads and Writes fail. Only that connection suffers, and nothing half is delivered. */
class ServerReadFailuresTest {

    private static Words store(int xid, int bytes, Segment... segments) {
        Words call = Words.header(xid, 1, 8, Words.RDMA_MSG);
        for (Segment segment : segments) {
            call.readSegment(52, segment);
        }
        return call.end().end().end().add(Toy.call(xid, Toy.STORE).u32(1, 0xaaaa, bytes, 0xbbbb));
    }

    private static void expectFatal(Rig rig, ServerUnderTest server, RawConnection client, int xid, Words call) {
        client.send(call);
        server.checkEnded(client);
        assertThat(client.messageCount()).isZero();
        assertThat(server.toy().timesExecuted(xid)).isZero();
        RawConnection next = server.connect();
        // The same XID on a new connection, in a form that would be served: ERR_CHUNK ends the loop of retransmissions.
        expect(server.exchange(next, Words.inline(xid, 8).add(Toy.call(xid, Toy.NULL))), Words.errorChunk(xid, 1, 0));
        server.checkUnharmed(next);
        server.finish(next);
        rig.settle();
    }

    @ParameterizedTest
    @EnumSource
    void aHandleThatDoesNotOpenTheMemoryEndsTheConnectionAndNothingIsExecuted(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            for (int kind = 0; kind < 5; kind++) {
                RawConnection client = server.connect();
                RawConnection.Exposed exposed =
                        client.expose(8192, kind == 3 ? Access.REMOTE_WRITE : Access.REMOTE_READ);
                Segment segment = exposed.segment();
                int bytes = 8192;
                switch (kind) {
                    case 0 -> segment = new Segment(segment.handle() ^ 0x55, 8192, segment.offset());
                    case 1 -> client.invalidate(segment.handle());
                    case 2 -> {
                        bytes = 8193;
                        segment = segment.withLength(8193);
                    }
                    case 4 -> segment = new Segment(segment.handle(), 8192, segment.offset() - 1);
                    default -> assertThat(kind).isEqualTo(3);
                }
                int xid = server.newXid();
                expectFatal(rig, server, client, xid, store(xid, bytes, segment));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theHandleOfAnotherConnectionEndsTheOneThatNamesIt(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            RawConnection owner = server.connect();
            RawConnection.Exposed exposed = owner.expose(4096, Access.REMOTE_READ_WRITE);
            server.answersNull(owner);
            RawConnection thief = server.connect();
            int xid = server.newXid();
            thief.send(store(xid, 4096, exposed.segment()));
            rig.await("the thief's connection ends", thief::hasEnded);
            assertThat(server.toy().timesExecuted(xid)).isZero();
            server.answersNull(owner);
            server.finish(owner, thief);
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneBadSegmentBehindGoodOnesDeliversNothing(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            RawConnection client = server.connect();
            RawConnection.Exposed exposed = client.expose(8192, Access.REMOTE_READ);
            int xid = server.newXid();
            expectFatal(
                    rig,
                    server,
                    client,
                    xid,
                    store(xid, 8192, exposed.part(0, 4096), new Segment(0x1234_5678, 4096, 0)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionThatEndsDuringThePullDeliversNothing(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            for (boolean orderly : new boolean[] {true, false}) {
                RawConnection client = server.connect();
                RawConnection.Exposed exposed = client.expose(1 << 20, Access.REMOTE_READ);
                int xid = server.newXid();
                RawWork sent = client.send(store(xid, 1 << 20, exposed.segment()));
                rig.await("the call is sent", sent::isDone);
                if (orderly) {
                    client.end();
                } else {
                    client.breakOff();
                }
                server.checkEnded(client);
                assertThat(server.toy().executed())
                        .as("executed whole or not at all")
                        .noneMatch(executed -> executed.xid() == xid && !executed.isSuccess());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPullThatNobodyAnswersEndsByTheServersLimit(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            // The client serves no RDMA Read at all: the server may not post one.
            RawConnection client = new RawRequester(rig)
                    .privateData(ServerUnderTest.CLIENT_DATA)
                    .options(
                            ConnectOptions.DEFAULT.withReads(0, 0).withPrivateData(org.rpcrdma4j.verbs.cm.Octets.EMPTY))
                    .dial(server.address());
            rig.await("it is refused or connected", () -> client.hasEnded() || client.isEstablished());
            if (client.isEstablished()) {
                RawConnection.Exposed exposed = client.expose(4096, Access.REMOTE_READ);
                int xid = server.newXid();
                client.send(store(xid, 4096, exposed.segment()));
                rig.await(
                        "it is refused or the connection ended", () -> client.hasEnded() || client.messageCount() > 0);
                assertThat(server.toy().timesExecuted(xid)).isZero();
            }
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWriteToMemoryThatIsNotOpenEndsTheConnection(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            for (boolean replyChunk : new boolean[] {false, true}) {
                RawConnection client = server.connect();
                RawConnection.Exposed exposed = client.expose(8192, Access.REMOTE_READ);
                int xid = server.newXid();
                Words call = replyChunk
                        ? Words.header(xid, 1, 8, 0)
                                .end()
                                .end()
                                .chunk(exposed.segment())
                                .add(Toy.call(xid, Toy.BIG).u32(5000))
                        : Words.header(xid, 1, 8, 0)
                                .end()
                                .chunk(exposed.segment())
                                .end()
                                .end()
                                .add(Toy.call(xid, Toy.FETCH).u32(1, 5000));
                client.send(call);
                server.checkEnded(client);
                assertThat(exposed.registration().isSuccess()).isTrue();
            }
        }
    }
}
