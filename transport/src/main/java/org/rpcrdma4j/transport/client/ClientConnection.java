// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.client;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.EndpointListener;
import org.rpcrdma4j.transport.connection.EndpointOptions;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ClientEvents;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.event.Direction;
import org.rpcrdma4j.transport.event.Gauge;
import org.rpcrdma4j.transport.event.Gauges;
import org.rpcrdma4j.transport.event.TransportEvents;
import org.rpcrdma4j.transport.event.WireListener;
import org.rpcrdma4j.transport.frwr.RegionLink;
import org.rpcrdma4j.transport.frwr.RegionPool;
import org.rpcrdma4j.transport.frwr.Registrar;
import org.rpcrdma4j.transport.frwr.SendQueuePlan;
import org.rpcrdma4j.transport.frwr.WritePad;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/**
 * One connection of a client: takes waiting calls out of {@link Requester} when a credit and a slot are free, and is told what the device
 * does. Used once; its regions, slots and credits end with it.
 *
 * <p>Made on the worker; all else happens inside the monitor.
 */
final class ClientConnection implements EndpointListener, RegionLink {

    /** Receives beyond those for replies: for messages that nobody asked for, so that they are seen and do not end the connection. */
    private static final int SPARE_RECEIVES = 2;

    private final ClientContext context;
    private final Requester requester;
    private final Connector connector;
    private final Counters<ClientCounter> counters;
    private final SendQueuePlan.Supported plan;
    private final Endpoint endpoint;
    private final Registrar registrar;
    private final CreditWindow credits;
    private final ReplyReceiver receiver;
    private final ReverseService reverse;
    private final ConnectionLabel label;
    private final SlotPool slots;
    private @Nullable Marshaller marshaller;
    private @Nullable WritePad pad;
    private boolean established;
    private boolean holdsSending;
    private String endDetail = "not ended";

    /** Makes the device's objects. On the worker, outside the monitor. */
    ClientConnection(
            ClientContext context,
            Requester requester,
            Connector connector,
            SendQueuePlan.Supported plan,
            int generation) {
        this.context = context;
        this.requester = requester;
        this.connector = connector;
        this.plan = plan;
        counters = context.counters();
        ClientOptions options = context.options();
        int reverseCredits = plan.backchannelRequests();
        endpoint = new Endpoint(
                context.device(),
                new EndpointOptions(
                        plan.sendDepth(),
                        plan.receiveDepth(),
                        plan.requests() + reverseCredits + 1,
                        options.inlineSendBytes(),
                        options.inlineReceiveBytes(),
                        1,
                        ClientOptions.nanos(options.drainTimeout())),
                context.monitor(),
                context.time(),
                context.worker(),
                this);
        label = new ConnectionLabel(
                endpoint.number(),
                generation,
                ConnectionLabel.Side.CLIENT,
                options.address().toString());
        RegionPool pool = new RegionPool(
                endpoint.domain(),
                context.monitor(),
                context.worker(),
                context.time(),
                RegionPool.Options.of(plan),
                counters,
                label);
        registrar = new Registrar(plan, context.monitor(), pool, this);
        credits = new CreditWindow(plan.requests());
        slots = new SlotPool(this, plan.requests());
        reverse = new ReverseService(context, this, reverseCredits);
        receiver = new ReplyReceiver(context, this, reverse);
    }

    Endpoint endpoint() {
        return endpoint;
    }

    Registrar registrar() {
        return registrar;
    }

    Requester requester() {
        return requester;
    }

    CreditWindow credits() {
        return credits;
    }

    ConnectionLabel label() {
        return label;
    }

    /** Whether it was there at any time. */
    boolean wasEstablished() {
        return established;
    }

    /** When a message was received last; when it began, if none was. */
    long lastReceivedNanos() {
        return receiver.lastReceivedNanos();
    }

    /** Whether no call is in flight, nor waits. */
    boolean isIdle() {
        return credits.unanswered() == 0 && requester.waiting() == 0;
    }

    /** A valid reply has come. */
    void onAnswered() {
        connector.onReplyReceived();
    }

