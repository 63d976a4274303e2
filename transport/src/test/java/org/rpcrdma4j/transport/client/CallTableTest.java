// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.raw.Words;

/** The hash table of calls, against one of the JDK's. */
class CallTableTest {

    private final BounceBuffers bounces = new BounceBuffers(new Counters<>(ClientCounter.class));

    private ClientCall call(int xid) {
        ClientCall call = new ClientCall(bounces);
        CallMessage message = CallMessage.builder(
                        MemorySegment.ofArray(Words.call(xid, 1, 1, 0).toBytes()))
                .build();
        call.begin(message, new PendingReply(requesterThatIsNotAsked()), 0, 0, 0);
        return call;
    }

    @SuppressWarnings({"NullAway", "DataFlowIssue"}) // never asked: nothing is cancelled here
    private static Requester requesterThatIsNotAsked() {
        return null;
    }

    @Test
    void findsWhatIsInAndNothingElse() {
        for (int stride : new int[] {1, 2, 4096, 1 << 20, 0x9E37_79B9}) {
            SplittableRandom random = new SplittableRandom(stride);
            CallTable table = new CallTable(4, ClientCall.BY_ORDER);
            Map<Integer, ClientCall> expected = new HashMap<>();
            List<ClientCall> all = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                int xid = random.nextInt(60) * stride;
                if (random.nextBoolean()) {
                    ClientCall call = call(xid);
                    assertThat(table.add(call)).isEqualTo(expected.putIfAbsent(xid, call) == null);
                    all.add(call);
                } else if (!all.isEmpty()) {
                    // Perhaps one that was never in, since its XID was taken, or is out already.
                    ClientCall call = all.get(random.nextInt(all.size()));
                    table.remove(call);
                    expected.remove(call.xid(), call);
                }
                assertThat(table.size()).isEqualTo(expected.size());
                int looked = random.nextInt(60) * stride;
                assertThat(table.get(looked)).isSameAs(expected.get(looked));
            }
            expected.forEach((xid, call) -> assertThat(table.get(xid)).isSameAs(call));
        }
    }
}
