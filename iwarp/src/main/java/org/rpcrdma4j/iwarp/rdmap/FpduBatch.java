// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.Region;
import org.rpcrdma4j.iwarp.mpa.Crc32c;

/**
 * FPDUs on their way to the socket, as a gather list: headers, small payloads and trailers from a slab of its own, large payloads
 * straight from registered memory.
 *
 * <pre>
 *   entries:   | slab: header | region: payload | slab: trailer, header | region: payload | slab: trailer |
 *   FPDUs:     |------------------- 0 --------------------|---------------------- 1 ----------------------|
 * </pre>
 *
 * <p><b>Guards.</b> An entry in registered memory is entered ({@link Region#enter}) when it is added, and all are left after the first
 * write. For a later write {@link #reenter} takes them again, which fails if the registration has ended. Before that, what remains
 * of an FPDU that has begun to leave is copied out ({@link #copyOutBegun}), for an FPDU once begun must be finished and its memory may
 * be taken away at any time.
 *
 * <p><b>Allocation.</b> The JDK's gathering write allocates some 40 bytes for each entry whose buffer was made from a memory segment, of
 * whatever arena, also the global one: one entry for each FPDU with a large payload. Entries in the slab, and so small messages,
 * allocate nothing.
 *
 * <p>Not safe for several threads: belongs to whoever transmits.
 */
public final class FpduBatch {
    /** Most FPDUs. */
    public static final int MAX_FPDUS = 64;

    /** Payloads up to this are copied to the slab: cheaper than an entry of their own. */
    static final int INLINE_BYTES = 256;

    private static final int MAX_ENTRIES = 224;
    private static final int SLAB_BYTES = 24 * 1024;
    private static final int TARGET_BYTES = 512 * 1024;
    private static final int MAX_OVERHEAD_BYTES = 128;
    private static final ByteBuffer EMPTY = ByteBuffer.allocateDirect(0);

    private final ByteBuffer slab = ByteBuffer.allocateDirect(SLAB_BYTES);
    private final MemorySegment slabSegment = MemorySegment.ofBuffer(slab);
    private final ViewCache views = new ViewCache(MAX_ENTRIES);
    private final @Nullable ByteBuffer[] slabViews = new ByteBuffer[MAX_ENTRIES];

    private final ByteBuffer[] entries = new ByteBuffer[MAX_ENTRIES];
    private final @Nullable Region[] guards = new Region[MAX_ENTRIES];
    private final int[] stags = new int[MAX_ENTRIES];
    private final int[] fpduOf = new int[MAX_ENTRIES];
    private final boolean[] isSlab = new boolean[MAX_ENTRIES];
    private int entryCount;
    private int firstEntry;
    private boolean entered;
    private boolean fresh = true;

    private final long[] fpduEnds = new long[MAX_FPDUS];
    private final Object[] owners = new Object[MAX_FPDUS];
    private final boolean[] completes = new boolean[MAX_FPDUS];
    private final long[] fpduOffsets = new long[MAX_FPDUS];
    private int fpduCount;
    private int firstFpdu;

    private int slabUsed;
    private long bytes;
    private long accepted;
    private final BegunCopy begunCopy;
    private int firstGuarded;
    private @Nullable Object lostOwner;
    private long lostOffset;

    /**
     * Creates an empty batch; its slab is direct memory of about 24 KiB.
     *
     * @param copies where it takes memory when its sending is interrupted
     */
    public FpduBatch(CopyBuffers copies) {
        this.begunCopy = new BegunCopy(copies);
    }

    /** Whether all of it was accepted, or nothing was added. */
    public boolean isEmpty() {
        return accepted == bytes;
    }

    /** Whether another FPDU may be added; behind its header there is room for a piece of payload. */
    boolean hasRoom() {
        return bytes < TARGET_BYTES
                && fpduCount < MAX_FPDUS
                && entryCount < MAX_ENTRIES - 3
                && slabUsed < SLAB_BYTES - INLINE_BYTES - 2 * MAX_OVERHEAD_BYTES;
    }

    /** Whether the FPDU being added may get another piece of payload; the trailer has room in any case. */
    boolean hasRoomForPiece() {
        return entryCount < MAX_ENTRIES - 2 && slabUsed < SLAB_BYTES - INLINE_BYTES - MAX_OVERHEAD_BYTES;
    }

