// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rpcrdma4j.iwarp.SoftIwarpProvider;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.ProtectionDomain;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.Disconnect;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;
import org.rpcrdma4j.verbs.cm.ListenEndpoint;

/** A device with what was opened on it, a connection that has nothing to do with the test's, and the oracle for broken rules. */
final class Rig implements AutoCloseable {
    /** Reads in either direction, unless the test says otherwise. */
    static final int READS = 16;

    final LogLines log = new LogLines();
    final RdmaDevice device;
    final ProtectionDomain domain;
    private final Arena arena = Arena.ofShared();
    private final List<Stream> streams = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final List<ProtectionDomain> domains = new ArrayList<>();
    private final Stream bystander;
    private int bystanderMsn = 1;
    private int flags = RawPeer.C | RawPeer.S;

    Rig() {
        this(Map.of());
    }

    Rig(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(Map.of("threads", "2", "kick-millis", "0"));
        all.putAll(settings);
        device = new SoftIwarpProvider().open(all);
        domain = domain();
        bystander = open(Role.RESPONDER);
        nudge(bystander);
    }

    /** The raw peer's flags in the start-up frames from now on. */
    Rig withPeerFlags(int newFlags) {
        flags = newFlags;
        return this;
    }

    ProtectionDomain domain() {
        ProtectionDomain made = device.allocateProtectionDomain();
        domains.add(made);
        return made;
    }

    Patch patch(int size) {
        return new Patch(arena.allocate(Patch.bytesFor(size), 8));
    }

    MemoryRegion region(Patch patch, Access access) {
        return region(domain, patch, access);
    }

    MemoryRegion region(ProtectionDomain owner, Patch patch, Access access) {
        MemoryRegion made = owner.register(patch.memory(), access);
        regions.add(made);
        return made;
    }

    /** A fast region, valid under a fresh key. */
    FastRegion fast(Stream stream, Patch patch, Access access, Scope scope, long remoteAddress) {
        MemorySegment memory = patch.memory();
        FastRegion region = stream.domain.allocateFastRegion((int) memory.byteSize() / 4096 + 2);
        regions.add(region);
        region.map(List.of(memory), remoteAddress);
        long id = stream.nextId();
        stream.post(new RegisterRequest()
                .id(id)
                .region(region, region.advanceKey())
                .access(access)
                .scope(scope));
        assertThat(stream.status(id)).isEqualTo(Status.SUCCESS);
        return region;
    }

    Stream open(Role role) {
        return open(role, ConnectOptions.DEFAULT.withReads(READS, READS));
    }

    Stream open(Role role, ConnectOptions options) {
        return open(role, domain, options, RawPeer.words(READS, READS));
    }

    Stream open(Role role, ProtectionDomain owner, ConnectOptions options, byte[] words) {
        return open(new Stream(owner), role, options, words);
    }

    /** Connects; as responder the device has had no FPDU yet. */
    Stream open(Stream stream, Role role, ConnectOptions options, byte[] words) {
        streams.add(stream);
        byte[] data = (flags & RawPeer.S) != 0 ? words : new byte[0];
        try {
            if (role == Role.RESPONDER) {
                accept(stream, options, data);
            } else {
                connect(stream, options, data);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(stream.toString(), e);
        }
        stream.awaitEstablished();
        return stream;
    }

    private void accept(Stream stream, ConnectOptions options, byte[] data) throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        ListenEndpoint endpoint =
                device.connectionManager().listen(any, 4, request -> request.accept(stream.queuePair, options, stream));
        try (endpoint) {
            RawPeer peer = RawPeer.connect(endpoint.localAddress());
            stream.connectedTo(peer);
            stream.repliedWith(peer.initiate(flags, data));
        }
    }

