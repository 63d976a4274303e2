// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** Tries a key of the peer before and after its invalidation, on a connection of its own, which that ends. */
final class StaleKey {
    private static final int BYTES = 4096;

    private StaleKey() {}

    /**
     * Writes twice under one key of the server.
     *
     * @return how the client's connection ended
     * @throws IllegalStateException if the first Write did not arrive, or the second did
     */
    static Disconnect tryTwice(RdmaDevice device) throws IOException {
        try (Arena arena = Arena.ofShared();
                Link link = Link.open(device, end -> {})) {
            MemorySegment source = arena.allocate(BYTES, 64);
            MemorySegment target = arena.allocate(BYTES, 64);
            try (MemoryRegion own = link.client().domain().register(source, Access.LOCAL_WRITE);
                    FastRegion opened = link.server().domain().allocateFastRegion(2)) {
                opened.map(List.of(target), 0);
                int key = opened.advanceKey();
                link.server()
                        .queuePair()
                        .postSend(new RegisterRequest().region(opened, key).access(Access.REMOTE_READ_WRITE))
                        .orThrow();
                link.server().next("registration");
                write(link, own, source, key, (byte) 1);
                // A Read behind the Write is answered when the Write was placed.
                link.client()
                        .queuePair()
                        .postSend(new RdmaReadRequest().sge(own, 0, BYTES).source(key, 0))
                        .orThrow();
                link.client().next("Read under a valid key");
                requireFilledWith(target, (byte) 1);
                link.server()
                        .queuePair()
                        .postSend(new LocalInvalidateRequest().key(key))
                        .orThrow();
                link.server().next("invalidation");
                write(link, own, source, key, (byte) 2);
                Disconnect end = Await.result(
                        link.client().ended(),
                        "the peer's refusal",
                        () -> link.client().queuePair().toString());
                requireFilledWith(target, (byte) 1);
                return end;
            }
        }
    }

    private static void write(Link link, MemoryRegion own, MemorySegment source, int key, byte value) {
        source.fill(value);
        link.client()
                .queuePair()
                .postSend(new RdmaWriteRequest().sge(own, 0, BYTES).target(key, 0))
                .orThrow();
        link.client().next("Write");
    }

    private static void requireFilledWith(MemorySegment memory, byte value) {
        for (long i = 0; i < memory.byteSize(); i++) {
            byte found = memory.get(ValueLayout.JAVA_BYTE, i);
            if (found != value) {
                throw new IllegalStateException("byte " + i + " of the target: expected " + value + ", found " + found);
            }
        }
    }
}
