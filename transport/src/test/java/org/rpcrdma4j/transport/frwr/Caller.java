// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Endpoint;
import org.rpcrdma4j.transport.connection.EndpointListener;
import org.rpcrdma4j.transport.connection.EndpointOptions;
import org.rpcrdma4j.transport.connection.Monitor;
import org.rpcrdma4j.transport.connection.Outbox;
import org.rpcrdma4j.transport.connection.WorkIds;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.event.ConnectionLabel;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.raw.RawConnection;
import org.rpcrdma4j.transport.raw.RawResponder;
import org.rpcrdma4j.transport.raw.Rig;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;

/** The least client that a registrar can work for: one connection, calls with segments, no credits, no protocol. */
final class Caller implements EndpointListener, RegionLink {

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long DRAIN_NANOS = 5_000_000_000L;
    private static final Duration SOON = Duration.ofMillis(1500);

    final Rig rig;
    final Monitor monitor = new Monitor();
    final Counters<ClientCounter> counters = new Counters<>(ClientCounter.class);
    final SendQueuePlan.Supported plan;
    final Endpoint endpoint;
    final RegionPool pool;
    final Registrar registrar;
    final RawResponder server;
    final List<TestCall> calls = new ArrayList<>();
    final List<Outbox.Entry> posted = new ArrayList<>();
    final List<RemoteInvalidation> remoteInvalidations = new ArrayList<>();
    private final Map<Integer, TestCall> waitingForReply = new HashMap<>();
    int fails;
    int disconnects;
    int refusals;
    int sendsCompleted;
    volatile boolean isEstablished;
    volatile boolean isClosed;
    boolean isReleased;
    boolean isQueuePairClosed;
    Runnable whenDisconnecting = () -> {};
    boolean endsCallsWhenDisconnected = true;

    Caller(Rig rig, SendQueuePlan.Supported plan, RegionPool.Options options) {
        this.rig = rig;
        this.plan = plan;
        server = new RawResponder(rig);
        endpoint = new Endpoint(
                rig.clientDevice(),
                new EndpointOptions(plan.sendDepth(), plan.receiveDepth(), 64, 1024, 1024, 4, DRAIN_NANOS),
                monitor,
                rig.time(),
                rig.worker(),
                this);
        ConnectionLabel label = new ConnectionLabel(endpoint.number(), 1, ConnectionLabel.Side.CLIENT, "peer");
        pool = new RegionPool(endpoint.domain(), monitor, rig.worker(), rig.time(), options, counters, label);
        registrar = new Registrar(plan, monitor, pool, this);
        rig.watch(this::toString);
    }

    /** For 8 calls at a time of 64 KiB each, on regions of so many pages. */
    static Caller open(Rig rig, int pagesPerRegion) {
        SendQueuePlan.Supported plan = plan(rig, pagesPerRegion);
        return new Caller(rig, plan, RegionPool.Options.of(plan));
    }

    static SendQueuePlan.Supported plan(Rig rig, int pagesPerRegion) {
        return plan(rig, pagesPerRegion, 8);
    }

    static SendQueuePlan.Supported plan(Rig rig, int pagesPerRegion, int requests) {
        SendQueuePlan plan = SendQueuePlan.of(rig.clientDevice().attributes(), requests, 65_536, 2, pagesPerRegion);
        assertThat(plan).isInstanceOf(SendQueuePlan.Supported.class);
        return (SendQueuePlan.Supported) plan;
    }

    /** Connects, with so many regions ready. */
    Caller connected(int regions) {
        monitor.run(() -> {
            endpoint.ensureReceives(plan.receiveDepth());
            endpoint.connect(server.address(), ConnectOptions.DEFAULT);
        });
        rig.await("established", () -> isEstablished);
        rig.await("accepted", () -> peer().isEstablished());
        if (regions > 0) {
            monitor.run(pool::grow);
            await("regions", () -> pool.available() >= regions);
        }
        return this;
    }

    RawConnection peer() {
        return server.connection();
    }

    TestCall newCall(int xid) {
        TestCall call = new TestCall(this, xid);
        monitor.run(() -> calls.add(call));
        return call;
    }

    /** A list whose latest call is woken. */
    RegionList newList() {
        RegionList[] made = new RegionList[1];
        made[0] = registrar.newList(() -> {
            for (TestCall call : List.copyOf(calls)) {
                if (call.list.equals(made[0])) {
                    call.onWake();
                }
            }
        });
        return made[0];
    }

    /** A further call of the same request slot. */
    TestCall newCallOn(RegionList list, int xid) {
        TestCall call = new TestCall(this, xid, list);
        monitor.run(() -> {
            calls.removeIf(before -> before.list == list);
            calls.add(call);
        });
        return call;
    }

    /** Waits until the condition holds, which is looked at inside the monitor. */
    void await(String what, BooleanSupplier condition) {
        rig.await(what, () -> inMonitor(condition));
    }

    private boolean inMonitor(BooleanSupplier condition) {
        monitor.enter();
        try {
            return condition.getAsBoolean();
        } finally {
            monitor.leave();
        }
    }

