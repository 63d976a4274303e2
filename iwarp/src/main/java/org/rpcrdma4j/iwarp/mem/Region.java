// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mem;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;

/**
 * A region of this device: pieces of memory that form one range of tagged offsets, from {@code base} on, behind its {@link Guard}.
 *
 * <p><b>Use.</b> {@link #enter} checks an access and, if it may go on, keeps the region from being invalidated until {@link #leave}.
 * Between the two the pieces may be read or written within the range that was checked.
 *
 * <p><b>Threads.</b> enter and leave: all. Everything that changes the region: see the subclasses.
 */
public abstract sealed class Region extends Guard implements MemoryRegion permits PlainRegion, SoftFastRegion {
    /** The scope of a region that every queue pair of its domain may use. */
    public static final int DOMAIN_WIDE = 0;

    private static final MemorySegment[] NOTHING = {};

    final Domain domain;
    final StagTable table;
    final Leases leases;

    private MemorySegment[] pieces = NOTHING;
    private long[] ends = {};
    private int pieceCount;
    private long length;

    private long base;
    private Access access = Access.LOCAL_READ;
    private int scope = DOMAIN_WIDE;
    private volatile boolean givenBack;

    Region(Domain domain, StagTable table, Leases leases, int stag) {
        super(stag);
        this.domain = domain;
        this.table = table;
        this.leases = leases;
    }

    @Override
    public final ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public final int remoteKey() {
        return stag();
    }

    @Override
    public final long remoteAddress() {
        return base;
    }

    @Override
    public final long length() {
        return length;
    }

    @Override
    public final Access access() {
        return access;
    }

    @Override
    public final boolean isValid() {
        return isOpen();
    }

    /** The queue pair that may use it, or {@link #DOMAIN_WIDE}. */
    final int scope() {
        return scope;
    }

    /**
     * Checks an access by a tagged offset and enters.
     *
     * @param stag the whole STag
     * @param caller the protection domain of the queue pair
     * @param queuePair its number
     * @param to the tagged offset, unsigned
     * @param bytes the length of the access, unsigned 32 bits
     * @return {@link AccessFault#NONE} if entered: {@link #leave} must follow
     */
    public final AccessFault enter(
            int stag, AccessKind kind, ProtectionDomain caller, int queuePair, long to, long bytes) {
        if (!enter(stag)) {
            return AccessFault.INVALID_STAG;
        }
        return checked(kind, caller, queuePair, to, bytes);
    }

    private AccessFault checked(AccessKind kind, ProtectionDomain caller, int queuePair, long to, long bytes) {
        AccessFault fault = check(kind, caller, queuePair, to, bytes);
        if (fault != AccessFault.NONE) {
            leave();
        }
        return fault;
    }

    /** Enters for an access of our own, by an offset from the first byte. */
    public final AccessFault enterLocal(
            int stag, AccessKind kind, ProtectionDomain caller, int queuePair, long offset, long bytes) {
        if (!enter(stag)) {
            return AccessFault.INVALID_STAG;
        }
        // ORDER: the base is read inside: it changes with the registration.
        return checked(kind, caller, queuePair, base + offset, bytes);
    }

    /** Enters again for what was checked before under this STag; the registration is still the same if this succeeds. */
    public final boolean reenter(int stag) {
        return enter(stag);
    }

    private AccessFault check(AccessKind kind, ProtectionDomain caller, int queuePair, long to, long bytes) {
        // RFC 5041, Section 7.1 and 8.2: STags are tied to streams by domain, and where asked to one single stream.
        if (!caller.equals(domain) || (scope != DOMAIN_WIDE && scope != queuePair)) {
            return AccessFault.OTHER_STREAM;
        }
        if (!kind.isAllowedBy(access)) {
            return AccessFault.NO_RIGHT;
        }
        // RFC 5041, Section 7.1: TO plus length must not wrap; a range may end exactly at 2^64.
        if (bytes > 0 && Long.compareUnsigned(to + (bytes - 1), to) < 0) {
            return AccessFault.WRAP;
        }
        long offset = to - base;
        if (Long.compareUnsigned(offset, length) > 0 || bytes > length - offset) {
            return AccessFault.OUT_OF_BOUNDS;
        }
        return AccessFault.NONE;
    }

    /** The offset in the region of a tagged offset that was checked. */
    public final long offsetOf(long to) {
        return to - base;
    }

    /** Index of the piece that holds the byte at this offset; the last one for the offset behind the end. */
    public final int pieceAt(long offset) {
        if (pieceCount == 1 || offset < ends[0]) {
            return 0;
        }
        int found = Arrays.binarySearch(ends, 0, pieceCount, offset);
        return Math.min(found >= 0 ? found + 1 : -found - 1, pieceCount - 1);
    }

    /** A piece of memory. */
    public final MemorySegment piece(int index) {
        return pieces[index];
    }

    /** Offset in the region of a piece's first byte. */
    public final long pieceStart(int index) {
        return index == 0 ? 0 : ends[index - 1];
    }

    /** Copies into the region. Only after {@link #enter} for this range. */
    public final void write(long offset, MemorySegment source, long from, long bytes) {
        if (bytes == 0) {
            return;
        }
        long done = 0;
        for (int i = pieceAt(offset); done < bytes; i++) {
            long inPiece = offset + done - pieceStart(i);
            long part = Math.min(bytes - done, pieces[i].byteSize() - inPiece);
            MemorySegment.copy(source, from + done, pieces[i], inPiece, part);
            done += part;
        }
    }

    /** Takes a piece under lease. Only while the guard is shut. */
    final void addPiece(MemorySegment piece) {
        if (pieceCount == pieces.length) {
            int capacity = Math.max(1, 2 * pieceCount);
            pieces = Arrays.copyOf(pieces, capacity);
            ends = Arrays.copyOf(ends, capacity);
        }
        pieces[pieceCount] = piece;
        length += piece.byteSize();
        ends[pieceCount] = length;
        pieceCount++;
        leases.mapped(1, piece.byteSize());
    }

    /** Ends the lease on all pieces. Only while the guard is shut. */
    final void dropPieces() {
        leases.unmapped(pieceCount, length);
        Arrays.fill(pieces, 0, pieceCount, MemorySegment.NULL);
        pieceCount = 0;
        length = 0;
    }

    /** Closes for good: by the one who shut it, with nobody in. */
    final void giveBack(int stag) {
        // ORDER: the peer was fenced before the lease ends and before the index can be drawn again.
        table.remove(stag);
        synchronized (this) {
            dropPieces();
        }
        leases.regionGone();
        domain.regionGone();
        givenBack = true;
    }

    /** Waits until somebody else, who closes it at this moment or has done so, is done. */
    final void awaitGivenBack() {
        for (int tries = 0; !givenBack; tries++) {
            OtherThreads.pause(tries);
        }
    }

    final int pieceCount() {
        return pieceCount;
    }

    final void describe(long newBase, Access newAccess, int newScope) {
        base = newBase;
        access = newAccess;
        scope = newScope;
    }

    final void rebase(long newBase) {
        base = newBase;
    }

    /** RFC 5041, Section 8.3: only memory that the program itself may use is exposed. */
    static void requireRegistrable(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered: " + memory);
        }
        if (memory.byteSize() == 0) {
            throw new IllegalArgumentException("memory to register is empty: " + memory);
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalArgumentException("memory to register is not alive any more: " + memory);
        }
        if (!OtherThreads.mayAccess(memory)) {
            throw new IllegalArgumentException("memory to register is confined to one thread: " + memory);
        }
    }
}
