// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.rpc.CallContext;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.server.ProgramHandler;

/** Results that a procedure of a table lends to the transport. */
class LentResultTest {

    @ParameterizedTest
    @EnumSource
    void aLentResultIsSentFromWhereItLiesAndGivenBackOnce(Network network) {
        AtomicInteger released = new AtomicInteger();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment result = arena.allocate(100_000).fill((byte) 7);
            ProgramTable programs = new ProgramTable(List.of(RpcProgram.program(BlockProgram.PROGRAM, "lender")
                    .procedure(1, BlockProgram.FETCH, request -> {
                        request.arguments().readInt();
                        request.endOfArguments();
                        request.context().whenReleased(released::incrementAndGet);
                        request.results().writeItem(result);
                    })
                    .build()));
            try (ClientServerFixture fixture =
                    new ClientServerFixture(network.open(), new ProgramHandler(programs), builder -> builder)) {
                MemorySegment target = arena.allocate(100_000);
                for (int calls = 1; calls <= 3; calls++) {
                    target.fill((byte) 0);
                    assertThat(fixture.call(CallMessage.builder(fixture.head(BlockProgram.FETCH, 100_000))
                                            .target(target)
                                            .build())
                                    .placedBytes())
                            .isEqualTo(100_000);
                    assertThat(target.mismatch(result)).isEqualTo(-1);
                    int so = calls;
                    fixture.rig.await("the memory is given back", () -> released.get() == so);
                }
            }
            assertThat(released).hasValue(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aContextIsOverWithItsProcedure(Network network) {
        AtomicReference<CallContext> kept = new AtomicReference<>(CallContext.NONE);
        ProgramTable programs = new ProgramTable(List.of(RpcProgram.program(BlockProgram.PROGRAM, "keeper")
                .procedure(1, BlockProgram.FETCH, request -> {
                    request.arguments().readInt();
                    kept.set(request.context());
                    request.results().writeInt(0);
                })
                .build()));
        try (ClientServerFixture fixture =
                new ClientServerFixture(network.open(), new ProgramHandler(programs), builder -> builder)) {
            fixture.call(
                    CallMessage.builder(fixture.head(BlockProgram.FETCH, 0)).build());
            fixture.rig.await("the procedure returns", () -> isOver(kept.get()));
        }
    }

    private static boolean isOver(CallContext context) {
        try {
            context.remoteAddress();
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }
}
