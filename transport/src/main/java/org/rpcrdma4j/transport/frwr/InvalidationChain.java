// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult;

/**
 * One call's invalidations, handed to the send queue as one chain, all of them signaled. Regions and work requests are kept side by
 * side: what was not posted is found by its place in the chain, not by searching a key.
 */
final class InvalidationChain implements Outbox.Entry {

    private final Invalidations invalidations;
    private final ArrayList<LocalInvalidateRequest> requests = new ArrayList<>();
    private final ArrayList<Region> regions = new ArrayList<>();
    private int outstanding;
    private long handedOverAt;

    InvalidationChain(Invalidations invalidations) {
        this.invalidations = invalidations;
    }

    void begin() {
        requests.clear();
        regions.clear();
        outstanding = 0;
    }

    void add(Region region) {
        requests.add(region.invalidate(this));
        regions.add(region);
        outstanding++;
    }

    int size() {
        return regions.size();
    }

    Region region(int index) {
        return regions.get(index);
    }

    /** It goes to the outbox after so many completions. */
    void handedOver(long completions) {
        handedOverAt = completions;
    }

    /** How many completions there were when it went to the outbox. */
    long handedOverAt() {
        return handedOverAt;
    }

    /** One of it has its completion. Returns whether it was the last. */
    boolean completed() {
        return --outstanding == 0;
    }

    /** Takes a region out that is not to be invalidated, before the chain is posted. */
    void withdraw(Region region) {
        int place = regions.indexOf(region);
        regions.remove(place);
        requests.remove(place);
        outstanding--;
    }

    /** Drops the first ones, which were posted; what is left is to be posted again. */
    void keepFrom(int firstBad) {
        requests.subList(0, firstBad).clear();
        regions.subList(0, firstBad).clear();
    }

    @Override
    public List<LocalInvalidateRequest> chain() {
        return requests;
    }

    @Override
    public void onRefused(PostResult.Refused refused) {
        invalidations.onRefused(this, refused);
    }
}
