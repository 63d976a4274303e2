// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.WorkCompletion;

/**
 * Four bytes that the peer may write as long as the connection lasts; what it writes there is never looked at. Registered once, then
 * the last segment of every Write chunk that needs padding. Its listener is told once, that it is ready or why it will not be. Inside
 * the monitor.
 */
public final class WritePad {

    /** What comes of a pad. */
    public interface Listener {

        /** It may be offered. */
        void onReady();

        /** It cannot be registered. */
        void onFailed(String reason);
    }

    private static final int PAD_BYTES = 4;

    private final MemorySegment memory = Arena.ofAuto().allocate(PAD_BYTES, PAD_BYTES);
    private final Registrar registrar;
    private final RegionLink link;
    private final Listener listener;
    private final RegionList list;
    private boolean told;

    WritePad(Registrar registrar, RegionLink link, Listener listener) {
        this.registrar = registrar;
        this.link = link;
        this.listener = listener;
        list = registrar.newList(this::register);
    }

    /** The handle of its segment. */
    public int handle() {
        return list.handle(0);
    }

    /** The offset of its segment. */
    public long offset() {
        return list.offset(0);
    }

    void register() {
        switch (registrar.map(List.of(memory), PeerAccess.WRITE, 0, list)) {
            case MapResult.Mapped mapped -> post();
            case MapResult.NoRegions none -> {}
            case MapResult.Failed failed -> tellFailure(failed.reason());
            case MapResult.Ending ending -> tellFailure("the connection is ending");
            case MapResult.TooManySegments tooMany -> throw new AssertionError(tooMany);
        }
    }

    private void post() {
        List<RegisterRequest> chain = new ArrayList<>(1);
        registrar.appendRegistrations(list, chain);
        chain.getFirst().signaled(true);
        link.post(new Outbox.Entry() {
            @Override
            public List<RegisterRequest> chain() {
                return chain;
            }

            @Override
            public void onRefused(PostResult.Refused refused) {
                registrar.onRefused(chain, refused.firstBad());
                registrar.unmap(list);
                tellFailure(refused.detail());
            }
        });
    }

    void onCompletion(Region region, WorkCompletion completion) {
        if (region.owner() != list || told) {
            return;
        }
        if (completion.isSuccess()) {
            told = true;
            listener.onReady();
        } else {
            tellFailure(completion.status().description());
        }
    }

    void connectionEnding() {
        tellFailure("the connection is ending");
    }

    private void tellFailure(String reason) {
        if (!told) {
            told = true;
            listener.onFailed(reason);
        }
    }

    @Override
    public String toString() {
        return "write pad, " + list;
    }
}
