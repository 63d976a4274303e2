// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.System.Logger.Level;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.EndpointListener;
import org.rpcrdma4j.transport.connection.EndpointOptions;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Direction;
import org.rpcrdma4j.transport.event.ServerCounter;
import org.rpcrdma4j.transport.event.ServerEvents;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.server.RequestSlot.State;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/**
 * One client's connection at the server: joins the parts that a call goes through and sees to the connection's end.
 *
 * <pre>
 *   message -> CallIntake -> ReadQueue -> CallIntake -> handler -> ReplyPath, ReplyBuilder -> ReplySender -> completion
 * </pre>
 *
 * <p>At the end, what has not reached a handler is dropped. Calls that a handler has keep their memory until it replies; the reply is
 * dropped. Memory that work requests name is given back when the queue pair is closed.
 *
 * <p>All state is touched inside the {@link Monitor}; methods that other threads call say so.
 */
final class ServerConnection implements EndpointListener, ReadQueue.Listener {

    private static final System.Logger LOG = System.getLogger(ServerConnection.class.getName());

    private final ServerContext context;
    private final Consumer<ServerConnection> whenClosed;
    private final ConnectionView view;
    private final ConnectionSizes sizes;
    private final ConnectionLabel label;
    private final Monitor monitor = new Monitor();
    private final Endpoint endpoint;
    private final ConnectionMemory memory;
    private final SlotTable slots;
    private final ReadQueue reads;
    private final Admission admission;
    private final CallIntake intake;
    private final ReplySender sender;
    private final ReplyPath replies;
    private final ReverseCalls reverse;
    private final ConnectionWatch watch;
    private boolean established;
    private boolean finishing;
    private boolean queuePairClosed;

    /**
     * Makes a connection with all that it needs of the device. On a thread that may wait.
     *
     * @param whenClosed told once, when nothing of it is left
     * @throws IllegalStateException if the device is short of something
     * @throws IllegalArgumentException if the client's offer cannot be served
     */
    static ServerConnection create(
            ServerContext context, ConnectRequest request, Consumer<ServerConnection> whenClosed) {
        return new ServerConnection(context, request, whenClosed, ConnectionSizes.of(context, request));
    }

    private ServerConnection(
            ServerContext context,
            ConnectRequest request,
            Consumer<ServerConnection> whenClosed,
            ConnectionSizes sizes) {
        this.context = context;
        this.whenClosed = whenClosed;
        this.sizes = sizes;
        view = new ConnectionView(request.localAddress(), request.remoteAddress());
        DeviceAttributes device = context.device().attributes();
        EndpointOptions endpointOptions = sizes.endpoint(context.options(), device);
        endpoint = new Endpoint(context.device(), endpointOptions, monitor, context.time(), context.worker(), this);
        label = new ConnectionLabel(
                endpoint.number(),
                context.nextConnection(),
                ConnectionLabel.Side.SERVER,
                request.remoteAddress().toString());
        memory = new ConnectionMemory(
                endpoint.domain(),
                device.readSinkNeedsRemoteWrite() ? Access.REMOTE_WRITE : Access.LOCAL_WRITE,
                context.options().connectionMemoryBytes());
        slots = new SlotTable(this, endpoint, memory, sizes.receives() + endpointOptions.sendBuffers());
        reads = new ReadQueue(endpoint, label, sizes.outboundReads(), this);
        admission = new Admission(this, context, endpoint, memory, reads);
        intake = new CallIntake(this, context, sizes, endpoint, admission);
        sender = new ReplySender(this, context, endpoint, endpointOptions.sendDepth() - sizes.outboundReads());
        ReplyBuilder builder = new ReplyBuilder(endpoint, memory, context, sizes.maxSges());
        replies = new ReplyPath(this, context, sizes, endpoint, memory, intake, builder, sender);
        reverse = new ReverseCalls(this, context, endpoint, sender, sizes.reverseCredits(), sizes.sendThreshold());
        watch = new ConnectionWatch(this, context, slots, memory);
    }

