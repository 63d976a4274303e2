// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.QueuePair.State;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;
import org.rpcrdma4j.verbs.cm.ErrorReport;
import org.rpcrdma4j.verbs.cm.Octets;

/**
 * Executes the send queue of one queue pair piece by piece, and answers the peer's RDMA Reads. The two go side by side; each is in
 * order by itself.
 */
final class Outbound {

    private static final long WATCHED_BYTES = 65_536;

    /** A Read of the peer that is being answered. */
    private static final class Answer {
        private final Packet.ReadRequest request;
        private long progress;

        Answer(Packet.ReadRequest request) {
            this.request = request;
        }
    }

    private final SimQueuePair queuePair;
    private final SimulatedDevice device;
    private final ArrayDeque<WorkEntry> openReads = new ArrayDeque<>();
    private final ArrayDeque<Answer> answers = new ArrayDeque<>();

    Outbound(SimQueuePair queuePair) {
        this.queuePair = queuePair;
        device = queuePair.device();
    }

    boolean canExecute() {
        WorkEntry head = queuePair.sends.head();
        if (head == null) {
            return queuePair.state() == State.CLOSING
                    && !queuePair.connection.isFinSent()
                    && openReads.isEmpty()
                    && answers.isEmpty();
        }
        if (head.fence && !openReads.isEmpty()) {
            return false;
        }
        // RFC 5040, Section 5.5, rule 13: what stands behind a Read that waits for a place waits too.
        return head.operation != Operation.RDMA_READ || openReads.size() < queuePair.connection.outboundReads();
    }

    void execute() {
        WorkEntry head = queuePair.sends.head();
        if (head == null) {
            queuePair.connection.sendFin();
            return;
        }
        if (!head.begin(device.options().faults()) && head.failure != null) {
            fail(head, head.failure.status());
            return;
        }
        switch (head.operation) {
            case SEND, RDMA_WRITE -> sendPiece(head);
            case RDMA_READ -> askForRead(head);
            case REGISTER -> finish(head, register(head));
            case LOCAL_INVALIDATE -> finish(head, invalidate(head));
            case RECEIVE -> throw new AssertionError(head.operation);
        }
    }

    private boolean register(WorkEntry entry) {
        device.count("registrations");
        SimFastRegion region = entry.registered;
        return region != null && region.register(queuePair, entry.newKey, entry.access, entry.scope);
    }

    private boolean invalidate(WorkEntry entry) {
        device.count("localInvalidations");
        SimFastRegion region = queuePair.protectionDomain().fastRegion(entry.invalidateKey);
        return region != null && region.invalidateLocally(queuePair, entry.invalidateKey);
    }

    private void finish(WorkEntry entry, boolean possible) {
        if (possible) {
            queuePair.sends.executed();
            queuePair.succeed(entry);
        } else {
            fail(entry, Status.LOCAL_QP_OPERATION_ERROR);
        }
    }

    /** A local failure ends the connection (RFC 5040, Section 7.1): layer 0, type 0. */
    void fail(WorkEntry entry, Status status) {
        entry.end(status);
        ErrorReport report = report(0, 0, 0, entry.operation + " " + entry.id + ": " + status.description(), false);
        terminate(report, false);
    }

    void terminate(ErrorReport report, boolean refusesRead) {
        device.count("terminatesSent");
        queuePair.connection.end(
                Cause.LOCAL_ERROR,
                report.description(),
                report,
                new Packet.Terminate(report, refusesRead, report.description()));
    }

    static ErrorReport report(int layer, int type, int code, String description, boolean ofReadRequest) {
        return new ErrorReport(
                layer,
                type,
                code,
                description,
                0,
                Octets.EMPTY,
                ofReadRequest ? Octets.of(new byte[28]) : Octets.EMPTY);
    }