    /** How it ended, in words. */
    String endDetail() {
        return endDetail;
    }

    /** Begins the set-up. */
    void connect() {
        // RFC 8166, Section 3.3.1: Receives are there before the server can answer.
        ensureReceives();
        ClientOptions options = context.options();
        endpoint.connect(options.address(), ConnectionTerms.offer(options, context.device()));
    }

    @Override
    public void onEstablished(ConnectionInfo info) {
        established = true;
        ConnectionTerms terms = ConnectionTerms.of(context.options(), info);
        terms.report(label, info, credits.requested());
        FormChooser chooser = terms.chooser();
        reverse.onEstablished(chooser.sendThreshold());
        connector.onEstablished(this, info.localAddress());
        if (context.options().offerWritePad()) {
            registerPad(chooser);
        } else {
            begin(chooser, null);
        }
    }

    private void registerPad(FormChooser chooser) {
        pad = registrar.registerWritePad(new WritePad.Listener() {
            @Override
            public void onReady() {
                begin(chooser, pad);
            }

            @Override
            public void onFailed(String reason) {
                abort(DisconnectCause.WORK_REQUEST_FAILED, "no room for pad: " + reason);
            }
        });
    }

    private void begin(FormChooser chooser, @Nullable WritePad newPad) {
        marshaller = new Marshaller(context.options(), registrar, chooser, counters, label, newPad);
        sendWaiting();
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        endDetail = refusal.reason() + ": " + refusal.detail();
        connector.onRefused(refusal);
        registrar.connectionEnding();
    }

    /** Keeps a Receive for each message that may come: one for each credit, each reverse call, and a few to spare. */
    void ensureReceives() {
        endpoint.ensureReceives(credits.limit() + plan.backchannelRequests() + SPARE_RECEIVES);
    }

    /** Sends calls for as long as there are calls, credits and slots. */
    void sendWaiting() {
        Marshaller mine = marshaller;
        if (mine == null || holdsSending || !endpoint.isConnected()) {
            return;
        }
        ClientCall call;
        while ((call = requester.firstWaiting()) != null && credits.isOpen()) {
            RequestSlot slot = slots.take(call);
            if (slot == null && !slots.isReserved()) {
                counters.increment(ClientCounter.EMPTY_SEND_CONTEXTS);
            }
            if (slot == null || !sendFirst(call, slot, mine)) {
                return;
            }
        }
    }

    /** Returns whether the next call may be tried. */
    private boolean sendFirst(ClientCall call, RequestSlot slot, Marshaller mine) {
        return switch (mine.marshal(call, slot, credits.requested())) {
            case BUILT -> {
                credits.take();
                show(slot, mine.messageBytes());
                slot.post(call, mine.messageBytes());
                requester.onSent(call, this);
                countSend();
                yield true;
            }
            case UNSENDABLE -> {
                slots.giveBack(slot);
                ClientEvents.marshalFailed(label, call.xid(), mine.failureDetail());
                requester.onUnsendable(call, mine.failureKind(), mine.failureDetail(), null);
                yield true;
            }
            case NO_REGIONS, TOO_MANY_SEGMENTS -> {
                ClientEvents.regionsExhausted(label, call.xid());
                slots.reserve(slot, call);
                yield false;
            }
            case ENDING -> {
                slots.giveBack(slot);
                yield false;
            }
        };
    }

    private void countSend() {
        counters.increment(ClientCounter.SENDS);
        counters.add(ClientCounter.IN_FLIGHT_SUM, credits.unanswered());
        counters.add(ClientCounter.BACKLOG_SUM, requester.waiting());
    }

    private void show(RequestSlot slot, int length) {
        WireListener listener = context.wireListener();
        if (listener != null) {
            listener.onMessage(Direction.SENT, endpoint.number(), slot.buffer(), 0, length);
        }
    }

    void onRegionsAvailable() {
        sendWaiting();
    }