    /** Answers the request. */
    void accept(ConnectRequest request) {
        ConnectOptions options = ConnectOptions.DEFAULT
                .withPrivateData(
                        ConnectionSizes.privateMessage(context.options()).encode())
                .withReads(0, sizes.outboundReads())
                .withTimeout(context.options().setupTimeout());
        monitor.enter();
        try {
            // ORDER: Receives before the client can send.
            endpoint.ensureReceives(sizes.receives());
            endpoint.accept(request, options);
        } catch (IllegalStateException e) {
            // The request was gone meanwhile, or the server is aborted.
            endpoint.abort(DisconnectCause.CONNECTION_LOST, String.valueOf(e.getMessage()));
            monitor.afterwards(() -> RpcRdmaServer.reject(request));
        } finally {
            monitor.leave();
        }
    }

    // What the endpoint tells, inside the monitor.

    @Override
    public void onEstablished(ConnectionInfo info) {
        established = true;
        context.counters().increment(ServerCounter.CONNECTS);
        sizes.tell(label, info, context.options());
        watch.start();
        if (finishing) {
            endIfIdle();
        }
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        context.counters().increment(ServerCounter.ACCEPT_FAILURES);
        ServerEvents.acceptFailed(label, "ACCEPT", refusal.detail());
        beginEnd();
    }

    @Override
    public void onReceive(int buffer, int length, boolean withInvalidate, int invalidatedKey) {
        context.counters().increment(ServerCounter.RECEIVES);
        watch.onTraffic();
        WireListener listener = context.wireListener();
        if (listener != null) {
            listener.onMessage(Direction.RECEIVED, id(), endpoint.receiveMemory(buffer), 0, length);
        }
        if (!view.isOpen()) {
            // Not accepted: the client sends it again on another connection.
            endpoint.releaseReceive(buffer);
            return;
        }
        intake.onMessage(buffer, length);
        endIfIdle();
    }

    @Override
    public void onSendQueueCompletion(WorkCompletion completion) {
        TransportEvents.completion(label, completion, 0);
        if (!completion.isSuccess()) {
            onFailure(completion);
            return;
        }
        int index = WorkIds.index(completion.id());
        switch (WorkIds.kind(completion.id())) {
            case SEND, WRITE -> {
                if (index < 0) {
                    reverse.onSent(~index);
                    endIfIdle();
                } else {
                    onReplyPartComplete(slots.get(index));
                }
            }
            case READ -> reads.onComplete(index);
            case RECEIVE, REGISTER, INVALIDATE -> {}
        }
    }

    private void onReplyPartComplete(RequestSlot slot) {
        if (sender.onPartComplete(slot)) {
            release(slot);
            endIfIdle();
        }
    }

    private void onFailure(WorkCompletion completion) {
        boolean flushed = completion.status() == WorkCompletion.Status.FLUSHED;
        context.counters().increment(flushed ? ServerCounter.COMPLETIONS_FLUSHED : ServerCounter.COMPLETION_ERRORS);
        int index = WorkIds.index(completion.id());
        RequestSlot culprit = switch (WorkIds.kind(completion.id())) {
            case READ -> reads.onFailed(index);
            case WRITE -> slots.get(index);
            default -> null;
        };
        if (culprit != null && FatalXids.blames(completion.status())) {
            context.fatalXids()
                    .add(
                            view.remoteAddress(),
                            culprit.header.xid(),
                            context.time().nanoTime());
        }
        // What the failed work requests name is kept until the queue pair is closed.
        abort(DisconnectCause.WORK_REQUEST_FAILED, completion.toString());
    }

    @Override
    public void onPulled(RequestSlot slot) {
        if (view.isOpen()) {
            intake.onPulled(slot);
        }
    }

    @Override
    public void onReadRefused(RequestSlot slot, PostResult.Refused refused) {
        onRefusedPost(WorkIds.of(WorkIds.Kind.READ, 0, slot.index), refused);
    }

    void onReplyRefused(RequestSlot slot, PostResult.Refused refused) {
        context.counters().increment(ServerCounter.REPLY_FAILURES);
        ServerEvents.replyFailed(label, slot.header.xid(), refused.detail());
        onRefusedPost(slot.send.id(), refused);
    }

