// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;

/** A queue pair of a {@link FaultyDevice}: posts to the device what the plan lets through, naming the device's own regions. */
record FaultyQueuePair(FaultyDomain domain, FaultyCompletions completions, QueuePair onDevice) implements QueuePair {

    /** A key that opens nothing: no region has index 0. */
    private static final int NO_KEY = 0x7F;

    @Override
    public int number() {
        return onDevice.number();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public State state() {
        return onDevice.state();
    }

    @Override
    public PostResult postSend(SendQueueRequest request) {
        return postSend(List.of(request));
    }

    @Override
    public PostResult postSend(List<? extends SendQueueRequest> chain) {
        FaultyDevice device = domain.device();
        int accepted = device.plan().acceptedOfChain(chain.size());
        List<SendQueueRequest> translated = new ArrayList<>();
        for (SendQueueRequest request : chain.subList(0, accepted)) {
            translated.add(translate(request));
        }
        // ORDER: counted first; when it is posted, it may be complete at once.
        count(translated, 1);
        PostResult result = translated.isEmpty() ? PostResult.posted() : onDevice.postSend(translated);
        if (result instanceof PostResult.Refused refused) {
            count(translated.subList(refused.firstBad(), accepted), -1);
        }
        return result.isPosted() && accepted < chain.size()
                ? new PostResult.Refused(accepted, device.plan().refusalReason(), "injected fault")
                : result;
    }

    private void count(List<SendQueueRequest> requests, int by) {
        FaultyDevice device = domain.device();
        device.count("posted", (long) by * requests.size());
        for (SendQueueRequest request : requests) {
            if (request instanceof RegisterRequest) {
                device.count("registrations", by);
            } else if (request instanceof LocalInvalidateRequest) {
                device.count("localInvalidations", by);
            }
        }
    }

    private SendQueueRequest translate(SendQueueRequest request) {
        boolean fails = domain.device().plan().failureOf(request.operation()) != null;
        FastRegion named = request instanceof RegisterRequest register ? register.region() : null;
        if (request instanceof RegisterRequest register && named != null) {
            FastRegion region = FaultyDevice.onDevice(named);
            if (fails) {
                // The device refuses to open what has no memory.
                region.unmap();
            }
            return new RegisterRequest()
                    .id(register.id())
                    .signaled(register.signaled())
                    .fence(register.fence())
                    .region(region, register.key())
                    .access(register.access())
                    .scope(register.scope());
        }
        if (request instanceof LocalInvalidateRequest invalidate && fails) {
            return new LocalInvalidateRequest()
                    .id(invalidate.id())
                    .signaled(invalidate.signaled())
                    .fence(invalidate.fence())
                    .key(NO_KEY);
        }
        return request;
    }

    @Override
    public PostResult postReceive(ReceiveRequest request) {
        return onDevice.postReceive(request);
    }

    @Override
    public PostResult postReceive(List<ReceiveRequest> chain) {
        return onDevice.postReceive(chain);
    }

    @Override
    public void disconnect() {
        onDevice.disconnect();
    }

    @Override
    public void abort() {
        onDevice.abort();
    }

    /** Never ends if a completion was lost. */
    @Override
    public CompletableFuture<Void> drain() {
        CompletableFuture<Void> never = new CompletableFuture<>();
        return onDevice.drain().thenCompose(drained -> completions.hasLost() ? never : onDevice.drain());
    }

    @Override
    public void close() {
        onDevice.close();
    }
}
