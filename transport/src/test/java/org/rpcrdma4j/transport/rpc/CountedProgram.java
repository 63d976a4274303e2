// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.ProgramTable.Outcome;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** A program that counts how often it runs, its calls, and the hosts that they come from. */
final class CountedProgram {

    static final int PROGRAM = 0x2000_0077;
    /** Returns how often it ran, and its argument as an item. */
    static final int COUNT = 1;

    static final int PLAIN = 2;
    static final int FAIL = 3;
    static final int LONG = 4;
    /** Runs until the gate is open. */
    static final int SLOW = 5;

    static final Credential ANNA = new Credential.Sys(1, "host", 1000, 100, List.of());
    static final Credential BERT = new Credential.Sys(1, "host", 1001, 100, List.of());

    final AtomicInteger runs = new AtomicInteger();
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch gate = new CountDownLatch(1);
    final RpcProgram program = RpcProgram.program(PROGRAM, "counter")
            .once(1, COUNT, request -> {
                MemorySegment argument = request.arguments().readOpaque(1 << 20);
                request.endOfArguments();
                request.results().writeInt(runs.incrementAndGet());
                request.results().writeItem(argument);
                request.results().writeInt(7);
            })
            .procedure(1, PLAIN, request -> request.results().writeInt(runs.incrementAndGet()))
            .once(1, FAIL, request -> {
                runs.incrementAndGet();
                throw new IllegalStateException("on purpose");
            })
            .once(1, LONG, request -> {
                runs.incrementAndGet();
                request.results().writeOpaque(new byte[ReplyCache.MAX_REPLY_BYTES]);
            })
            .once(1, SLOW, request -> {
                runs.incrementAndGet();
                begun.countDown();
                assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
                request.results().writeInt(42);
            })
            .build();

    /** Where a call comes from, and what takes its reply if that comes later. */
    record From(InetSocketAddress remoteAddress, @Nullable Consumer<XdrWriter> later) implements CallContext {

        @Override
        public MemorySegment allocate(long bytes) {
            throw new IllegalStateException("the connection has ended");
        }

        @Override
        public void whenReleased(Runnable task) {
            task.run();
        }

        @Override
        public @Nullable Consumer<XdrWriter> answerLater() {
            return later;
        }
    }

    static From host(int number, int port) {
        try {
            InetAddress address = InetAddress.getByAddress(new byte[] {10, 0, (byte) (number >> 8), (byte) number});
            return new From(new InetSocketAddress(address, port), null);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    ProgramTable table(ReplyCache cache) {
        return new ProgramTable(List.of(program), cache);
    }

    static byte[] call(int xid, int procedure, Credential credential, byte... argument) {
        XdrWriter out = new XdrWriter();
        new CallHeader(xid, PROGRAM, 1, procedure, credential).encode(out);
        if (procedure == COUNT) {
            out.writeOpaque(argument);
        }
        return out.toByteArray();
    }

    static byte[] answer(ProgramTable table, From from, byte... message) {
        return answer(table, from, List.of(MemorySegment.ofArray(message)));
    }

    static byte[] answer(ProgramTable table, From from, List<MemorySegment> message) {
        XdrWriter reply = new XdrWriter();
        assertThat(table.dispatch(new RpcRequest(new XdrReader(message), reply, from)))
                .isEqualTo(Outcome.REPLIED);
        return reply.toByteArray();
    }
}
