// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.raw.Network;
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
                        ProgramHandler.whenReleased(released::incrementAndGet);
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

    @Test
    void onlyAProcedureLends() {
        assertThatIllegalStateException().isThrownBy(() -> ProgramHandler.whenReleased(() -> {}));
    }
}
