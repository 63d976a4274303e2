// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.QueuePair.State;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** The connection breaks after any byte of a session, by RST or FIN, in either direction: nothing is lost, nothing comes twice. */
class CutStreamTest {
    private static final int ROUNDS = 400;
    private static final int RECEIVES = 6;
    private static final int SENDS = 7;
    private static final int RECEIVE_BYTES = 4096;
    private static final int SESSION_BYTES = 9_000;
    private static final long UNSIGNALED = 4;

    private final Loopback loopback = new Loopback("cut", Map.of("kick-millis", "0"));

    @Test
    void everyRequestCompletesOnceInOrderWhereverTheStreamIsCut() throws Exception {
        AtomicReference<@Nullable Side> next = new AtomicReference<>();
        int cutInSession = 0;
        try (loopback;
                ListenEndpoint endpoint =
                        loopback.serve(() -> requireNonNull(next.getAndSet(null)), Loopback.OPTIONS)) {
            for (int round = 0; round < ROUNDS; round++) {
                SplittableRandom random = new SplittableRandom(round);
                long cut = round < 40 ? round * 2L : random.nextInt(SESSION_BYTES + 500);
                try (CuttingProxy proxy = new CuttingProxy(
                                endpoint.localAddress(), random.nextBoolean(), cut, random.nextBoolean());
                        Side client = new Side(loopback.device, 16, 64 * 1024);
                        Side server = new Side(loopback.device, 16, 64 * 1024)) {
                    next.set(server);
                    play(client, server, proxy, next, "round " + round + ", cut after " + cut);
                    cutInSession += client.established.isDone() && !client.disconnected.isDone() ? 0 : 1;
                }
                loopback.requireEmpty();
            }
            assertThat(cutInSession).isPositive();
        }
    }

    private void play(Side client, Side server, CuttingProxy proxy, AtomicReference<@Nullable Side> next, String what) {
        postReceives(client);
        postReceives(server);
        loopback.connect(client, proxy.address(), Loopback.OPTIONS);
        Waits.until(() -> client.established.isDone() || client.ends.get() > 0, client::toString);
        Session ours = new Session(client);
        Session theirs = new Session(server);
        if (client.established.isDone()) {
            postSends(client, server);
        }
        Waits.until(
                () -> server.established.isDone() || server.ends.get() > 0 || client.ends.get() > 0, server::toString);
        if (server.established.isDone()) {
            postSends(server, client);
        }
        Waits.until(
                () -> bothDone(ours, theirs) || client.ends.get() > 0 || server.ends.get() > 0,
                () -> what + ": " + ours + theirs);
        client.queuePair.disconnect();
        Waits.until(() -> client.ends.get() > 0, () -> what + ": " + client);
        boolean asked = next.get() == null;
        if (asked) {
            Waits.until(() -> server.ends.get() > 0, () -> what + ": " + server);
        } else {
            server.queuePair.abort();
        }
        ours.pollAllFlushed(what);
        theirs.pollAllFlushed(what);
        byte[] before = client.memory.toArray(ValueLayout.JAVA_BYTE);
        assertThat(client.ends).as(what).hasValue(1);
        assertThat(server.ends).as(what).hasValue(asked ? 1 : 0);
        client.queuePair.close();
        server.queuePair.close();
        assertThat(client.memory.toArray(ValueLayout.JAVA_BYTE)).as(what).isEqualTo(before);
    }

    /** Polls both in any case. */
    private static boolean bothDone(Session ours, Session theirs) {
        boolean done = ours.poll();
        return theirs.poll() && done;
    }

    private static void postReceives(Side side) {
        for (int i = 0; i < RECEIVES; i++) {
            side.queuePair
                    .postReceive(side.receive(i, 32 * 1024 + i * RECEIVE_BYTES, RECEIVE_BYTES))
                    .orThrow();
        }
    }

    /** What is refused, as the end came first, was not posted. */
    private static void postSends(Side side, Side peer) {
        var _ = side.queuePair.postSend(List.of(
                side.write(0, peer, 0, 3000),
                side.send(1, 100, 1000),
                side.read(2, peer, 4000, 2500),
                side.send(3, 0, 0),
                side.send(UNSIGNALED, 50, 77).signaled(false),
                side.read(5, peer, 8000, 1).fence(true),
                side.send(6, 3, 2000)));
    }

    /** What has come of one side's work so far. */
    private static final class Session {
        private final Side side;
        private final List<String> sends = new ArrayList<>();
        private final List<String> receives = new ArrayList<>();

        Session(Side side) {
            this.side = side;
        }

        boolean poll() {
            sends.addAll(side.poll(side.sending));
            receives.addAll(side.poll(side.receiving));
            return sends.size() >= SENDS - 1 && receives.size() >= 4;
        }

        void pollAllFlushed(String what) {
            assertThat(side.queuePair.state()).as(what).isEqualTo(State.ERROR);
            poll();
            requireInOrder(what + ": sends", sends, sends.isEmpty() ? 0 : SENDS, true);
            requireInOrder(what + ": receives", receives, RECEIVES, false);
            assertThat(side.poll(side.sending)).isEmpty();
            CompletionQueue receiving = side.receiving;
            assertThat(side.poll(receiving)).isEmpty();
        }

        private static void requireInOrder(String what, List<String> found, int posted, boolean unsignaled) {
            List<String> wanted = new ArrayList<>();
            int flushedFrom = (int)
                    found.stream().filter(entry -> entry.endsWith(" SUCCESS")).count();
            if (unsignaled && flushedFrom >= UNSIGNALED) {
                boolean silent = !found.contains(UNSIGNALED + " FLUSHED");
                flushedFrom += silent ? 1 : 0;
            }
            for (int i = 0; i < posted; i++) {
                if (i >= flushedFrom) {
                    wanted.add(i + " FLUSHED");
                } else if (i != UNSIGNALED || !unsignaled) {
                    wanted.add(i + " SUCCESS");
                }
            }
            assertThat(found).as(what).isEqualTo(wanted);
        }

        @Override
        public String toString() {
            return side + " sends " + sends + " receives " + receives + "; ";
        }
    }
}
