// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.SgeList;
import org.rpcrdma4j.verbs.WorkCompletion;

/** Turns work requests into entries of a queue, as far as they can ever be executed. */
final class SendPoster {

    private final SimulatedDevice device;
    private final int maxSges;

    /** Why the last request was refused. */
    private String complaint = "";

    SendPoster(SimulatedDevice device, int maxSges) {
        this.device = device;
        this.maxSges = maxSges;
    }

    Refused refusal(int index) {
        return new Refused(index, Reason.INVALID_REQUEST, complaint);
    }

    /** The entry for a Receive; null if it is refused. */
    @Nullable
    WorkEntry receive(WorkQueue queue, ReceiveRequest request) {
        WorkEntry entry = new WorkEntry(queue, request.id(), WorkCompletion.Operation.RECEIVE);
        return copySges(entry, request.sges(), maxSges) ? entry : null;
    }

    /** The entry for a send queue request; null if it is refused. */
    @Nullable
    WorkEntry send(WorkQueue queue, SendQueueRequest request, int outboundReads) {
        WorkEntry entry = new WorkEntry(queue, request.id(), request.operation());
        entry.signaled = request.signaled();
        entry.fence = request.fence();
        boolean valid = switch (request) {
            case SendRequest send -> copySend(entry, send);
            case RdmaWriteRequest write -> {
                entry.remoteKey = write.remoteKey();
                entry.remoteAddress = write.remoteAddress();
                yield copySges(entry, write.sges(), maxSges);
            }
            case RdmaReadRequest read -> copyRead(entry, read, outboundReads);
            case RegisterRequest register -> copyRegistration(entry, register);
            case LocalInvalidateRequest invalidate -> {
                entry.invalidateKey = invalidate.key();
                yield requireFastRegistration();
            }
        };
        return valid ? entry : null;
    }

    private boolean copySend(WorkEntry entry, SendRequest send) {
        entry.solicited = send.isSolicited();
        entry.invalidates = send.invalidates();
        entry.invalidateKey = send.invalidateKey();
        return copySges(entry, send.sges(), maxSges) && (!entry.invalidates || requireFastRegistration());
    }

    private boolean copyRead(WorkEntry entry, RdmaReadRequest read, int outboundReads) {
        entry.remoteKey = read.remoteKey();
        entry.remoteAddress = read.remoteAddress();
        if (outboundReads == 0) {
            complaint = "RDMA Read, but no outbound reads were agreed (ORD 0)";
            return false;
        }
        return copySges(entry, read.sges(), device.attributes().maxReadSges());
    }

    private boolean copyRegistration(WorkEntry entry, RegisterRequest register) {
        if (!(register.region() instanceof SimFastRegion region) || region.device != device) {
            complaint = "registration of " + register.region() + ", which is not a fast region of " + device.name();
            return false;
        }
        entry.registered = region;
        entry.newKey = register.key();
        entry.access = register.access();
        entry.scope = register.scope();
        return requireFastRegistration();
    }

    private boolean copySges(WorkEntry entry, SgeList list, int limit) {
        DeviceAttributes attributes = device.attributes();
        if (list.size() > limit) {
            complaint = list.size() + " entries; at most " + limit;
            return false;
        }
        if (list.totalBytes() > attributes.maxMessageBytes()) {
            complaint = list.totalBytes() + " bytes; at most " + attributes.maxMessageBytes();
            return false;
        }
        if (!entry.copySges(list, device)) {
            complaint = "a region that is not one of " + device.name();
            return false;
        }
        return true;
    }

    private boolean requireFastRegistration() {
        complaint = "the device has no fast registration";
        return device.attributes().memoryManagementExtensions();
    }
}
