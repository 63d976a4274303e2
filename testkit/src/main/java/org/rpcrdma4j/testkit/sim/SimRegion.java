// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.MemoryRegion;

/** A region of either kind. Keys are an index of 24 bits, which is the region's for its life, and 8 bits that its owner chooses. */
abstract sealed class SimRegion implements MemoryRegion permits SimPlainRegion, SimFastRegion {

    final SimulatedDevice device;
    final SimProtectionDomain domain;
    final int index;

    int key;
    Pieces pieces = Pieces.NONE;
    long remoteAddress;
    Access access = Access.LOCAL_READ;
    boolean isValid;
    boolean isClosed;
    private boolean isOrphan;

    /** Entries of work requests that are outstanding and name this region. */
    int users;

    /** The only queue pair that may use it; null for all of the domain. */
    @Nullable
    SimQueuePair scope;

    SimRegion(SimProtectionDomain domain, int index, int key) {
        this.domain = domain;
        this.device = domain.device();
        this.index = index;
        this.key = key;
    }

    @Override
    public SimProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int remoteKey() {
        return key;
    }

    @Override
    public long remoteAddress() {
        return remoteAddress;
    }

    @Override
    public long length() {
        return pieces.length();
    }

    @Override
    public Access access() {
        return access;
    }

    @Override
    public boolean isValid() {
        return isValid;
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        if (device.options().faults().failsDeregistration()) {
            isOrphan = true;
            throw new IllegalStateException("injected fault: " + this + " was not deregistered");
        }
        deregister();
    }

    /** Deregisters, whatever faults there are. */
    final void deregister() {
        isClosed = true;
        isValid = false;
        if (users > 0) {
            device.network().violation(this + " was closed while " + users + " outstanding entries name it");
        }
        device.network().spend(device.options().faults().deregistrationNanos());
        endLease();
        domain.remove(this);
    }

    final void endLease() {
        if (!pieces.isAlive() && !isOrphan) {
            device.network().violation("memory of " + this + " was freed while it was leased");
        }
        device.unleased(pieces);
        pieces = Pieces.NONE;
    }

    /** Whether a local operation of the queue pair may use the range. */
    final boolean admitsLocal(SimQueuePair user, long offset, long count, boolean writing) {
        return isValid
                && domain == user.protectionDomain()
                && (scope == null || scope == user)
                && (!writing || access.localWrite())
                && offset <= pieces.length()
                && count <= pieces.length() - offset
                && checkAlive();
    }

    /** Why the peer of the queue pair may not use the range; null if it may. */
    final @Nullable AccessFault refusal(SimQueuePair user, int usedKey, long address, long count, boolean writing) {
        if (!isValid || usedKey != key) {
            return AccessFault.UNKNOWN_KEY;
        }
        if (domain != user.protectionDomain() || (scope != null && scope != user)) {
            return AccessFault.FOREIGN;
        }
        if (writing ? !access.remoteWrite() : !access.remoteRead()) {
            return AccessFault.RIGHTS;
        }
        if (Long.compareUnsigned(address + count - 1, address) < 0) {
            return AccessFault.WRAP;
        }
        long offset = address - remoteAddress;
        if (Long.compareUnsigned(offset, pieces.length()) > 0 || count > pieces.length() - offset) {
            return AccessFault.OUT_OF_BOUNDS;
        }
        return checkAlive() ? null : AccessFault.UNKNOWN_KEY;
    }

    private boolean checkAlive() {
        if (pieces.isAlive()) {
            return true;
        }
        device.network().violation("memory of " + this + " was freed while it is leased");
        return false;
    }

    @Override
    public String toString() {
        return "region " + Integer.toHexString(index) + " of " + device.name();
    }
}
