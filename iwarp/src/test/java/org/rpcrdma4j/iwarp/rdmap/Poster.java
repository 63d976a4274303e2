// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.mem.SoftFastRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.PostResult.Refused;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;

/** Posts requests and tells the models what is to come of them. */
final class Poster {
    private final StreamOptions options;
    private final Random random;
    private final LongConsumer trace;
    private long nextId;

    Poster(StreamOptions options, Random random, LongConsumer trace) {
        this.options = options;
        this.random = random;
        this.trace = trace;
    }

    /** The Receive that the next Send posted here will take. */
    static EndModel.@Nullable Receiving nextReceive(EndModel model, EndModel peer) {
        // Those posted at the peer and not filled, less the Sends that are still to be delivered.
        return peer.filling.size() <= model.sendsUnderWay
                ? null
                : List.copyOf(peer.filling).get(model.sendsUnderWay);
    }

    private boolean post(EndModel model, SendQueueRequest request) {
        Refused refused = model.end.sends.post(request, 0);
        if (refused == null) {
            trace.accept(request.id());
            return true;
        }
        boolean full = model.end.sends.outstanding() == options.sendDepth();
        boolean noReads = request.operation() == Operation.RDMA_READ && options.ord(model.end.index) == 0;
        if (noReads ? refused.reason() != Reason.INVALID_REQUEST : !full || refused.reason() != Reason.QUEUE_FULL) {
            throw new AssertionError(refused.toString());
        }
        return false;
    }

    private EndModel.Posted posted(EndModel model, SendQueueRequest request, int bytes) {
        boolean local = request.operation() == Operation.REGISTER || request.operation() == Operation.LOCAL_INVALIDATE;
        EndModel.Posted posted =
                new EndModel.Posted(request.id(), request.operation(), request.signaled(), bytes, local);
        model.sends.add(posted);
        model.requests++;
        return posted;
    }

    private static void use(List<Extent> list, int uses) {
        list.forEach(extent -> extent.registration().ownUses += uses);
    }

    boolean send(EndModel model, EndModel peer, List<Extent> list, @Nullable Registration victim) {
        SendRequest request =
                new SendRequest().id(nextId++).signaled(random.nextBoolean()).solicited(random.nextBoolean());
        request.fence(victim != null || random.nextInt(6) == 0);
        list.forEach(extent -> request.sge(extent.registration().region, extent.offset(), extent.length()));
        if (victim != null) {
            request.invalidate(victim.key);
        }
        if (!post(model, request)) {
            return false;
        }
        EndModel.Posted posted = posted(model, request, Extent.total(list));
        use(list, 1);
        model.sendsUnderWay++;
        if (victim != null) {
            victim.sealed = true;
        }
        int opcode = WireSegment.SEND + (request.isSolicited() ? 2 : 0) + (victim == null ? 0 : 1);
        model.rules.posted(new WireMessage(
                opcode,
                victim == null ? 0 : victim.key,
                0,
                request.fence(),
                Extent.gather(list, model.memory),
                () -> {
                    posted.done = true;
                    use(list, -1);
                },
                () -> model.sendsUnderWay--));
        return true;
    }

    /** @param into whose use is counted */
    boolean rdmaWrite(EndModel model, List<Extent> list, Registration into, int key, long to) {
        RdmaWriteRequest request = new RdmaWriteRequest().id(nextId++).signaled(random.nextBoolean());
        request.fence(random.nextInt(6) == 0).target(key, to);
        list.forEach(extent -> request.sge(extent.registration().region, extent.offset(), extent.length()));
        if (!post(model, request)) {
            return false;
        }
        EndModel.Posted posted = posted(model, request, Extent.total(list));
        use(list, 1);
        into.peerUses++;
        model.rules.posted(new WireMessage(
                WireSegment.WRITE,
                key,
                to,
                request.fence(),
                Extent.gather(list, model.memory),
                () -> {
                    posted.done = true;
                    use(list, -1);
                },
                () -> into.peerUses--));
        return true;
    }

    /** @param from whose use is counted */
    boolean rdmaRead(EndModel model, Extent sink, Registration from, int key, long to) {
        RdmaReadRequest request = new RdmaReadRequest().id(nextId++).signaled(random.nextBoolean());
        request.fence(random.nextInt(6) == 0).source(key, to);
        Registration into = sink.registration();
        request.sge(into.region, sink.offset(), sink.length());
        if (!post(model, request)) {
            return false;
        }
        EndModel.Posted posted = posted(model, request, sink.length());
        into.ownUses++;
        from.peerUses++;
        ByteBuffer header = ByteBuffer.allocate(28);
        header.putInt(into.key)
                .putLong(into.base + sink.offset())
                .putInt(sink.length())
                .putInt(key)
                .putLong(to);
        model.rules.posted(new WireMessage(
                WireSegment.READ_REQUEST,
                0,
                0,
                request.fence(),
                header.flip(),
                () -> model.sinks.add(new EndModel.Sink(posted, sink)),
                () -> {}));
        return true;
    }

    /** Posts an invalidation, whether or not it comes too early. */
    boolean invalidate(EndModel model, Registration registration, boolean fence) {
        LocalInvalidateRequest request =
                new LocalInvalidateRequest().id(nextId++).signaled(random.nextBoolean());
        request.key(registration.key).fence(fence);
        if (registration.sealed || !post(model, request)) {
            return false;
        }
        posted(model, request, 0);
        registration.sealed = true;
        return true;
    }

    void register(EndModel model, int index, boolean isTarget) {
        Registration registration = model.map(index, isTarget, random);
        RegisterRequest request = new RegisterRequest().id(nextId++).signaled(random.nextBoolean());
        request.region((SoftFastRegion) registration.region, registration.key);
        request.fence(random.nextInt(6) == 0).access(isTarget ? Access.REMOTE_WRITE : Access.REMOTE_READ);
        post(model, request);
        posted(model, request, 0);
    }

    void receive(EndModel model, List<Extent> list) {
        ReceiveRequest request = new ReceiveRequest().id(nextId++);
        list.forEach(extent -> request.sge(extent.registration().region, extent.offset(), extent.length()));
        Refused refused = model.end.receives.post(request, 0);
        if (refused == null) {
            EndModel.Receiving receiving = new EndModel.Receiving(request.id(), list);
            model.receives.add(receiving);
            model.filling.add(receiving);
        } else if (model.end.receives.outstanding() != options.receiveDepth()) {
            throw new AssertionError(refused.toString());
        }
    }
}
