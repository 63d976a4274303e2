// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.cm.ConnectRequest;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** What all parts of the contract share: opens the devices, makes connections, waits, and checks the ledgers at the end. */
public abstract class ContractCase {

    static final long REGISTER_ID = 1_000_000;

    private final List<AutoCloseable> resources = new ArrayList<>();
    private final List<Endpoint> endpoints = new ArrayList<>();

    DeviceUnderTest device = NoDevice.INSTANCE;

    /** Only the classes of this package have tests. */
    ContractCase() {}

    /** Opens devices for one test. */
    protected abstract DeviceUnderTest open() throws Exception;

    @BeforeEach
    void openDevices() throws Exception {
        device = open();
    }

    @AfterEach
    void closeDevicesAndCheckTheLedgers() throws Exception {
        try (DeviceUnderTest closing = device) {
            for (AutoCloseable resource : resources.reversed()) {
                resource.close();
            }
            closing.settle();
        }
        assertThat(device.client().ledger().isBalanced())
                .as("client %s", device.client().ledger())
                .isTrue();
        assertThat(device.server().ledger().isBalanced())
                .as("server %s", device.server().ledger())
                .isTrue();
    }

    /** Closes the given thing after the test, in reverse order. */
    final <T extends AutoCloseable> T own(T thing) {
        resources.add(thing);
        return thing;
    }

    final Endpoint endpointOf(RdmaDevice owner, EndpointOptions options) {
        return add(new Endpoint(owner, options));
    }

    /** Polls the endpoint from now on and closes it after the test. */
    final Endpoint add(Endpoint endpoint) {
        endpoints.add(endpoint);
        return own(endpoint);
    }

    /** A connection with {@link EndpointOptions#DEFAULT} at both ends. */
    final ConnectedPair connect() throws Exception {
        return connect(EndpointOptions.DEFAULT, EndpointOptions.DEFAULT);
    }

    /** A connection whose server has posted so many Receives. */
    final ConnectedPair connectWithReceives(int count) throws Exception {
        return connect(EndpointOptions.DEFAULT, EndpointOptions.DEFAULT.withReceives(count));
    }

    final ConnectedPair connect(EndpointOptions clientOptions, EndpointOptions serverOptions) throws Exception {
        Endpoint client = endpointOf(device.client(), clientOptions);
        Endpoint server = endpointOf(device.server(), serverOptions);
        return connect(client, server);
    }

    /** Connects two endpoints that are idle. */
    final ConnectedPair connect(Endpoint client, Endpoint server) throws Exception {
        try (ListenEndpoint listen = device.server()
                .connectionManager()
                .listen(device.listenAddress(), 4, request -> accept(request, server))) {
            device.client()
                    .connectionManager()
                    .connect(client.queuePair, listen.localAddress(), client.options.connect(), client.events);
            await("both ends are established", () -> client.events.isEstablished() && server.events.isEstablished());
        }
        return new ConnectedPair(client, server);
    }

    static void accept(ConnectRequest request, Endpoint server) {
        request.accept(server.queuePair, server.options.connect(), server.events);
    }

    /** Waits; polls all endpoints before each look at the condition; fails with the state of all endpoints. */
    final void await(String what, BooleanSupplier condition) {
        boolean held = device.await(() -> {
            pollAll();
            return condition.getAsBoolean();
        });
        if (!held) {
            throw new AssertionError("waited in vain until " + what + System.lineSeparator() + describe());
        }
    }

    /** Waits without polling. */
    final void awaitUnpolled(String what, BooleanSupplier condition) {
        if (!device.await(condition)) {
            throw new AssertionError("waited in vain until " + what + System.lineSeparator() + describe());
        }
    }

    /** Gives the devices time for what they must not do, then polls. */
    final void settle() {
        device.settle();
        pollAll();
    }

    final void pollAll() {
        endpoints.forEach(Endpoint::poll);
    }

    final String describe() {
        StringBuilder text = new StringBuilder(device.describe());
        for (Endpoint endpoint : endpoints) {
            text.append(System.lineSeparator())
                    .append(endpoint.device.name())
                    .append(": ")
                    .append(endpoint.describe());
        }
        return text.toString();
    }

    /** Posts, and waits until its completion is the last that was polled of the send queue. */
    final void postAndAwait(Endpoint endpoint, SendQueueRequest request) {
        int before = endpoint.sends.size();
        endpoint.queuePair.postSend(request).orThrow();
        await(
                request.operation() + " " + request.id() + " completes",
                () -> endpoint.sends.size() > before && endpoint.sends.getLast().id() == request.id());
    }

    /** Posts, waits for the completion and asks for success. */
    final void postAndSucceed(Endpoint endpoint, SendQueueRequest request) {
        postAndAwait(endpoint, request);
        Completion last = endpoint.sends.getLast();
        assertThat(last.id()).as("%s", last).isEqualTo(request.id());
        assertThat(last.status()).as("%s", describe()).isEqualTo(WorkCompletion.Status.SUCCESS);
    }

    /** Maps the memory to a new fast region and registers it for the queue pair. */
    final FastRegion register(Endpoint owner, MemorySegment memory, Access access) {
        FastRegion region = fastRegion(owner, memory);
        postAndSucceed(owner, registration(region, access));
        return region;
    }

    /** A new fast region, mapped but not registered; closed with the endpoint. */
    final FastRegion fastRegion(Endpoint owner, MemorySegment memory) {
        requireFastRegistration();
        FastRegion region = owner.own(owner.domain.allocateFastRegion(pagesOf(memory)));
        assertThat(region.map(List.of(memory), 0x1234_0000_0000L)).isEqualTo(1);
        return region;
    }

    final int pagesOf(MemorySegment memory) {
        int pageBytes = device.client().attributes().pageBytes();
        return (int) ((memory.byteSize() + pageBytes - 1) / pageBytes) + 1;
    }

    static RegisterRequest registration(FastRegion region, Access access) {
        return new RegisterRequest()
                .id(REGISTER_ID)
                .region(region, region.advanceKey())
                .access(access);
    }

    final void requireFastRegistration() {
        Assumptions.assumeTrue(
                device.client().attributes().memoryManagementExtensions(), "device has no fast registration");
    }

    /** Waits until the queue pair is in ERROR, both listeners of a connection included. */
    final void awaitError(ConnectedPair pair) {
        await("both ends are in ERROR and told so", () -> isDead(pair.client()) && isDead(pair.server()));
    }

    static boolean isDead(Endpoint endpoint) {
        return endpoint.queuePair.state() == QueuePair.State.ERROR && endpoint.events.hasEnded();
    }

    /** Waits until the drain has ended. */
    final void awaitDrain(CompletableFuture<Void> drain) throws ExecutionException, InterruptedException {
        await("the drain ends", drain::isDone);
        drain.get();
    }

    static byte[] bytesOf(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }
}
