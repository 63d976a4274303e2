// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.ArrayDeque;
import org.rpcrdma4j.verbs.QueuePair.State;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** Takes the packets of the peer in order, checks each against the regions as they are at that moment, and places it. */
final class Inbound {

    private final SimQueuePair queuePair;
    private final SimulatedDevice device;
    private final Outbound outbound;
    private final ArrayDeque<Packet> packets = new ArrayDeque<>();
    private int maxReads;

    Inbound(SimQueuePair queuePair, Outbound outbound) {
        this.queuePair = queuePair;
        this.outbound = outbound;
        device = queuePair.device();
    }

    void limitReads(int limit) {
        maxReads = limit;
    }

    void arrive(Packet packet) {
        packets.add(packet);
    }

    boolean hasPacket() {
        return !packets.isEmpty();
    }

    void clear() {
        packets.clear();
    }

    /** Loses what the wire held from some packet on. */
    void dropSome() {
        int kept = packets.isEmpty() ? 0 : device.network().random().nextInt(packets.size() + 1);
        while (packets.size() > kept) {
            packets.removeLast();
        }
    }

    void deliver() {
        switch (packets.remove()) {
            case Packet.Send send -> takeMessage(send);
            case Packet.Write write -> takeWrite(write);
            case Packet.ReadRequest request -> takeReadRequest(request);
            case Packet.ReadResponse response -> takeReadResponse(response);
            case Packet.Accept accept -> {
                queuePair.connection.join(accept.from());
                queuePair.connection.establish(
                        accept.options().privateData(),
                        accept.options().inboundReads(),
                        accept.options().outboundReads());
            }
            case Packet.Fin fin -> {
                Cause cause = queuePair.state() == State.CLOSING ? Cause.LOCAL_CLOSE : Cause.REMOTE_CLOSE;
                Packet answer = queuePair.connection.isFinSent() ? null : fin;
                queuePair.connection.end(cause, "orderly end", null, answer);
            }
            case Packet.Reset reset -> queuePair.connection.end(Cause.CONNECTION_LOST, reset.toString(), null, null);
            case Packet.Terminate terminate -> takeTerminate(terminate);
        }
    }

    private void takeTerminate(Packet.Terminate terminate) {
        device.count("terminatesReceived");
        WorkEntry read = outbound.oldestRead();
        if (read != null && terminate.refusesRead()) {
            read.end(Status.REMOTE_ACCESS_ERROR);
        }
        queuePair.connection.end(
                Cause.REMOTE_ERROR, terminate.report().description(), terminate.report(), new Packet.Reset());
    }

    private void refuse(int layer, int type, int code, String description) {
        outbound.terminate(Outbound.report(layer, type, code, description, false), false);
    }

    private void takeMessage(Packet.Send send) {
        WorkEntry receive = queuePair.receives.head();
        if (receive == null) {
            refuse(1, 2, 2, "a message, but no Receive is posted");
            return;
        }
        if (send.offset() + send.payload().length > receive.totalBytes) {
            receive.end(Status.LOCAL_LENGTH_ERROR);
            refuse(1, 2, 5, "a message longer than the Receive's " + receive.totalBytes + " bytes");
            return;
        }
        if (send.payload().length > 0) {
            if (!receive.admits(queuePair, true)) {
                receive.end(Status.LOCAL_PROTECTION_ERROR);
                refuse(1, 0, 0, "a Receive whose memory may not be written");
                return;
            }
            receive.scatter(send.offset(), send.payload());
            receive.progress += send.payload().length;
        }
        if (send.isLast()) {
            deliverMessage(send, receive);
        }
    }

    private void deliverMessage(Packet.Send send, WorkEntry receive) {
        if (!receive.begin(device.options().faults()) && receive.failure != null) {
            outbound.fail(receive, receive.failure.status());
            return;
        }
        receive.solicited = send.solicited();
        if (send.invalidates()) {
            // ORDER: the region is invalid before the Receive completes (O7).
            SimRegion named = device.regions().find(send.invalidateKey());
            boolean done =
                    named instanceof SimFastRegion region && region.invalidateRemotely(queuePair, send.invalidateKey());
            if (!done) {
                receive.end(Status.REMOTE_INVALID_REQUEST_ERROR);
                refuse(0, named == null ? 2 : 1, 9, "an invalidation that is not the peer's to ask for");
                return;
            }
            device.count("remoteInvalidations");
            receive.invalidates = true;
            receive.invalidateKey = send.invalidateKey();
        }
        queuePair.receives.executed();
        queuePair.succeed(receive);
    }

    private void takeWrite(Packet.Write write) {
        int count = write.payload().length;
        if (count == 0) {
            return;
        }
        SimRegion region = device.regions().find(write.key());
        AccessFault fault = region == null
                ? AccessFault.UNKNOWN_KEY
                : region.refusal(queuePair, write.key(), write.address(), count, true);
        if (region == null || fault != null) {
            AccessFault found = fault == null ? AccessFault.UNKNOWN_KEY : fault;
            refuse(1, 1, found.ddpCode, "RDMA Write: " + found.description);
            return;
        }
        region.pieces.copyIn(write.address() - region.remoteAddress, write.payload(), 0, count);
    }

    private void takeReadRequest(Packet.ReadRequest request) {
        if (outbound.answersOpen() >= maxReads) {
            refuse(1, 2, 2, "more RDMA Reads at a time than the agreed " + maxReads);
            return;
        }
        outbound.answer(request);
    }

    private void takeReadResponse(Packet.ReadResponse response) {
        WorkEntry read = outbound.oldestRead();
        if (read == null) {
            refuse(0, 2, 6, "an answer to no RDMA Read");
            return;
        }
        if (response.payload().length > 0) {
            if (!read.admits(queuePair, true)) {
                read.end(Status.LOCAL_PROTECTION_ERROR);
                refuse(1, 1, 0, "RDMA Read Response: the sink may not be written any more");
                return;
            }
            read.scatter(response.offset(), response.payload());
            read.progress += response.payload().length;
        }
        if (response.isLast()) {
            outbound.readIsComplete();
            queuePair.succeed(read);
        }
    }

    @Override
    public String toString() {
        return packets.size() + " packets arrived";
    }
}
