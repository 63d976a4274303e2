// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Registers a region under a new key and invalidates it, as one chain, and takes the completion. */
public final class RegistrationPairs implements AutoCloseable {
    private static final int REGION_BYTES = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final Link link;
    private final FastRegion region;
    private final RegisterRequest register =
            new RegisterRequest().signaled(false).access(Access.REMOTE_READ_WRITE);
    private final LocalInvalidateRequest invalidate = new LocalInvalidateRequest();
    private final List<SendQueueRequest> chain = List.of(register, invalidate);
    private final WorkCompletion[] completion = {new WorkCompletion()};

    /** Connects. */
    public RegistrationPairs(RdmaDevice device) throws IOException {
        link = Link.open(device, end -> {});
        region = link.client().domain().allocateFastRegion(REGION_BYTES / 4096 + 1);
        MemorySegment memory = arena.allocate(REGION_BYTES, 4096);
        region.map(List.of(memory), 1L << 32);
    }

    /** One pair. */
    public void once() {
        int key = region.advanceKey();
        register.region(region, key);
        invalidate.key(key);
        link.client().queuePair().postSend(chain).orThrow();
        while (link.client().completions().poll(completion) == 0) {
            Thread.onSpinWait();
        }
        if (!completion[0].isSuccess()) {
            throw new IllegalStateException(completion[0].toString());
        }
    }

    /** Many pairs; bytes are counted as 1 for each. */
    public Sample run(int pairs) {
        Sample.Meter meter = new Sample.Meter();
        for (int i = 0; i < pairs; i++) {
            once();
        }
        return meter.sample(pairs);
    }

    @Override
    public void close() {
        link.client().queuePair().abort();
        region.close();
        link.close();
        arena.close();
    }
}
