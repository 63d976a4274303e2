// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.RegisterRequest;

/**
 * One region of a connection: the device's handle, what is known of its registration, and who has it. For its two parts, state and
 * custody, see the package.
 *
 * <p>The work requests of two uses in turn have objects of their own: the device may still be looking at one while its post returns,
 * though its completion is there already. Posts are done one after the other, so the completions of the next use tell that the post
 * of this one has returned.
 *
 * <p>Touched inside the monitor only; the recovery worker has the device's handle while custody is {@link Custody#RECOVERY}.
 */
public final class Region {

    private final int index;
    private final RegisterRequest[] registrations = {new RegisterRequest(), new RegisterRequest()};
    private final LocalInvalidateRequest[] invalidations = {new LocalInvalidateRequest(), new LocalInvalidateRequest()};
    private FastRegion fast;
    private RegionState state = RegionState.INVALID;
    private Custody custody = Custody.FREE;
    private int generation;
    private int registrationCount;
    private int key;
    private long offset;
    private long length;
    private PeerAccess peerAccess = PeerAccess.READ;
    private int xid;
    private int pieces;
    private @Nullable RegionList owner;
    private @Nullable InvalidationChain invalidation;

    Region(int index, FastRegion fast) {
        this.index = index;
        this.fast = fast;
    }

    /** Its number on the connection; in the id of its work requests. */
    public int index() {
        return index;
    }

    /** What is known of its registration. */
    public RegionState state() {
        return state;
    }

    /** Who has it. */
    public Custody custody() {
        return custody;
    }

    /** The number of its present or last use, unlike that of any other use of any region of the connection. */
    public int generation() {
        return generation;
    }

    /** The key under which the peer reaches it in this use: the handle of a segment. */
    public int handle() {
        return key;
    }

    /** The address of its first byte as the peer names it: the offset of a segment. */
    public long offset() {
        return offset;
    }

    /** Bytes mapped in this use. */
    public long length() {
        return length;
    }

    /** What the peer may do in this use. */
    public PeerAccess peerAccess() {
        return peerAccess;
    }

    /** The device's handle; another one after each recovery. */
    public FastRegion device() {
        return fast;
    }

    int xid() {
        return xid;
    }

    int pieces() {
        return pieces;
    }

    @Nullable
    RegionList owner() {
        return owner;
    }

    RegionList requireOwner() {
        return Objects.requireNonNull(owner, "a region that is in use has an owner");
    }

    @Nullable
    InvalidationChain invalidation() {
        return invalidation;
    }

    boolean isOfGeneration(long workId) {
        return WorkIds.isOfGeneration(workId, generation);
    }

    /** A list has taken it and memory was mapped: the key for this use is drawn. */
    void mapped(RegionList list, PeerAccess access, int newGeneration, int forXid, int pieceCount) {
        require(Custody.FREE, RegionState.INVALID);
        custody = Custody.MAPPING;
        owner = list;
        peerAccess = access;
        generation = newGeneration;
        xid = forXid;
        pieces = pieceCount;
        key = fast.advanceKey();
        offset = fast.remoteAddress();
        length = fast.length();
    }

    /** The work request that registers it; from now on it may be open. */
    RegisterRequest register() {
        require(Custody.MAPPING, RegionState.INVALID);
        custody = Custody.REGISTERED;
        state = RegionState.VALID;
        registrationCount++;
        RegisterRequest request = registrations[registrationCount & 1];
        return request.id(WorkIds.of(WorkIds.Kind.REGISTER, generation, index))
                .region(fast, key)
                .access(peerAccess.access())
                .scope(RegisterRequest.Scope.QUEUE_PAIR)
                .signaled(false);
    }

    /** The registration was not posted and will not be. */
    void notRegistered() {
        require(Custody.REGISTERED, RegionState.VALID);
        custody = Custody.MAPPING;
        state = RegionState.INVALID;
    }

    /** The work request that invalidates it, as one of the chain. The state waits for the completion. */
    LocalInvalidateRequest invalidate(InvalidationChain chain) {
        require(Custody.REGISTERED, RegionState.VALID);
        invalidation = chain;
        return invalidations[registrationCount & 1]
                .id(WorkIds.of(WorkIds.Kind.INVALIDATE, generation, index))
                .key(key)
                .signaled(true);
    }

    /** The invalidation has ended, or was taken back. */
    void leaveInvalidation() {
        invalidation = null;
    }

    /** Shut, by us or by the peer. */
    void invalidated() {
        state = RegionState.INVALID;
    }

    /** A work request of it failed or was flushed. What the peer has invalidated stays so. */
    void failed() {
        if (custody == Custody.REGISTERED && state == RegionState.VALID) {
            state = RegionState.STALE;
        }
    }

    /** Handed to the recovery worker. Its owner waits. */
    void toRecovery() {
        custody = Custody.RECOVERY;
        state = RegionState.STALE;
        invalidation = null;
    }

    /** Recovered: a new handle, which no earlier work request and no peer knows. */
    void renew(FastRegion fresh) {
        require(Custody.RECOVERY, RegionState.STALE);
        fast = fresh;
        free();
    }

    /** Shut and without memory. */
    void free() {
        state = RegionState.INVALID;
        custody = Custody.FREE;
        owner = null;
        invalidation = null;
        length = 0;
    }

    /** Could not be deregistered: nobody uses it any more, but its list waits for the connection's end. */
    void orphaned() {
        custody = Custody.GONE;
    }

    /** Given back to the device. */
    void gone() {
        custody = Custody.GONE;
        owner = null;
        invalidation = null;
    }

    /** What every free region is: shut, in nobody's list, named by no work request. */
    void requireFree() {
        require(Custody.FREE, RegionState.INVALID);
        if (owner != null || invalidation != null) {
            throw new AssertionError(this + " should belong to nobody");
        }
    }

    private void require(Custody wantedCustody, RegionState wantedState) {
        if (custody != wantedCustody || state != wantedState) {
            throw new AssertionError(this + " should be " + wantedCustody + " and " + wantedState);
        }
    }

    @Override
    public String toString() {
        return "region " + index + " " + state + "/" + custody + " use " + generation + " handle 0x"
                + Integer.toHexString(key) + " " + length + " bytes at 0x" + Long.toHexString(offset) + " for "
                + peerAccess
                + (invalidation == null ? "" : ", being invalidated");
    }
}
