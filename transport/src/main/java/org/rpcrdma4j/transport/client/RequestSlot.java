// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientEvents;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.frwr.Fence;
import org.rpcrdma4j.transport.frwr.RegionList;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

/**
 * What one call in flight needs of its connection: a send buffer, a list of regions, and the work requests of one post. Lives as long as
 * the connection and serves one call after another.
 *
 * <p><b>Owners.</b> Two at a time: the call, until its regions are shut, and the Send, until its completion. Only when both have let go is
 * the slot free, since the device may read the send buffer until then, even after the reply has come.
 *
 * <p>Chain and Send are there twice, used in turn: a thread that posts one may still be looking at it when its reply has already freed the
 * slot. Posts are made one after the other, so by the time the same one is used again that thread has left.
 *
 * <p>Used inside the monitor.
 */
final class RequestSlot implements Fence {

    private final ClientConnection connection;
    private final int index;
    private final MemorySegment buffer;
    private final long bufferOffset;
    private final RegionList regions;
    private final Transmission[] transmissions = {new Transmission(), new Transmission()};
    private int generation;
    private @Nullable ClientCall call;
    private boolean sendOutstanding;
    private int regionsToShut;

    RequestSlot(ClientConnection connection, int index, int sendBuffer) {
        this.connection = connection;
        this.index = index;
        buffer = connection.endpoint().sendMemory(sendBuffer);
        bufferOffset = connection.endpoint().sendOffset(sendBuffer);
        regions = connection.registrar().newList(connection::onRegionsAvailable);
    }

    /** Where header and inline bytes are built. */
    MemorySegment buffer() {
        return buffer;
    }

    /** The regions of the call, one for each segment that it offers. */
    RegionList regions() {
        return regions;
    }

    /** The call that owns it; null if none does. */
    @Nullable
    ClientCall call() {
        return call;
    }

    /** Whether neither call nor Send needs it. */
    boolean isFree() {
        return call == null && !sendOutstanding;
    }

    /** Whether the Send has no completion yet. */
    boolean isSendOutstanding() {
        return sendOutstanding;
    }

    /** The call takes it: hands the chain to the send queue, registrations first, then the Send of so many bytes of the buffer. */
    void post(ClientCall newCall, int length) {
        call = newCall;
        newCall.slot(this);
        generation++;
        Transmission transmission = transmissions[generation & 1];
        transmission.chain.clear();
        // ORDER: registrations before the Send in the same queue, so that the server meets them in effect.
        connection.registrar().appendRegistrations(regions, transmission.chain);
        transmission.send.clearSges();
        transmission
                .send
                .id(WorkIds.of(WorkIds.Kind.SEND, generation, index))
                .sge(connection.endpoint().sendRegion(), bufferOffset, length);
        transmission.chain.add(transmission.send);
        sendOutstanding = true;
        TransportEvents.postSend(connection.label(), transmission.send.id(), newCall.xid(), 1, length, true, 0);
        connection.endpoint().post(transmission);
    }

    /** The call has ended, with or without a reply: its memory is shut, and {@link Requester#onFenced} follows, perhaps at once. */
    void shut(boolean givenUp) {
        regionsToShut = givenUp ? regions.size() : 0;
        if (regions.isEmpty()) {
            fenced();
        } else if (givenUp) {
            connection.registrar().giveUp(regions, this);
        } else {
            connection.registrar().invalidate(regions, this);
        }
    }

    /** The call's memory is shut. */
    @Override
    public void fenced() {
        ClientCall ended = call;
        if (ended != null) {
            if (regionsToShut > 0) {
                ClientEvents.cancelledCallFenced(connection.label(), ended.xid(), regionsToShut, false);
            }
            call = null;
            ended.slot(null);
            connection.requester().onFenced(ended);
            connection.onSlotLetGo(this);
        }
    }

    /** The call's memory is shut by the connection's end: the call hears of it with all others of the connection. */
    @Override
    public void connectionLost() {}

    /** The connection is over and the call hears of it now. */
    void abandon() {
        ClientCall lost = call;
        if (lost != null) {
            if (lost.state() == ClientCall.State.GIVEN_UP) {
                ClientEvents.cancelledCallFenced(connection.label(), lost.xid(), regionsToShut, true);
            }
            call = null;
            lost.slot(null);
        }
        sendOutstanding = false;
    }

    /** The Send has its completion. */
    void onSendCompleted(long id) {
        if (sendOutstanding && WorkIds.isOfGeneration(id, generation)) {
            sendOutstanding = false;
            connection.onSlotLetGo(this);
        }
    }

    @Override
    public String toString() {
        return "slot " + index + " of " + call + (sendOutstanding ? ", Send outstanding" : "");
    }

    /** One post. */
    private final class Transmission implements Outbox.Entry {

        private final ArrayList<SendQueueRequest> chain = new ArrayList<>();
        private final SendRequest send = new SendRequest();

        @Override
        public List<SendQueueRequest> chain() {
            return chain;
        }

        @Override
        public void onRefused(PostResult.Refused refused) {
            // The Send is the last of the chain, so it was not posted.
            sendOutstanding = false;
            connection.onPostRefused(chain, refused);
        }
    }
}
