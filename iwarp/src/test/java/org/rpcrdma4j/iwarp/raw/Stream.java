// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.CompletionHandler;
import org.rpcrdma4j.verbs.CompletionQueue;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.QueuePair;
import org.rpcrdma4j.verbs.QueuePairOptions;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** A queue pair of the device and the raw peer at its other end. Keeps count of work requests and their completions. */
final class Stream implements ConnectionListener, AutoCloseable {
    private static final int DEPTH = 256;

    final ProtectionDomain domain;
    final CompletionQueue completions;
    final QueuePair queuePair;
    private RawPeer peer;
    private byte[] replyWords = {};

    private final BlockingQueue<ConnectionInfo> established = new LinkedBlockingQueue<>();
    private final BlockingQueue<Disconnect> disconnects = new LinkedBlockingQueue<>();
    private final BlockingQueue<ConnectRefusal> refusals = new LinkedBlockingQueue<>();
    private final LinkedHashMap<Long, WorkCompletion> done = new LinkedHashMap<>();
    private final WorkCompletion[] polled = {new WorkCompletion()};
    private long posted;
    private Runnable onEstablished = () -> {};

    Stream(ProtectionDomain domain) {
        this(domain, null);
    }

    Stream(ProtectionDomain domain, CompletionHandler handler) {
        this.domain = domain;
        completions = domain.device().createCompletionQueue(2 * DEPTH, handler);
        queuePair = domain.createQueuePair(new QueuePairOptions(completions, completions, DEPTH, DEPTH, 4));
    }

    Stream whenEstablished(Runnable action) {
        onEstablished = action;
        return this;
    }

    RawPeer peer() {
        return peer;
    }

    void connectedTo(RawPeer other) {
        peer = other;
    }

    void repliedWith(byte... privateData) {
        replyWords = privateData.clone();
    }

    /** Private data of the device's Reply, control words first. */
    byte[] replyWords() {
        return replyWords.clone();
    }

    ConnectionInfo awaitEstablished() {
        Waits.until(() -> !established.isEmpty(), () -> "not established: " + this);
        return established.element();
    }

    Disconnect awaitDisconnect() {
        Waits.until(() -> !disconnects.isEmpty(), () -> "not disconnected: " + this);
        return disconnects.element();
    }

    boolean isConnected() {
        return queuePair.state() == QueuePair.State.CONNECTED && disconnects.isEmpty();
    }

    /** The number of a work request about to be posted. */
    synchronized long nextId() {
        return ++posted;
    }

    long posted() {
        return posted;
    }

    void post(SendQueueRequest request) {
        PostResult result = queuePair.postSend(request);
        assertThat(result.isPosted()).as("%s", result).isTrue();
    }

    long post(ReceiveRequest request) {
        long id = nextId();
        PostResult result = queuePair.postReceive(request.id(id));
        assertThat(result.isPosted()).as("%s", result).isTrue();
        return id;
    }

    /** Takes completions; a second one for the same work request fails. */
    void poll() {
        while (completions.poll(polled) == 1) {
            WorkCompletion completion = polled[0];
            polled[0] = new WorkCompletion();
            assertThat(done.put(completion.id(), completion))
                    .as("second completion: %s", completion)
                    .isNull();
        }
    }

    WorkCompletion await(long id) {
        Waits.until(
                () -> {
                    poll();
                    return done.containsKey(id);
                },
                () -> "request " + id + " not complete: " + this);
        return done.get(id);
    }

    boolean isDone(long id) {
        poll();
        return done.containsKey(id);
    }

    /** Waits until all that was posted signaled, or is flushed, has completed, each once. */
    void awaitAllFlushed() {
        Waits.until(
                () -> {
                    poll();
                    return done.size() == posted;
                },
                () -> done.size() + " of " + posted + " complete: " + this);
    }

    Status status(long id) {
        return await(id).status();
    }

    /** How many requests have completed. */
    int completed() {
        poll();
        return done.size();
    }

    /** The n-th completion of a Receive, counted from 1: as Sends take Receives in order, that of the message with this MSN. */
    WorkCompletion awaitReceive(int n) {
        Waits.until(
                () -> {
                    poll();
                    return receives().size() >= n;
                },
                () -> receives().size() + " of " + n + " Receives complete: " + this);
        return receives().get(n - 1);
    }

    private List<WorkCompletion> receives() {
        return done.values().stream()
                .filter(completion -> completion.operation() == WorkCompletion.Operation.RECEIVE)
                .toList();
    }

    /** Ids in the order of their completions. */
    Iterable<Long> order() {
        return done.keySet();
    }

    @Override
    public void onEstablished(ConnectionInfo info) {
        onEstablished.run();
        established.add(info);
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        refusals.add(refusal);
    }

    @Override
    public void onDisconnected(Disconnect disconnect) {
        disconnects.add(disconnect);
    }

    int disconnectCount() {
        return disconnects.size();
    }

    @Override
    public void close() throws IOException {
        if (peer != null) {
            peer.close();
        }
        queuePair.close();
        completions.close();
    }

    @Override
    public String toString() {
        return queuePair + ", done " + done.values() + ", refused " + refusals + ", disconnected " + disconnects;
    }
}