    private void sendPiece(WorkEntry entry) {
        if (!entry.admits(queuePair, false)) {
            fail(entry, Status.LOCAL_PROTECTION_ERROR);
            return;
        }
        int count = device.network().pieceOf(entry.totalBytes - entry.progress);
        long offset = entry.progress;
        byte[] payload = entry.gather(offset, count);
        if (device.options().watchesMemory() && entry.totalBytes <= WATCHED_BYTES) {
            entry.sentHash = Trace.mix(entry.sentHash, payload);
        }
        entry.progress += count;
        boolean isLast = entry.progress == entry.totalBytes;
        device.network().note("piece", queuePair.number(), count);
        if (entry.operation == Operation.SEND) {
            queuePair.connection.send(
                    new Packet.Send(payload, offset, isLast, entry.solicited, entry.invalidates, entry.invalidateKey));
        } else {
            queuePair.connection.send(new Packet.Write(payload, entry.remoteKey, entry.remoteAddress + offset));
        }
        if (isLast) {
            queuePair.sends.executed();
            queuePair.succeed(entry);
        }
    }

    private void askForRead(WorkEntry entry) {
        if (!entry.admits(queuePair, true) || sinkLacksRemoteWrite(entry)) {
            fail(entry, Status.LOCAL_PROTECTION_ERROR);
            return;
        }
        queuePair.sends.executed();
        openReads.add(entry);
        queuePair.connection.send(new Packet.ReadRequest(entry.remoteKey, entry.remoteAddress, entry.totalBytes));
    }

    private boolean sinkLacksRemoteWrite(WorkEntry entry) {
        if (device.attributes().readSinkNeedsRemoteWrite()) {
            for (SimRegion region : entry.regions) {
                if (!region.access().remoteWrite()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether memory of a Send or RDMA Write was changed by somebody between its execution and its completion. */
    void checkMemoryUnchanged(WorkEntry entry) {
        boolean watched = entry.isSuccess()
                && (entry.operation == Operation.SEND || entry.operation == Operation.RDMA_WRITE)
                && device.options().watchesMemory()
                && entry.totalBytes <= WATCHED_BYTES
                && entry.admits(queuePair, false);
        if (watched && Trace.mix(Trace.emptyHash(), entry.gather(0, (int) entry.totalBytes)) != entry.sentHash) {
            device.network()
                    .violation("memory of " + entry.operation + " " + entry.id + " on QP " + queuePair.number()
                            + " was changed before its completion");
        }
    }

    @Nullable
    WorkEntry oldestRead() {
        return openReads.peek();
    }

    void readIsComplete() {
        openReads.remove();
    }

    int answersOpen() {
        return answers.size();
    }

    void answer(Packet.ReadRequest request) {
        answers.add(new Answer(request));
    }

    boolean canRespond() {
        return !answers.isEmpty();
    }

    void respond() {
        Answer answer = answers.getFirst();
        Packet.ReadRequest request = answer.request;
        int count = device.network().pieceOf(request.length() - answer.progress);
        byte[] payload = new byte[count];
        if (count > 0) {
            long address = request.address() + answer.progress;
            SimRegion region = device.regions().find(request.key());
            AccessFault fault = region == null
                    ? AccessFault.UNKNOWN_KEY
                    : region.refusal(queuePair, request.key(), address, count, false);
            if (region == null || fault != null) {
                AccessFault found = fault == null ? AccessFault.UNKNOWN_KEY : fault;
                terminate(report(0, 1, found.rdmapCode, "RDMA Read: " + found.description, true), true);
                return;
            }
            region.pieces.copyOut(address - region.remoteAddress, payload, 0, count);
        }
        long offset = answer.progress;
        answer.progress += count;
        boolean isLast = answer.progress == request.length();
        if (isLast) {
            answers.removeFirst();
        }
        device.network().note("answer", queuePair.number(), count);
        queuePair.connection.send(new Packet.ReadResponse(payload, offset, isLast));
    }

    void clear() {
        openReads.clear();
        answers.clear();
    }

    @Override
    public String toString() {
        return openReads.size() + " reads open, " + answers.size() + " being answered";
    }
}
