// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

/** One call: memory for the peer to read and to write, registered, sent, and shut again. Checks at its fence that all is shut. */
final class TestCall implements Fence, Outbox.Entry {

    /** What the peer was told, and the region behind it. */
    record Told(Segment segment, PeerAccess access, FastRegion region, Region owner) {}

    private static final int WORDS_OF_A_SEGMENT = 5;

    final Caller caller;
    final int xid;
    final RegionList list;
    final List<Told> told = new ArrayList<>();
    final List<MemorySegment> written = new ArrayList<>();
    List<SendQueueRequest> chain = new ArrayList<>();
    private List<MemorySegment> reads = List.of();
    private List<MemorySegment> writes = List.of();

    @Nullable
    MapResult result;

    boolean sent;
    boolean replied;
    boolean wasWoken;
    boolean resumes;
    int fencedCount;
    int lostCount;
    int wakes;
    Runnable whenOver = () -> {};
    private byte[] atTheEnd = {};

    TestCall(Caller caller, int xid) {
        this.caller = caller;
        this.xid = xid;
        caller.monitor.enter();
        try {
            list = caller.newList();
        } finally {
            caller.monitor.leave();
        }
    }

    /** Maps and sends; if there are no regions, does so again when it is woken. */
    TestCall send(List<MemorySegment> forReads, List<MemorySegment> forWrites) {
        reads = forReads;
        writes = forWrites;
        resumes = true;
        caller.monitor.run(this::attempt);
        return this;
    }

    /** Maps only. */
    @Nullable
    MapResult map(List<MemorySegment> pieces, PeerAccess access) {
        caller.monitor.run(() -> result = caller.registrar.map(pieces, access, xid, list));
        return result;
    }

    TestCall(Caller caller, int xid, RegionList list) {
        this.caller = caller;
        this.xid = xid;
        this.list = list;
    }

    void onWake() {
        wakes++;
        wasWoken = true;
        if (resumes) {
            attempt();
        }
    }

    private void attempt() {
        result = reads.isEmpty() ? MapResult.Mapped.of(0) : caller.registrar.map(reads, PeerAccess.READ, xid, list);
        if (result.isMapped() && !writes.isEmpty()) {
            result = caller.registrar.map(writes, PeerAccess.WRITE, xid, list);
        }
        if (result.isMapped()) {
            post();
        }
    }

    private void post() {
        int buffer = caller.endpoint.takeSendBuffer();
        assertThat(buffer).as("send buffer").isNotNegative();
        MemorySegment message = caller.endpoint.sendMemory(buffer);
        Caller.putWord(message, 0, xid);
        Caller.putWord(message, 1, list.size());
        told.clear();
        for (int i = 0; i < list.size(); i++) {
            Region region = list.region(i);
            told.add(new Told(
                    new Segment(list.handle(i), (int) list.length(i), list.offset(i)),
                    region.peerAccess(),
                    region.device(),
                    region));
            int at = 2 + i * WORDS_OF_A_SEGMENT;
            Caller.putWord(message, at, region.peerAccess() == PeerAccess.WRITE ? 1 : 0);
            Caller.putWord(message, at + 1, list.handle(i));
            Caller.putWord(message, at + 2, (int) list.length(i));
            Caller.putWord(message, at + 3, (int) (list.offset(i) >>> 32));
            Caller.putWord(message, at + 4, (int) list.offset(i));
        }
        written.clear();
        written.addAll(writes);
        chain = new ArrayList<>();
        caller.registrar.appendRegistrations(list, chain);
        chain.add(new SendRequest()
                .id(WorkIds.of(WorkIds.Kind.SEND, 0, buffer))
                .sge(
                        caller.endpoint.sendRegion(),
                        caller.endpoint.sendOffset(buffer),
                        4L * (2 + list.size() * WORDS_OF_A_SEGMENT)));
        sent = true;
        caller.expectReply(this);
        caller.post(this);
    }

    @Override
    public List<SendQueueRequest> chain() {
        return chain;
    }

    @Override
    public void onRefused(PostResult.Refused refused) {
        caller.registrar.onRefused(chain, refused.firstBad());
        SendQueueRequest last = chain.getLast();
        caller.endpoint.returnSendBuffer(WorkIds.index(last.id()));
        caller.onRefusedSend(refused);
        if (!isOver() && !list.isFencing()) {
            caller.registrar.giveUp(list, this);
        }
    }

    void onReply() {
        replied = true;
        if (!isOver() && !list.isFencing()) {
            caller.registrar.invalidate(list, this);
        }
    }

    void giveUp() {
        caller.monitor.run(() -> caller.registrar.giveUp(list, this));
    }

    void onDisconnected() {
        if (sent && !isOver() && !list.isFencing()) {
            caller.registrar.invalidate(list, this);
        }
    }

    /** Whether its fence was told. */
    boolean isOver() {
        return fencedCount + lostCount > 0;
    }

    @Override
    public void fenced() {
        fencedCount++;
        end();
    }

    @Override
    public void connectionLost() {
        lostCount++;
        if (caller.count(ClientCounter.REGIONS_ORPHANED) == 0) {
            assertThat(told).as("the device has ended its leases").allMatch(each -> each.region.length() == 0);
        }
        end();
    }

    private void end() {
        assertThat(caller.monitor.isHeld()).as("inside the monitor").isTrue();
        assertThat(fencedCount + lostCount).as("fence told once: %s", this).isEqualTo(1);
        assertThat(list.isEmpty()).as("list is empty: %s", this).isTrue();
        checkShut();
        atTheEnd = writtenBytes();
        whenOver.run();
    }

    /** No handle that the peer was told opens anything: the region is shut, or the queue pair that it is open to is closed. */
    void checkShut() {
        if (caller.isQueuePairClosed) {
            return;
        }
        for (Told each : told) {
            boolean open = each.region.isValid() && each.region.remoteKey() == each.segment.handle();
            assertThat(open).as("handle %s of %s is open", each.segment, this).isFalse();
        }
    }

    /** No byte has changed since the fence. */
    void checkUnchanged() {
        if (isOver()) {
            assertThat(Arrays.equals(writtenBytes(), atTheEnd))
                    .as("memory changed after the fence: %s", this)
                    .isTrue();
        }
    }

    private byte[] writtenBytes() {
        long length = written.stream().mapToLong(MemorySegment::byteSize).sum();
        byte[] all = new byte[Math.toIntExact(length)];
        int at = 0;
        for (MemorySegment piece : written) {
            MemorySegment.copy(piece, ValueLayout.JAVA_BYTE, 0, all, at, (int) piece.byteSize());
            at += (int) piece.byteSize();
        }
        return all;
    }

    Segment segment(int index) {
        return told.get(index).segment;
    }

    @Override
    public String toString() {
        return "call " + Integer.toHexString(xid) + " " + result + (sent ? ", sent" : "") + (replied ? ", replied" : "")
                + ", fenced " + fencedCount + ", lost " + lostCount + ", " + list;
    }
}
