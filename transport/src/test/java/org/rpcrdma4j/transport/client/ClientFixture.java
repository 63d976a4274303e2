// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawMessage;
import org.rpcrdma4j.transport.raw.RawResponder;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** A client of the product and a responder that makes its bytes itself, on one rig. */
final class ClientFixture implements AutoCloseable {

    static final int PROGRAM = 0x2000_4242;
    static final String PEER_4096 = "f6ab0e18 01010303";

    final Rig rig;
    final RawResponder responder;
    final RpcRdmaClient client;

    ClientFixture(Rig rig) {
        this(rig, PEER_4096, builder -> builder);
    }

    ClientFixture(Rig rig, UnaryOperator<RpcRdmaClient.Builder> settings) {
        this(rig, PEER_4096, settings);
    }

    ClientFixture(Rig rig, String privateData, UnaryOperator<RpcRdmaClient.Builder> settings) {
        this.rig = rig;
        responder = new RawResponder(rig).privateData(privateData);
        client = settings.apply(RpcRdmaClient.builder(rig.clientDevice(), responder.address())
                        .time(rig.time())
                        .worker(rig.worker())
                        .callbacks(rig.worker()))
                .build();
        rig.watch(client::toString);
    }

    /** An RPC call without arguments. */
    static MemorySegment head(int xid, int procedure) {
        return MemorySegment.ofArray(Words.call(xid, PROGRAM, 1, procedure).toBytes());
    }

    /** A call without arguments. */
    CallMessage.Builder nullCall() {
        return CallMessage.builder(head(client.nextXid(), 0));
    }

    /** The responder's answer: an accepted reply with the given results. */
    static void answer(RawConnection connection, int xid, int credits, int... results) {
        connection.send(Words.inline(xid, credits).add(Words.reply(xid, 0).u32(results)));
    }

    /** Answers every call at once. */
    ClientFixture answering(int credits) {
        responder.onMessage((connection, call) -> answer(connection, call.xid(), credits));
        return this;
    }

    /** How the responder accepts, to be changed for later connections. */
    ConnectOptions responderOptions() {
        return ConnectOptions.DEFAULT;
    }

    /** Waits for the reply. */
    Reply reply(PendingReply pending) {
        rig.await("the call ends", pending::isDone);
        try {
            return pending.get();
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError("no reply; " + rig.describe(), e);
        }
    }

    /** Waits for the call's failure. */
    TransportException failure(PendingReply pending) {
        rig.await("the call ends", pending::isDone);
        if (pending.isCompletedExceptionally() && pending.exceptionNow() instanceof TransportException failure) {
            return failure;
        }
        throw new AssertionError("ended otherwise: " + pending);
    }

    /** Waits until so many calls have come to the responder, on whatever connection, and returns the last of them. */
    RawMessage call(int count) {
        rig.await(count + " calls arrive", () -> responder.messageCount() >= count);
        return responder.messages().get(count - 1);
    }

    /** Waits until the call has come to the responder, and returns its latest transmission. */
    RawMessage callOf(CallMessage message) {
        rig.await(
                "the call arrives", () -> responder.messages().stream().anyMatch(call -> call.xid() == message.xid()));
        return responder.messages().stream()
                .filter(call -> call.xid() == message.xid())
                .toList()
                .getLast();
    }

    long counter(ClientCounter counter) {
        return client.counters().get(counter);
    }

    static byte[] bytes(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    static byte[] pattern(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + seed);
        }
        return bytes;
    }

    @Override
    public void close() {
        var closed = client.closeAsync();
        rig.await("the client is closed", closed::isDone);
        responder.close();
        rig.close();
    }
}