    /** Empties the batch for the next FPDUs. Everything must have been accepted. */
    void reset() {
        assert isEmpty() && !entered : "batch in use";
        entryCount = 0;
        firstEntry = 0;
        firstGuarded = 0;
        fpduCount = 0;
        firstFpdu = 0;
        slabUsed = 0;
        bytes = 0;
        accepted = 0;
        fresh = true;
        begunCopy.release();
    }

    /** The slab, for headers and trailers; written at {@link #slabPosition}, then taken by {@link #addSlab}. */
    ByteBuffer slab() {
        return slab;
    }

    /** The same memory, for copies. */
    MemorySegment slabSegment() {
        return slabSegment;
    }

    int slabPosition() {
        return slabUsed;
    }

    /** Adds the next bytes of the slab, joined to the entry before if that ends there. */
    void addSlab(int length) {
        boolean joins = endsAtSlabPosition();
        int from = slabUsed;
        slabUsed += length;
        bytes += length;
        if (joins) {
            entries[entryCount - 1].limit(slabUsed);
            return;
        }
        ByteBuffer view = slabViews[entryCount];
        if (view == null) {
            view = slab.duplicate();
            slabViews[entryCount] = view;
        }
        view.limit(slabUsed).position(from);
        isSlab[entryCount] = true;
        add(view, null, 0);
    }

    /** Adds the bytes of this FPDU, as far as it was added, to a CRC. */
    void addTo(Crc32c crc, int fromEntry, int fromPosition) {
        int from = fromPosition;
        for (int i = fromEntry; i < entryCount; i++) {
            crc.update(entries[i], from, entries[i].limit());
            from = i + 1 < entryCount ? entries[i + 1].position() : 0;
        }
    }

    /** Index of the entry that the next slab bytes will be in. */
    int entryOfNextSlab() {
        return endsAtSlabPosition() ? entryCount - 1 : entryCount;
    }

    private boolean endsAtSlabPosition() {
        return entryCount > firstEntry && isSlab[entryCount - 1] && entries[entryCount - 1].limit() == slabUsed;
    }

    /**
     * Adds memory of a region that the caller has entered under this STag; enters it for the batch too.
     */
    void addMemory(Region region, int stag, MemorySegment piece, long offset, int length) {
        ByteBuffer view = views.view(entryCount, piece, offset, length);
        region.enterAgain();
        entered = true;
        isSlab[entryCount] = false;
        add(view, region, stag);
        bytes += length;
    }

    private void add(ByteBuffer view, @Nullable Region guard, int stag) {
        entries[entryCount] = view;
        guards[entryCount] = guard;
        stags[entryCount] = stag;
        fpduOf[entryCount] = fpduCount;
        entryCount++;
    }

    /**
     * The FPDU being added is whole.
     *
     * @param owner the work request or Read Request it belongs to
     * @param offset offset of its payload in the message
     * @param last whether the owner's message ends with it
     */
    void endFpdu(Object owner, long offset, boolean last) {
        fpduEnds[fpduCount] = bytes;
        owners[fpduCount] = owner;
        fpduOffsets[fpduCount] = offset;
        completes[fpduCount] = last;
        fpduCount++;
    }

    private long startOf(int fpdu) {
        return fpdu == 0 ? 0 : fpduEnds[fpdu - 1];
    }

    /** Takes back what was added since the last whole FPDU; the slab is used again from this index on. */
    void dropUnfinished(int slabStart) {
        while (entryCount > 0 && fpduOf[entryCount - 1] == fpduCount) {
            entryCount--;
            Region guard = guards[entryCount];
            if (guard != null) {
                guard.leave();
            }
        }
        if (entryCount > 0 && isSlab[entryCount - 1]) {
            entries[entryCount - 1].limit(Math.min(entries[entryCount - 1].limit(), slabStart));
        }
        slabUsed = slabStart;
        bytes = startOf(fpduCount);
    }

    /** What to write: the entries from {@link #firstEntry} on, {@link #entriesLeft} of them. */
    public ByteBuffer[] entries() {
        return entries;
    }

    public int firstEntry() {
        return firstEntry;
    }

