// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ClientEvents;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.RegionTransition;

/** What is counted and told of the regions of one connection. Any thread. */
final class RegionJournal {

    private final Counters<ClientCounter> counters;
    private final ConnectionLabel label;

    RegionJournal(Counters<ClientCounter> counters, ConnectionLabel label) {
        this.counters = counters;
        this.label = label;
    }

    void count(ClientCounter counter) {
        counters.increment(counter);
    }

    void count(ClientCounter counter, long number) {
        counters.add(counter, number);
    }

    void changed(Region region, RegionTransition transition) {
        tell(region, transition, 0);
    }

    void posted(Region region, RegionTransition transition, WorkIds.Kind kind) {
        tell(region, transition, WorkIds.of(kind, region.generation(), region.index()));
    }

    private void tell(Region region, RegionTransition transition, long workId) {
        ClientEvents.regionState(
                label,
                transition,
                region.index(),
                region.generation(),
                workId,
                region.xid(),
                region.pieces(),
                region.handle(),
                region.length(),
                region.offset(),
                region.peerAccess() == PeerAccess.WRITE);
    }

    void exhausted(int xid) {
        count(ClientCounter.REGIONS_EXHAUSTED);
        ClientEvents.regionsExhausted(label, xid);
    }

    void allocationFailed(int existing, String detail) {
        count(ClientCounter.REGION_ALLOCATION_FAILURES);
        ClientEvents.regionAllocationFailed(label, existing, detail);
    }

    void orphaned(String detail) {
        count(ClientCounter.REGIONS_ORPHANED);
        ClientEvents.regionReleaseFailed(label, 0, detail);
    }

    void mapFailed(Region region, int xid, int pieces, String detail) {
        count(ClientCounter.REGION_MAP_FAILURES);
        ClientEvents.regionMapFailed(label, region.index(), xid, pieces, 0, detail);
    }

    @Override
    public String toString() {
        return label.toString();
    }
}