    /** The call or the Send has let go. */
    void onSlotLetGo(RequestSlot slot) {
        if (slot.isFree()) {
            slots.giveBack(slot);
            sendWaiting();
        } else if (slot.isSendOutstanding()) {
            counters.increment(ClientCounter.REPLY_WAITS_FOR_SEND);
        }
    }

    /** A chain was refused. Places are planned for, so this is the end of the connection, or its cause. */
    void onPostRefused(List<SendQueueRequest> chain, PostResult.Refused refused) {
        counters.increment(ClientCounter.POST_ERRORS);
        TransportEvents.postError(label, chain.getLast().id(), refused);
        registrar.onRefused(chain, refused.firstBad());
        abort(DisconnectCause.WORK_REQUEST_FAILED, "post refused: " + refused.detail());
    }

    @Override
    public void onReceive(int buffer, int length, boolean withInvalidate, int invalidatedKey) {
        // ORDER: credits and Receives first, then the next call may go (RFC 8166, Section 3.3.1).
        holdsSending = true;
        try {
            receiver.onMessage(endpoint.receiveMemory(buffer), length, withInvalidate, invalidatedKey);
        } finally {
            endpoint.releaseReceive(buffer);
            ensureReceives();
            holdsSending = false;
            sendWaiting();
        }
    }

    @Override
    public void onSendQueueCompletion(WorkCompletion completion) {
        TransportEvents.completion(label, completion, 0);
        if (!completion.isSuccess()) {
            boolean flushed = completion.status() == WorkCompletion.Status.FLUSHED;
            counters.increment(flushed ? ClientCounter.COMPLETIONS_FLUSHED : ClientCounter.COMPLETION_ERRORS);
        }
        switch (WorkIds.kind(completion.id())) {
            case REGISTER -> registrar.onRegisterCompletion(completion);
            case INVALIDATE -> registrar.onInvalidateCompletion(completion);
            case SEND -> onSendCompletion(completion);
            case RECEIVE, READ, WRITE -> throw new IllegalStateException("not of this send queue: " + completion);
        }
    }

    private void onSendCompletion(WorkCompletion completion) {
        RequestSlot slot = slots.get(WorkIds.index(completion.id()));
        if (slot != null) {
            slot.onSendCompleted(completion.id());
        } else {
            reverse.onSendCompleted(WorkIds.index(completion.id()));
        }
        if (completion.isSuccess()) {
            registrar.postStalled();
        } else {
            abort(
                    DisconnectCause.WORK_REQUEST_FAILED,
                    "Send failed: " + completion.status().description());
        }
    }

    /** Index of the first Send that is no call's. */
    int firstReverseIndex() {
        return plan.requests();
    }

    @Override
    public void post(Outbox.Entry entry) {
        endpoint.post(entry);
    }

    @Override
    public void fail(DisconnectCause cause, String detail) {
        abort(cause, detail);
    }

    /** Ends it at once, if it is not ending already. */
    void abort(DisconnectCause cause, String detail) {
        endpoint.abort(cause, detail);
    }

    /** Ends it in order. */
    void disconnect(DisconnectCause cause, String detail) {
        endpoint.disconnect(cause, detail);
    }

    @Override
    public void onDisconnecting(DisconnectCause cause, String detail) {
        endDetail = cause + ": " + detail;
        TransportEvents.disconnect(label, cause, detail);
        registrar.connectionEnding();
        reverse.onDisconnecting();
        connector.onDisconnecting(this, cause);
    }

    @Override
    public void onQueuePairClosed() {
        registrar.releaseAll(this::onRegionsGone);
    }

    /** No memory of a call is open any more: each call that has not ended goes its way. */
    private void onRegionsGone() {
        slots.abandonAll();
        requester.onConnectionLost(this, endDetail);
    }

    @Override
    public void onClosed() {
        connector.onClosed(this);
    }

    Gauges fill(Gauges gauges) {
        return registrar.fill(gauges).set(Gauge.SEND_BUFFERS_IN_USE, slots.sendsOutstanding());
    }

    @Override
    public String toString() {
        return endpoint + ", " + credits + ", " + slots + ", " + registrar
                + (endpoint.isConnected() ? "" : ", " + endDetail);
    }
}
