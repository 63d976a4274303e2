// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.raw.ServerUnderTest.expect;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.ScriptedFaults;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/** Credits, and the ends of connections and of the server, by a raw client. */
class ServerConnectionEndsTest {

    private static Words hold(int xid) {
        return Words.inline(xid, 8).add(Toy.call(xid, Toy.HOLD));
    }

    @ParameterizedTest
    @EnumSource
    void theServersPrivateDataSaysWhatItSendsAndReceives(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(
                        rig, ServerUnderTest.options().sendBytes(4096).receiveBytes(65_536))) {
            RawConnection client = server.connect();
            assertThat(client.info().privateData().toString()).isEqualTo("f6ab0e180101033f");
            // A message of exactly what it receives.
            int xid = server.newXid();
            byte[] item = Toy.pattern(1, 65_536 - 28 - 52 - 4);
            expect(
                    server.exchange(
                            client,
                            Words.inline(xid, 8)
                                    .add(Toy.call(xid, Toy.STORE)
                                            .u32(1, 1)
                                            .opaque(item)
                                            .u32(2))),
                    Words.inline(xid, 0).add(Words.reply(xid, 0).u32(1, 1, item.length, Toy.crc(item), 2)));
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyCallsAtOnceAreServedWithinTheGrantAndNeverGetNoCredit(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            // A request for no credits is served like any other.
            for (int requested : new int[] {0, 1, 0x7fff_ffff, 0xffff_ffff}) {
                int xid = server.newXid();
                expect(
                        server.exchange(client, Words.inline(xid, requested).add(Toy.call(xid, Toy.NULL))),
                        Words.inline(xid, 0).add(Words.reply(xid, 0)));
            }
            for (int round = 0; round < 20; round++) {
                int before = client.messageCount();
                Set<Integer> xids = new HashSet<>();
                for (int i = 0; i < ServerUnderTest.CREDITS; i++) {
                    int xid = server.newXid();
                    xids.add(xid);
                    client.send(hold(xid));
                }
                rig.await("all are held", () -> server.toy().heldCount() == ServerUnderTest.CREDITS);
                server.toy().answerAllHeld();
                rig.await("all are answered", () -> client.messageCount() == before + ServerUnderTest.CREDITS);
                for (int i = 0; i < ServerUnderTest.CREDITS; i++) {
                    RawMessage message = client.message(before + i);
                    expect(message, Words.inline(message.xid(), 0).add(Words.reply(message.xid(), 0)));
                    assertThat(xids.remove(message.xid())).isTrue();
                }
            }
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatOverrunsItsCreditsIsDisconnected(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            server.answersNull(client);
            for (int i = 0; i < 3 * ServerUnderTest.CREDITS; i++) {
                client.send(hold(server.newXid()));
            }
            rig.await("the client is disconnected", client::hasEnded);
            assertThat(server.toy().executed().size()).isLessThanOrEqualTo(2 + ServerUnderTest.CREDITS);
            server.toy().answerAllHeld();
            server.checkEnded(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageLongerThanTheServerReceivesEndsOnlyItsConnection(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            int xid = server.newXid();
            client.send(Words.inline(xid, 8).add(Toy.call(xid, Toy.ECHO)).raw(new byte[8192]));
            server.checkEnded(client);
            assertThat(server.toy().timesExecuted(xid)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerThatFailsIsAnsweredWithSystemErr(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig);
                RawConnection client = server.connect()) {
            for (int i = 0; i < 20; i++) {
                int xid = server.newXid();
                expect(
                        server.exchange(client, Words.inline(xid, 8).add(Toy.call(xid, Toy.THROW))),
                        Words.inline(xid, 0).add(Words.reply(xid, Toy.SYSTEM_ERR)));
            }
            server.checkUnharmed(client);
            server.finish(client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatGoesAwayWithCallsRunningLeavesNothingBehind(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            for (int kind = 0; kind < 3; kind++) {
                RawConnection client = server.connect();
                RawConnection.Exposed sink = client.expose(4096, Access.REMOTE_WRITE);
                for (int i = 0; i < ServerUnderTest.CREDITS; i++) {
                    int xid = server.newXid();
                    client.send(Words.header(xid, 1, 8, 0)
                            .end()
                            .chunk(sink.part(0, 100))
                            .end()
                            .chunk(sink.part(100, 3000))
                            .add(Toy.call(xid, Toy.HOLD)));
                }
                rig.await("all are held", () -> server.toy().heldCount() == ServerUnderTest.CREDITS);
                switch (kind) {
                    case 0 -> client.end();
                    case 1 -> client.breakOff();
                    default -> client.close();
                }
                rig.settle();
                // Replies to nobody are dropped.
                server.toy().answerAllHeld();
                rig.await("the server forgets it", () -> server.server().connections() == 1);
                server.finish(client);
            }
            assertThat(server.count(ServerCounter.DISCONNECTS)).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void clientsThatComeAndGoAreAllServed(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            for (int i = 0; i < 100; i++) {
                RawConnection client = server.connect();
                server.answersNull(client);
                if (i % 2 == 0) {
                    client.breakOff();
                }
                client.close();
            }
            server.finish();
        }
    }

    /** Replies that were given before the shutdown began arrive, those to calls that ran then too, and only then the end. */
    @ParameterizedTest
    @EnumSource
    void aShutdownLetsRepliesArriveBeforeTheEnd(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server = ServerUnderTest.start(rig)) {
            RawConnection client = server.connect();
            int bytes = 200_000;
            List<RawConnection.Exposed> sinks = new ArrayList<>();
            for (int i = 0; i < ServerUnderTest.CREDITS - 1; i++) {
                int xid = server.newXid();
                RawConnection.Exposed sink = client.expose(bytes, Access.REMOTE_WRITE);
                sinks.add(sink);
                client.send(Words.header(xid, 1, 8, 0)
                        .end()
                        .chunk(sink.segment())
                        .end()
                        .end()
                        .add(Toy.call(xid, Toy.FETCH).u32(1, bytes)));
            }
            client.send(hold(server.newXid()));
            rig.await(
                    "all are executed",
                    () -> server.toy().heldCount() == 1
                            && server.toy().executed().size() == ServerUnderTest.CREDITS + 1);
            CompletableFuture<Void> end = server.server().shutdown(Duration.ofSeconds(30));
            rig.settle();
            assertThat(end).as("one is running").isNotDone();
            server.toy().answerAllHeld();
            rig.await("the server has ended", end::isDone);
            rig.await("the client knows", client::hasEnded);
            assertThat(client.messageCount()).isEqualTo(ServerUnderTest.CREDITS);
            for (RawConnection.Exposed sink : sinks) {
                assertThat(sink.bytes()).isEqualTo(Toy.pattern(0, bytes));
            }
            client.close();
            try (RawConnection late = new RawRequester(rig).dial(server.address())) {
                rig.await("nobody listens any more", late::hasEnded);
                assertThat(late.refusal())
                        .extracting(ConnectRefusal::reason)
                        .isEqualTo(ConnectRefusal.Reason.UNREACHABLE);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void anIdleConnectionIsEndedButNotOneWithACallRunning(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server =
                        ServerUnderTest.start(rig, ServerUnderTest.options().idleTimeout(Duration.ofSeconds(60)))) {
            RawConnection busy = server.connect();
            int xid = server.newXid();
            busy.send(hold(xid));
            rig.await("the call is held", () -> server.toy().heldCount() == 1);
            RawConnection idle = server.connect();
            server.answersNull(idle);
            // In steps: the server looks at its connections from time to time, and each look sets the time of the next.
            rig.await("the idle one is ended", () -> {
                rig.advance(Duration.ofSeconds(15));
                return idle.hasEnded();
            });
            assertThat(busy.hasEnded()).isFalse();
            server.toy().answerAllHeld();
            rig.await("the reply comes", () -> busy.messageCount() == 1);
            busy.close();
            idle.close();
            rig.await("all are forgotten", () -> server.server().connections() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void connectionsBeyondTheLimitAreRejected(Network network) {
        try (Rig rig = network.open();
                ServerUnderTest server =
                        ServerUnderTest.start(rig, ServerUnderTest.options().maxConnections(2))) {
            RawConnection second = server.connect();
            RawConnection third = new RawRequester(rig).dial(server.address());
            rig.await("the third is told", third::hasEnded);
            assertThat(third.refusal()).extracting(ConnectRefusal::reason).isEqualTo(ConnectRefusal.Reason.REJECTED);
            server.answersNull(second);
            server.finish(second, third);
            RawConnection again = server.connect();
            server.answersNull(again);
            server.finish(again);
        }
    }

    /** RFC 8166, Section 4.5.4. */
    @Test
    void aReplyThatCannotBePostedEndsTheConnection() {
        for (int refusedPost = 1; refusedPost <= 4; refusedPost++) {
            ScriptedFaults faults = new ScriptedFaults();
            try (SimulatedRig rig = new SimulatedRig(
                            1, SimulationOptions.DEFAULT, SimulationOptions.DEFAULT.withFaults(faults));
                    ServerUnderTest server = ServerUnderTest.start(rig)) {
                RawConnection client = server.connect();
                RawConnection.Exposed sink = client.expose(8192, Access.REMOTE_WRITE);
                server.answersNull(client);
                faults.acceptOfPost(faults.posts() + (refusedPost + 1) / 2, 0);
                int xid = server.newXid();
                Words call = refusedPost % 2 == 0
                        ? Words.header(xid, 1, 8, 0)
                                .end()
                                .chunk(sink.segment())
                                .end()
                                .end()
                                .add(Toy.call(xid, Toy.FETCH).u32(1, 8000))
                        : Words.header(xid, 1, 8, 9).noChunks();
                client.send(call);
                rig.await(
                        "the client sees the end, or the answer",
                        () -> client.hasEnded() || client.messageCount() == 2);
                if (client.messageCount() < 2) {
                    server.checkEnded(client);
                } else {
                    server.finish(client);
                }
            }
        }
    }
}