    public int entriesLeft() {
        return entryCount - firstEntry;
    }

    /** Bytes not yet accepted. */
    public long remaining() {
        return bytes - accepted;
    }

    /** The socket took bytes; {@link #nextCompleted} tells whose last one was among them. */
    public void accepted(long count) {
        accepted += count;
        while (firstEntry < entryCount && !entries[firstEntry].hasRemaining()) {
            firstEntry++;
        }
    }

    /** The next owner whose message has been accepted whole; null if there is no further one. */
    public @Nullable Object nextCompleted() {
        while (firstFpdu < fpduCount && fpduEnds[firstFpdu] <= accepted) {
            int fpdu = firstFpdu;
            firstFpdu++;
            Object owner = owners[fpdu];
            owners[fpdu] = EMPTY;
            if (completes[fpdu]) {
                return owner;
            }
        }
        return null;
    }

    /** Leaves all regions. Called after a write. */
    public void leaveAll() {
        fresh = false;
        if (entered) {
            leave(entryCount);
            entered = false;
        }
    }

    private void leave(int end) {
        for (int i = firstGuarded; i < end; i++) {
            Region guard = guards[i];
            if (guard != null) {
                guard.leave();
            }
        }
        firstGuarded = firstEntry;
    }

    /**
     * After a write that left something, while all is still entered: copies what remains of a begun FPDU out of registered memory.
     */
    public void copyOutBegun() {
        int begun = firstFpdu;
        while (begun < fpduCount && fpduEnds[begun] <= accepted) {
            begun++;
        }
        if (accepted == startOf(begun) || begun == fpduCount) {
            return;
        }
        for (int i = firstEntry; i < entryCount && fpduOf[i] <= begun; i++) {
            Region guard = guards[i];
            if (guard != null) {
                entries[i] = begunCopy.of(begun, entries[i]);
                guards[i] = null;
                guard.leave();
            }
        }
    }

    /** Whether a write was tried before, so that {@link #reenter} must come before the next. */
    public boolean mustReenter() {
        return !fresh;
    }

    /**
     * Enters all regions again for another write.
     *
     * @return true if all could be; else {@link #cut} has ended the batch before the first FPDU whose memory is gone, and {@link
     *     #lostOwner} and {@link #lostOffset} tell which
     */
    public boolean reenter() {
        firstGuarded = firstEntry;
        for (int i = firstEntry; i < entryCount; i++) {
            Region guard = guards[i];
            if (guard == null) {
                continue;
            }
            entered = true;
            if (!guard.reenter(stags[i])) {
                leave(i);
                entered = false;
                lostOwner = owners[fpduOf[i]];
                lostOffset = fpduOffsets[fpduOf[i]];
                cut(fpduOf[i]);
                return false;
            }
        }
        return true;
    }

    /** Whose memory was gone. */
    public @Nullable Object lostOwner() {
        return lostOwner;
    }

    /** From which offset of its message on. */
    public long lostOffset() {
        return lostOffset;
    }

    /** Drops what has not begun to leave, also an FPDU left unfinished: the rest is at most one FPDU, copied out already. */
    public void cutAfterBegun() {
        cut(accepted == startOf(firstFpdu) || firstFpdu == fpduCount ? firstFpdu : firstFpdu + 1);
    }

    /** Copies what is left into a buffer of its own. Only after {@link #cutAfterBegun}. */
    public void copyRest(ByteBuffer target) {
        for (int i = firstEntry; i < entryCount; i++) {
            target.put(entries[i]);
        }
        accepted = bytes;
        views.clear();
        begunCopy.release();
    }

    private void cut(int firstDropped) {
        long left = Math.max(0, startOf(firstDropped) - accepted);
        bytes = accepted + left;
        fpduCount = firstDropped;
        for (int i = firstEntry; i < entryCount; i++) {
            int take = (int) Math.min(left, (long) entries[i].remaining());
            entries[i].limit(entries[i].position() + take);
            left -= take;
            if (left == 0) {
                clearGuards(take == 0 ? i : i + 1);
                entryCount = take == 0 ? i : i + 1;
            }
        }
    }

    private void clearGuards(int from) {
        for (int i = from; i < entryCount; i++) {
            guards[i] = null;
        }
    }
}
