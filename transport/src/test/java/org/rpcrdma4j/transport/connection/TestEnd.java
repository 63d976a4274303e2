// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/** An endpoint with a listener that notes everything, checks the order of what it is told, and does what a test asks for. */
final class TestEnd implements EndpointListener {

    static final long DRAIN_NANOS = Duration.ofSeconds(3).toNanos();
    static final int BUFFERS = 16;

    private enum Phase {
        NEW,
        CONNECTED,
        ENDING,
        QUEUE_PAIR_CLOSED,
        CLOSED
    }

    final Monitor monitor = new Monitor();
    final Endpoint endpoint;
    final List<String> told = new CopyOnWriteArrayList<>();
    final List<String> faults = new CopyOnWriteArrayList<>();
    final List<Integer> received = new ArrayList<>();

    /** What happens in addition, inside the monitor. */
    Runnable onEstablished = () -> {};

    Runnable onDisconnecting = () -> {};
    Runnable onQueuePairClosed = () -> {};
    Consumer<Integer> onReceive = buffer -> {};
    Consumer<WorkCompletion> onCompletion = completion -> {};

    private final String name;
    private final Executor worker;
    private Phase phase = Phase.NEW;
    private int posted;
    private int completed;
    private int refused;

    TestEnd(Rig rig, RdmaDevice device, String name) {
        this(rig, device, name, rig.worker());
    }

    TestEnd(Rig rig, RdmaDevice device, String name, Executor worker) {
        this.name = name;
        this.worker = worker;
        endpoint = new Endpoint(
                device,
                new EndpointOptions(64, BUFFERS, BUFFERS, 1024, 1024, 4, DRAIN_NANOS),
                monitor,
                rig.time(),
                worker,
                this);
        rig.watch(this::toString);
    }

    <T> T inside(Supplier<T> task) {
        monitor.enter();
        try {
            return task.get();
        } finally {
            monitor.leave();
        }
    }

    void connect(InetSocketAddress address) {
        monitor.run(() -> {
            endpoint.ensureReceives(BUFFERS);
            endpoint.connect(address, ConnectOptions.DEFAULT);
        });
    }

    void accept(ConnectRequest request) {
        monitor.run(() -> {
            endpoint.ensureReceives(BUFFERS);
            endpoint.accept(request, ConnectOptions.DEFAULT);
        });
    }

    /** Sends the number; inside the monitor. Returns whether there was a buffer. */
    boolean send(int number) {
        int buffer = endpoint.takeSendBuffer();
        if (buffer < 0) {
            return false;
        }
        endpoint.sendMemory(buffer).set(ValueLayout.JAVA_INT, 0, number);
        post(
                new SendRequest()
                        .id(WorkIds.of(WorkIds.Kind.SEND, 1, buffer))
                        .sge(endpoint.sendRegion(), endpoint.sendOffset(buffer), 64),
                () -> endpoint.returnSendBuffer(buffer));
        return true;
    }

    void sendFromOutside(int number) {
        if (!inside(() -> send(number))) {
            faults.add("no send buffer for " + number);
        }
    }

    void post(SendQueueRequest request, Runnable whenRefused) {
        posted++;
        endpoint.post(new Outbox.Entry() {
            @Override
            public List<? extends SendQueueRequest> chain() {
                return List.of(request);
            }

            @Override
            public void onRefused(PostResult.Refused refusal) {
                note("refused " + refusal.reason(), phase != Phase.CLOSED);
                refused++;
                whenRefused.run();
            }
        });
    }

    /** Every request that was given to the endpoint has ended in exactly one way. */
    boolean isSettled() {
        return inside(() -> posted == completed + refused);
    }

    boolean isClosed() {
        return inside(() -> phase == Phase.CLOSED);
    }

    boolean isConnected() {
        return inside(() -> phase == Phase.CONNECTED);
    }

    int receivedCount() {
        return inside(received::size);
    }

    private void note(String what, boolean isAllowed) {
        if (!isOrdinary(what)) {
            told.add(what);
        }
        if (!monitor.isHeld()) {
            faults.add(what + ": told outside the monitor");
        }
        if (!isAllowed) {
            faults.add(what + ": told in phase " + phase);
        }
    }

    private static boolean isOrdinary(String what) {
        return what.equals("receive") || what.equals("SEND SUCCESS");
    }

    @Override
    public void onEstablished(ConnectionInfo info) {
        note("established", phase == Phase.NEW);
        phase = Phase.CONNECTED;
        onEstablished.run();
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        note("refused " + refusal.reason(), phase == Phase.NEW);
        phase = Phase.ENDING;
    }

    @Override
    public void onReceive(int buffer, int length, boolean withInvalidate, int invalidatedKey) {
        note("receive", told.contains("established") && (phase == Phase.CONNECTED || phase == Phase.ENDING));
        received.add(endpoint.receiveMemory(buffer).get(ValueLayout.JAVA_INT, 0));
        onReceive.accept(buffer);
        endpoint.releaseReceive(buffer);
    }

    @Override
    public void onSendQueueCompletion(WorkCompletion completion) {
        note(completion.operation() + " " + completion.status(), phase == Phase.CONNECTED || phase == Phase.ENDING);
        completed++;
        if (WorkIds.kind(completion.id()) == WorkIds.Kind.SEND) {
            endpoint.returnSendBuffer(WorkIds.index(completion.id()));
        }
        onCompletion.accept(completion);
    }

    @Override
    public void onDisconnecting(DisconnectCause cause, String detail) {
        note("disconnecting " + cause, phase == Phase.NEW || phase == Phase.CONNECTED);
        phase = Phase.ENDING;
        onDisconnecting.run();
    }

    @Override
    public void onQueuePairClosed() {
        note("queue pair closed", phase == Phase.ENDING);
        phase = Phase.QUEUE_PAIR_CLOSED;
        onQueuePairClosed.run();
    }

    @Override
    public void onClosed() {
        note("closed", phase == Phase.QUEUE_PAIR_CLOSED);
        phase = Phase.CLOSED;
    }

    /** What was told of the connection as such, not of single requests. */
    List<String> course() {
        return told.stream()
                .filter(what ->
                        !what.startsWith("SEND") && !what.startsWith("RDMA") && !what.equals("refused WRONG_STATE"))
                .toList();
    }

    @Override
    public String toString() {
        return name + ": " + inside(endpoint::toString) + ", worker " + worker + ", posted " + posted + ", completed "
                + completed + ", refused " + refused + ", received " + received.size() + ", told "
                + told.subList(Math.max(0, told.size() - 12), told.size());
    }
}
