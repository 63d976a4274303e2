// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.WriteVerifier;

/**
 * A piece of a file that is to be written, kept until the server has it on stable storage. Its writer's; touched under the writer's lock.
 *
 * <p>GATHERING, the writer adds to it; WAITING to be sent; SENT, one WRITE of it is in flight; WRITTEN, the server has all of it, perhaps not on
 * stable storage; RELEASED. A server that forgets leads from WRITTEN back to WAITING.
 */
final class WriteBlock {

    enum State {
        GATHERING,
        WAITING,
        SENT,
        WRITTEN,
        RELEASED
    }

    /** How often a server may forget one block: restarts, not chance. */
    private static final int MAX_REWRITES = 64;

    private final long offset;
    private final NfsBuffer buffer;
    private int length;
    private int done;
    private int rewrites;
    private boolean isStable = true;
    private boolean isMixed;
    private @Nullable WriteVerifier verifier;

    State state = State.GATHERING;
    StableHow how = StableHow.UNSTABLE;

    WriteBlock(long offset, NfsBuffer buffer, int length) {
        this.offset = offset;
        this.buffer = buffer;
        this.length = length;
    }

    long offset() {
        return offset;
    }

    long end() {
        return offset + length;
    }

    /** Bytes of memory that it holds. */
    long heldBytes() {
        return buffer.memory().byteSize();
    }

    /** Adds as much of the data as there is room for; returns how much. */
    long append(MemorySegment data, long from) {
        long room = Math.min(buffer.memory().byteSize() - length, data.byteSize() - from);
        MemorySegment.copy(data, from, buffer.memory(), length, room);
        length += (int) room;
        return room;
    }

    boolean isFull(int writeBytes) {
        return length >= Math.min(writeBytes, buffer.memory().byteSize());
    }

    /** The part that is to be written next. */
    MemorySegment rest(int writeBytes) {
        return buffer.memory().asSlice(done, Math.min(writeBytes, length - done));
    }

    long restOffset() {
        return offset + done;
    }

    /** The server has written some of it; whether that was the last part. */
    boolean written(Write.Ok ok) {
        done += (int) ok.count();
        isStable &= ok.committed().isAtLeast(StableHow.DATA_SYNC);
        // RFC 1813, Section 3.3.7: another verifier says that what was written before may be lost.
        isMixed |= verifier != null && !verifier.equals(ok.verifier());
        verifier = ok.verifier();
        return done == length;
    }

    /** Whether all of it is on stable storage without a COMMIT. */
    boolean isStable() {
        return isStable;
    }

    /** Whether its parts were written before and after the server may have forgotten. */
    boolean isMixed() {
        return isMixed;
    }

    /** RFC 1813, Section 3.3.21: it is on stable storage if COMMIT has the verifier that its WRITEs had. */
    boolean isCommittedBy(WriteVerifier commit) {
        return commit.equals(verifier);
    }

    /** It is to be written anew; false if that was so too often. */
    boolean restart() {
        state = State.WAITING;
        done = 0;
        isStable = true;
        isMixed = false;
        verifier = null;
        return ++rewrites <= MAX_REWRITES;
    }

    void release() {
        state = State.RELEASED;
        buffer.close();
    }
}