    /** RFC 8166, Section 4.5.4: what cannot be posted ends the connection. */
    void onRefusedPost(long workId, PostResult.Refused refused) {
        TransportEvents.postError(label, workId, refused);
        context.counters().increment(ServerCounter.POST_ERRORS);
        abort(DisconnectCause.WORK_REQUEST_FAILED, "refused: " + refused.reason() + ", " + refused.detail());
    }

    @Override
    public void onDisconnecting(DisconnectCause cause, String detail) {
        TransportEvents.disconnect(label, cause, detail);
        LOG.log(Level.DEBUG, "{0} ends: {1}, {2}", this, cause, detail);
        beginEnd();
    }

    private void beginEnd() {
        if (!view.isOpen()) {
            return;
        }
        view.end();
        admission.stop();
        reads.stop();
        sender.stop();
        replies.stop();
        reverse.onConnectionLost();
        monitor.afterwards(() -> context.connectionEnds(id()));
    }

    @Override
    public void onQueuePairClosed() {
        queuePairClosed = true;
        // Those that a handler has, or is about to get, come back by themselves.
        slots.forEach(slot -> {
            if (slot.state == State.RECEIVED || slot.state == State.PULLING || slot.state == State.REPLYING) {
                release(slot);
            }
        });
        reverse.onQueuePairClosed();
        // ORDER: outside, since it waits for registrations that are being made, and yet before buffers and domain are
        // given back; see Endpoint.
        monitor.afterwards(memory::close);
    }

    @Override
    public void onClosed() {
        watch.stop();
        if (established) {
            context.counters().increment(ServerCounter.DISCONNECTS);
        }
        monitor.afterwards(() -> whenClosed.accept(this));
    }

    // For the parts, inside the monitor.

    @Nullable
    RequestSlot takeSlot() {
        return slots.take();
    }

    void releaseReceive(RequestSlot slot) {
        slots.releaseReceive(slot);
    }

    void release(RequestSlot slot) {
        slots.release(slot);
    }

    void complete(RequestSlot slot) {
        intake.complete(slot);
    }

    void ready(RequestSlot slot) {
        intake.ready(slot);
    }

    Admission admission() {
        return admission;
    }

    void sendError(RequestSlot slot) {
        replies.sendError(slot);
    }

    /** The credits for the next reply. */
    int grant() {
        return sizes.grant(endpoint.receivesOutstanding() + intake.inFlight());
    }

    int credits() {
        return sizes.credits();
    }

    ReverseCalls reverseCalls() {
        return reverse;
    }

    void watch(RequestSlot slot) {
        watch.stamp(slot);
    }

    void disconnect(DisconnectCause cause, String detail) {
        endpoint.disconnect(cause, detail);
    }

    /** Whether no further calls are taken. Those that come are dropped: the client sends them again on another connection. */
    boolean isFinishing() {
        return finishing;
    }

    void endIfIdle() {
        if (finishing && view.isOpen() && established && slots.allFree() && reverse.isIdle()) {
            endpoint.disconnect(DisconnectCause.LOCAL_CLOSE, "the server is closing");
        }
    }

    void onWorker(Runnable task) {
        monitor.afterwards(() -> context.runOnWorker(task));
    }

    // For any thread.

    Monitor monitor() {
        return monitor;
    }

    ConnectionView view() {
        return view;
    }

    ConnectionLabel label() {
        return label;
    }

    long id() {
        return endpoint.number();
    }

    boolean isEnding() {
        return !view.isOpen();
    }

    ReverseClient reverse() {
        return reverse;
    }

    ReplyPath replies() {
        return replies;
    }

    /** Takes no more calls, and ends when those that were accepted are answered. */
    void finish() {
        monitor.run(() -> {
            finishing = true;
            endIfIdle();
        });
    }

    void abort(DisconnectCause cause, String detail) {
        monitor.run(() -> endpoint.abort(cause, detail));
    }

    @Override
    public String toString() {
        return view.remoteAddress() + " " + endpoint + ", " + slots.inUse() + " calls, " + sender.free()
                + " places free" + (view.isOpen() ? "" : ", ending") + (queuePairClosed ? ", closed" : "");
    }
}