    private void connect(Stream stream, ConnectOptions options, byte[] data) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 4, InetAddress.getLoopbackAddress())) {
            device.connectionManager()
                    .connect(stream.queuePair, (InetSocketAddress) server.getLocalSocketAddress(), options, stream);
            server.setSoTimeout(10_000);
            RawPeer peer = RawPeer.of(server.accept());
            stream.connectedTo(peer);
            peer.readRequest();
            peer.reply(flags, data);
        }
    }

    /** An FPDU without effect, so that a responder may send. */
    static void nudge(Stream stream) {
        try {
            stream.peer().send(Ulpdu.nothing());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A connected stream whose device may send. */
    Stream openNudged(Role role) {
        Stream stream = open(role);
        nudge(stream);
        return stream;
    }

    /** Posts a Receive into all of a patch. */
    long receive(Stream stream, Patch patch) {
        MemoryRegion region = region(stream.domain, patch, Access.LOCAL_WRITE);
        return stream.post(new ReceiveRequest().sge(region, 0, region.length()));
    }

    /** Posts a Send of these bytes. */
    long send(Stream stream, byte... content) {
        long id = stream.nextId();
        SendRequest send = new SendRequest().id(id);
        if (content.length > 0) {
            Patch patch = patch(content.length);
            MemorySegment.copy(MemorySegment.ofArray(content), 0, patch.memory(), 0, content.length);
            send.sge(region(stream.domain, patch, Access.LOCAL_READ), 0, content.length);
        }
        stream.post(send);
        return id;
    }

    /** Posts a Read of as many bytes as the sink has, from STag 0x1100 TO 0x2200. */
    long read(Stream stream, MemoryRegion sink) {
        long id = stream.nextId();
        stream.post(new RdmaReadRequest().id(id).sge(sink, 0, sink.length()).source(0x1100, 0x2200));
        return id;
    }

    // The oracle.

    /** A rule was broken: exactly this Terminate, then FIN; and all that goes with it. */
    Disconnect assertEndedBy(Stream stream, Ulpdu terminate) throws IOException {
        assertThat(stream.peer().receive()).as("the Terminate").isEqualTo(terminate);
        stream.peer().expectFin();
        Disconnect end = assertEnded(stream, Cause.LOCAL_ERROR);
        assertCounts(1, 1, 0);
        int word = terminate.intAt(18);
        assertThat(end.report()).isNotNull();
        assertThat(new int[] {
                    end.report().layer(), end.report().type(), end.report().code()
                })
                .containsExactly(word >>> 28, word >>> 24 & 15, word >>> 16 & 255);
        assertThat(log.lines())
                .as("log lines")
                .singleElement()
                .asString()
                .containsOnlyOnce("%d/%d/%02X".formatted(word >>> 28, word >>> 24 & 15, word >>> 16 & 255));
        return end;
    }

    /** The stream is over: told once, all requests completed once, and nobody else took harm. */
    Disconnect assertEnded(Stream stream, Cause cause) throws IOException {
        stream.peer().close();
        Disconnect end = stream.awaitDisconnect();
        assertThat(end.cause()).as("%s", end).isEqualTo(cause);
        stream.awaitAllFlushed();
        assertBystanderWorks();
        stream.poll();
        assertThat(stream.disconnectCount()).isOne();
        return end;
    }

    void assertCounts(int violations, int terminatesSent, int terminatesReceived) {
        assertThat(device.counters())
                .containsEntry("stream.violations", (long) violations)
                .containsEntry("stream.terminates_sent", (long) terminatesSent)
                .containsEntry("stream.terminates_received", (long) terminatesReceived)
                .containsEntry("loop.task_errors", 0L);
    }

    /** Nothing was wrong so far, and the stream still works in both directions. */
    void assertInOrder(Stream stream, int nextMsn) throws IOException {
        assertEchoes(stream, nextMsn);
        assertCounts(0, 0, 0);
        assertThat(log.lines()).isEmpty();
        assertThat(stream.disconnectCount()).isZero();
    }

    private void assertBystanderWorks() throws IOException {
        assertEchoes(bystander, bystanderMsn++);
    }

    /** A Send takes the oldest Receive, and one comes back. */
    private void assertEchoes(Stream stream, int msn) throws IOException {
        receive(stream, patch(8));
        stream.peer().send(Ulpdu.send(msn, (byte) 1, (byte) 2, (byte) 3));
        // Not the next completion to come: a message sent before may still be on its way.
        WorkCompletion completion = stream.awaitReceive(msn);
        assertThat(completion.isSuccess()).as("%s", completion).isTrue();
        assertThat(completion.operation()).isEqualTo(Operation.RECEIVE);
        assertThat(completion.byteLength()).isEqualTo(3);
        long send = send(stream, (byte) 9);
        assertThat(stream.status(send)).isEqualTo(Status.SUCCESS);
        assertThat(stream.peer().receive().payload()).containsExactly(9);
    }

    @Override
    public void close() throws IOException {
        for (Stream stream : streams) {
            stream.close();
        }
        regions.forEach(MemoryRegion::close);
        domains.forEach(ProtectionDomain::close);
        assertThat(device.ledger().isBalanced()).as("%s", device.ledger()).isTrue();
        device.close();
        arena.close();
        log.close();
    }
}
