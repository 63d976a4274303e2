// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Writes a result into the memory that a call names, or reads the argument there, and answers. */
final class ToyServer extends ToyEnd {

    private final SplittableRandom random;
    private final Map<Long, MemorySegment> reads = new HashMap<>();
    private final Map<Long, Integer> readNumbers = new HashMap<>();

    ToyServer(SimulatedDevice device, MemorySegment memory, SplittableRandom random) {
        super(device, memory);
        this.random = random;
    }

    @Override
    void onMessage(MemorySegment message, WorkCompletion completion) {
        int number = message.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
        boolean writing = message.get(ValueLayout.JAVA_INT_UNALIGNED, 4) == 1;
        int key = message.get(ValueLayout.JAVA_INT_UNALIGNED, 8);
        int length = message.get(ValueLayout.JAVA_INT_UNALIGNED, 12);
        long address = message.get(ValueLayout.JAVA_LONG_UNALIGNED, 16);
        long offset = 65_536L + number * (DATA + 4096L);
        List<SendQueueRequest> chain = new ArrayList<>();
        if (writing) {
            ToyPattern.fill(memory.asSlice(offset, length), number);
            int cut = random.nextInt(length);
            chain.add(new RdmaWriteRequest()
                    .id(newId())
                    .signaled(false)
                    .sge(region, offset, cut)
                    .target(key, address));
            chain.add(new RdmaWriteRequest()
                    .id(newId())
                    .signaled(random.nextBoolean())
                    .sge(region, offset + cut, length - cut)
                    .target(key, address + cut));
        } else {
            long id = newId();
            reads.put(id, memory.asSlice(offset, length));
            readNumbers.put(id, number);
            chain.add(new RdmaReadRequest().id(id).sge(region, offset, length).source(key, address));
        }
        MemorySegment reply = memory.asSlice(number * (long) MESSAGE, MESSAGE);
        ToyPattern.writeHeader(reply, number, writing, key, address, length);
        SendRequest send = new SendRequest().id(newId()).fence(!writing).sge(region, number * (long) MESSAGE, MESSAGE);
        if (random.nextBoolean()) {
            send.invalidate(key);
        }
        chain.add(send);
        if (post(chain) < chain.size()) {
            queuePair.abort();
        }
    }

    @Override
    void onSendCompletion(long id, WorkCompletion completion) {
        MemorySegment sink = reads.get(id);
        Integer number = readNumbers.get(id);
        if (sink != null && number != null && completion.isSuccess()) {
            assertThat(ToyPattern.matches(sink, number)).as("what was read").isTrue();
        }
    }
}
