// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;

/** Decodes messages that lie at the very end of their memory, and behind bytes that aren't theirs. */
final class Decoding {
    /** More than any header of the tests has. */
    static final HeaderLimits LIMITS = new HeaderLimits(16, 4, 16, true);

    private static final int BEFORE = 5;

    private Decoding() {}

    /** Decodes from memory of its own that ends with the message, so that a read behind it throws. */
    static Outcome decode(byte[] message, HeaderLimits limits, TransportHeader into) {
        try (Arena arena = Arena.ofConfined()) {
            return HeaderDecoder.decode(inOwnMemory(message, arena), BEFORE, message.length, limits, into);
        }
    }

    static Outcome decode(byte[] message, TransportHeader into) {
        return decode(message, LIMITS, into);
    }

    static Outcome outcome(byte[] message) {
        return decode(message, new TransportHeader());
    }

    static TransportHeader header(byte[] message) {
        TransportHeader header = new TransportHeader();
        Outcome outcome = decode(message, header);
        if (outcome != Outcome.OK) {
            throw new AssertionError("expected a good header, found " + outcome);
        }
        return header;
    }

    static RpcDirection direction(byte[] message) {
        TransportHeader header = new TransportHeader();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = inOwnMemory(message, arena);
            HeaderDecoder.decode(memory, BEFORE, message.length, LIMITS, header);
            return HeaderDecoder.direction(header, memory, BEFORE, message.length);
        }
    }

    static RpcDirection peekDirection(byte[] message) {
        try (Arena arena = Arena.ofConfined()) {
            return HeaderDecoder.peekDirection(inOwnMemory(message, arena), BEFORE, message.length);
        }
    }

    /** Encodes into memory that ends where the header says it will. */
    static byte[] encode(TransportHeader header) {
        byte[] memory = new byte[BEFORE + HeaderEncoder.length(header)];
        int length = HeaderEncoder.encode(header, MemorySegment.ofArray(memory), BEFORE);
        if (length != memory.length - BEFORE || length != header.length()) {
            throw new AssertionError("expected %d bytes, %d were written, the header notes %d"
                    .formatted(memory.length - BEFORE, length, header.length()));
        }
        return Arrays.copyOfRange(memory, BEFORE, memory.length);
    }

    private static MemorySegment inOwnMemory(byte[] message, Arena arena) {
        MemorySegment memory = arena.allocate(BEFORE + message.length);
        memory.asSlice(0, BEFORE).fill((byte) -1);
        MemorySegment.copy(MemorySegment.ofArray(message), 0, memory, BEFORE, message.length);
        return memory;
    }
}
