// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Small messages of one end: a buffer to send from for each slot, and Receives that are posted anew when their message was taken. */
final class Mailbox implements AutoCloseable {
    static final int MESSAGE_BYTES = 32;

    private final LinkEnd end;
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final SendRequest[] sends;
    private final ReceiveRequest[] receives;

    /** Posts as many Receives as there are slots. */
    Mailbox(LinkEnd end, Arena arena, int slots) {
        this.end = end;
        memory = arena.allocate(2L * slots * MESSAGE_BYTES, 64);
        region = end.domain().register(memory, Access.LOCAL_WRITE);
        sends = new SendRequest[slots];
        receives = new ReceiveRequest[slots];
        for (int i = 0; i < slots; i++) {
            sends[i] = new SendRequest().id(i).sge(region, (long) i * MESSAGE_BYTES, MESSAGE_BYTES);
            receives[i] = new ReceiveRequest().id(i).sge(region, (long) (slots + i) * MESSAGE_BYTES, MESSAGE_BYTES);
            end.queuePair().postReceive(receives[i]).orThrow();
        }
    }

    /** The buffer that {@link #send} sends from. */
    MemorySegment outgoing(int slot) {
        return memory.asSlice((long) slot * MESSAGE_BYTES, MESSAGE_BYTES);
    }

    SendRequest send(int slot) {
        return sends[slot];
    }

    /** The message that a Receive has brought; valid until {@link #taken}. */
    MemorySegment incoming(WorkCompletion completion) {
        return memory.asSlice((sends.length + completion.id()) * MESSAGE_BYTES, MESSAGE_BYTES);
    }

    /** Posts the Receive anew. */
    void taken(WorkCompletion completion) {
        end.queuePair().postReceive(receives[(int) completion.id()]).orThrow();
    }

    @Override
    public void close() {
        region.close();
    }
}
