// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import static org.rpcrdma4j.transport.raw.ClientUnderTest.CREDITS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.rpcrdma4j.transport.client.RpcRdmaClient;

/** A client, and a raw server that answers NULL well, and other calls as a script has it. */
final class ReplyCase implements AutoCloseable {
    final Rig rig;
    final RawResponder responder;
    final ClientUnderTest client;
    final Arena arena = Arena.ofShared();
    final MemorySegment target = arena.allocate(8192, 4096);

    ReplyCase(Network network, BiConsumer<RawConnection, RawMessage> script) {
        this(network, script, builder -> builder);
    }

    ReplyCase(
            Network network,
            BiConsumer<RawConnection, RawMessage> script,
            UnaryOperator<RpcRdmaClient.Builder> settings) {
        rig = network.open();
        responder = new RawResponder(rig).privateData(ClientUnderTest.SERVER_DATA);
        responder.onMessage((connection, call) -> {
            if (RawReplies.procedureOf(call) == Toy.NULL) {
                connection.send(RawReplies.plain(call, CREDITS));
            } else {
                script.accept(connection, call);
            }
        });
        client = ClientUnderTest.start(rig, responder, settings);
        client.works();
    }

    ClientUnderTest.Call call() {
        return client.send(client.newXid(), Toy.HOLD);
    }

    /** With a Write chunk of 5000 bytes. */
    ClientUnderTest.Call callWithTarget() {
        return client.send(ClientUnderTest.message(
                Toy.call(client.newXid(), Toy.FETCH).u32(1, 5000),
                builder -> builder.target(target.asSlice(0, 5000)).maxReplyBytes(200)));
    }

    /** With a Reply chunk. */
    ClientUnderTest.Call callWithReplyChunk() {
        return client.send(ClientUnderTest.message(
                Toy.call(client.newXid(), Toy.BIG).u32(20_000), builder -> builder.maxReplyBytes(30_000)));
    }

    /** With both. */
    ClientUnderTest.Call callWithBoth() {
        return client.send(ClientUnderTest.message(
                Toy.call(client.newXid(), Toy.FETCH).u32(2, 5000, 20_000),
                builder -> builder.target(target.asSlice(0, 5000)).maxReplyBytes(30_000)));
    }

    @Override
    public void close() {
        client.close();
        responder.close();
        rig.close();
        arena.close();
    }
}
