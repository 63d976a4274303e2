// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.TerminateError;
import org.rpcrdma4j.iwarp.mem.AccessFault;
import org.rpcrdma4j.iwarp.queue.InboundRead;

/** Makes the fault for a Read of the peer that cannot be answered, or not to its end. */
final class ReadFault {
    private ReadFault() {}

    /**
     * The fault, with the Terminate for it.
     *
     * @param served bytes answered before
     */
    static StreamFault of(InboundRead read, long served, AccessFault fault) {
        return new StreamFault(
                terminate(errorOf(fault), read, served),
                "expected a readable source for %d bytes at STag 0x%08x TO 0x%016x, found %s"
                        .formatted(read.size() - served, read.sourceStag(), read.sourceOffset() + served, fault));
    }

    private static TerminateError errorOf(AccessFault fault) {
        return switch (fault) {
            case INVALID_STAG, MEMORY_GONE -> TerminateError.RDMAP_INVALID_STAG;
            case OTHER_STREAM -> TerminateError.RDMAP_STAG_OF_OTHER_STREAM;
            case NO_RIGHT -> TerminateError.RDMAP_ACCESS_RIGHTS;
            case WRAP -> TerminateError.RDMAP_TO_WRAP;
            case OUT_OF_BOUNDS, NONE -> TerminateError.RDMAP_BASE_OR_BOUNDS;
        };
    }

    /** RFC 5040, Section 4.8: quotes the Request; of a Response under way, with what is left of it. */
    private static TerminateMessage terminate(TerminateError error, InboundRead read, long served) {
        ByteBuffer request = ByteBuffer.allocate(ReadRequestHeader.ULPDU_BYTES);
        DdpHeader.putUntagged(
                request,
                0,
                true,
                Opcode.READ_REQUEST.control(),
                read.unusedStag(),
                DdpHeader.READ_REQUEST_QUEUE,
                read.msn(),
                0);
        request.putShort(0, read.control());
        ReadRequestHeader.put(
                request,
                DdpHeader.UNTAGGED_BYTES,
                read.sinkStag(),
                read.sinkOffset(),
                read.size(),
                read.sourceStag(),
                read.sourceOffset());
        ReadRequestHeader.advance(request, DdpHeader.UNTAGGED_BYTES, served);
        return TerminateMessage.of(error, request, 0, ReadRequestHeader.ULPDU_BYTES);
    }
}