    /** Ends the connection and gives everything back. */
    void close() {
        monitor.run(() -> endpoint.abort(DisconnectCause.LOCAL_CLOSE, "test is over"));
        awaitClosed();
        server.close();
    }

    /** If completions were lost, the end is that of a time limit: the real clock is moved forward to it. */
    void awaitClosed() {
        if (!rig.isSimulated() && !rig.awaitWithin(SOON, () -> isClosed)) {
            rig.advance(Duration.ofNanos(DRAIN_NANOS));
        }
        rig.await("closed", () -> isClosed);
    }

    void expectReply(TestCall call) {
        waitingForReply.put(call.xid, call);
    }

    long count(ClientCounter counter) {
        return counters.get(counter);
    }

    @Override
    public void post(Outbox.Entry entry) {
        posted.add(entry);
        endpoint.post(entry);
    }

    @Override
    public void fail(DisconnectCause cause, String detail) {
        fails++;
        endpoint.abort(cause, detail);
    }

    @Override
    public void onEstablished(ConnectionInfo info) {
        isEstablished = true;
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        registrar.connectionEnding();
    }

    @Override
    public void onReceive(int buffer, int length, boolean withInvalidate, int invalidatedKey) {
        int xid = endpoint.receiveMemory(buffer).get(WORD, 0);
        endpoint.releaseReceive(buffer);
        TestCall call = waitingForReply.remove(xid);
        if (withInvalidate) {
            RemoteInvalidation found = registrar.remotelyInvalidated(call == null ? null : call.list, invalidatedKey);
            remoteInvalidations.add(found);
            if (found == RemoteInvalidation.FOREIGN) {
                endpoint.abort(DisconnectCause.PROTOCOL_VIOLATION, "foreign invalidation");
            }
        }
        if (call != null) {
            call.onReply();
        }
    }

    @Override
    public void onSendQueueCompletion(WorkCompletion completion) {
        switch (WorkIds.kind(completion.id())) {
            case REGISTER -> registrar.onRegisterCompletion(completion);
            case INVALIDATE -> registrar.onInvalidateCompletion(completion);
            case SEND -> {
                sendsCompleted++;
                endpoint.returnSendBuffer(WorkIds.index(completion.id()));
                registrar.postStalled();
                if (!completion.isSuccess()) {
                    endpoint.abort(DisconnectCause.WORK_REQUEST_FAILED, "Send failed");
                }
            }
            default -> throw new AssertionError(completion);
        }
    }

    void onRefusedSend(PostResult.Refused refused) {
        refusals++;
        if (refused.reason() == PostResult.Reason.WRONG_STATE) {
            endpoint.abort(DisconnectCause.WORK_REQUEST_FAILED, refused.detail());
        }
    }

    @Override
    public void onDisconnecting(DisconnectCause cause, String detail) {
        disconnects++;
        whenDisconnecting.run();
        registrar.connectionEnding();
        if (endsCallsWhenDisconnected) {
            calls.forEach(TestCall::onDisconnected);
        }
    }

    @Override
    public void onQueuePairClosed() {
        isQueuePairClosed = true;
        registrar.releaseAll(() -> isReleased = true);
    }

    @Override
    public void onClosed() {
        assertThat(isReleased).as("released before closed").isTrue();
        isClosed = true;
    }

    /** I6, F29, F7: looked at between steps. */
    void checkInvariants() {
        monitor.run(this::checkRegions);
    }

    private void checkRegions() {
        int free = 0;
        int owned = 0;
        for (Region region : pool.regions()) {
            RegionList owner = region.owner();
            switch (region.custody()) {
                case FREE -> {
                    free++;
                    assertThat(owner).as("owner of %s", region).isNull();
                    assertThat(region.state()).as("state of %s", region).isEqualTo(RegionState.INVALID);
                    assertThat(region.invalidation())
                            .as("outstanding for %s", region)
                            .isNull();
                    assertThat(region.device().length())
                            .as("memory of %s", region)
                            .isZero();
                }
                case MAPPING, REGISTERED, RECOVERY -> {
                    owned++;
                    assertThat(contains(owner, region))
                            .as("owner of %s", region)
                            .isTrue();
                }
                case GONE -> {
                    owned++;
                    assertThat(contains(owner, region))
                            .as("owner of orphan %s", region)
                            .isTrue();
                }
            }
            if (region.state() == RegionState.INVALID) {
                assertThat(region.device().isValid())
                        .as("the device's %s", region)
                        .isFalse();
            }
        }
        int kept = 0;
        int used = 0;
        for (TestCall call : calls) {
            kept += call.list.kept();
            used += call.list.size();
        }
        assertThat(pool.available() + kept).as("free regions: %s", this).isEqualTo(free);
        assertThat(used).as("regions in use: %s", this).isEqualTo(owned);
    }

    private static boolean contains(@Nullable RegionList list, Region region) {
        for (int i = 0; list != null && i < list.size(); i++) {
            if (list.region(i) == region) {
                return true;
            }
        }
        return false;
    }

    static void putWord(MemorySegment memory, int index, int value) {
        memory.set(WORD, 4L * index, value);
    }

    @Override
    public String toString() {
        return endpoint + System.lineSeparator() + registrar + System.lineSeparator() + calls;
    }
}
