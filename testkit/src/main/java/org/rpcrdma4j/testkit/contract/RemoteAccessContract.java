// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.assertj.core.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** Who may reach which memory of the peer, and that refusals leave no trace in it. */
abstract class RemoteAccessContract extends ContractCase {

    private static final int BYTES = 1000;

    private static SendQueueRequest write(Endpoint client, int key, long address, long length) {
        return new RdmaWriteRequest().id(1).sge(client.region, 0, length).target(key, address);
    }

    private static SendQueueRequest read(Endpoint client, int key, long address, long length) {
        return new RdmaReadRequest().id(1).sge(client.region, 0, length).source(key, address);
    }

    /** Posts what the peer must refuse: both ends die, neither end's memory changes. */
    private void expectRefusal(ConnectedPair pair, MemorySegment target, SendQueueRequest request) {
        byte[] before = bytesOf(target);
        byte[] sink = bytesOf(pair.client().memory.asSlice(0, 2L * BYTES));
        pair.client().queuePair.postSend(request).orThrow();
        awaitError(pair);
        await("the request completes", () -> !pair.client().sends.isEmpty());
        assertThat(bytesOf(target)).as("%s", request.operation()).isEqualTo(before);
        if (request instanceof RdmaReadRequest) {
            assertThat(pair.client().sends.getFirst().status()).isIn(Status.REMOTE_ACCESS_ERROR, Status.FLUSHED);
            assertThat(bytesOf(pair.client().memory.asSlice(0, 2L * BYTES))).isEqualTo(sink);
        }
        assertThat(pair.server().events.disconnected().cause()).isEqualTo(Disconnect.Cause.LOCAL_ERROR);
        assertThat(pair.server().events.disconnected().report()).isNotNull();
        assertThat(pair.client().events.disconnected().cause())
                .isIn(Disconnect.Cause.REMOTE_ERROR, Disconnect.Cause.CONNECTION_LOST);
    }

    private void expectSuccess(ConnectedPair pair, SendQueueRequest request) {
        postAndSucceed(pair.client(), request);
        settle();
        assertThat(pair.server().events.hasEnded()).as("%s", describe()).isFalse();
    }

    @Test
    void writesNeedRemoteWrite() throws Exception {
        for (Access access : new Access[] {
            Access.LOCAL_READ,
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            new Access(true, true, false),
            Access.REMOTE_WRITE,
            Access.REMOTE_READ_WRITE
        }) {
            ConnectedPair pair = connect();
            MemorySegment target = pair.server().bytes(BYTES, 3);
            MemoryRegion region = pair.server().own(pair.server().domain.register(target, access));
            SendQueueRequest request = write(pair.client(), region.remoteKey(), region.remoteAddress(), BYTES);
            if (access.remoteWrite()) {
                expectSuccess(pair, request);
            } else {
                expectRefusal(pair, target, request);
            }
        }
    }

    @Test
    void readsNeedRemoteRead() throws Exception {
        for (Access access : new Access[] {
            Access.LOCAL_READ,
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            new Access(true, true, false),
            Access.REMOTE_WRITE,
            Access.REMOTE_READ_WRITE
        }) {
            ConnectedPair pair = connect();
            MemorySegment target = pair.server().bytes(BYTES, 3);
            MemoryRegion region = pair.server().own(pair.server().domain.register(target, access));
            SendQueueRequest request = read(pair.client(), region.remoteKey(), region.remoteAddress(), BYTES);
            if (access.remoteRead()) {
                expectSuccess(pair, request);
            } else {
                expectRefusal(pair, target, request);
            }
        }
    }

    @Test
    void rightsOfAFastRegistrationAreKept() throws Exception {
        for (Access access : new Access[] {Access.REMOTE_READ, Access.REMOTE_WRITE}) {
            ConnectedPair pair = connect();
            MemorySegment target = pair.server().bytes(BYTES, 3);
            FastRegion region = register(pair.server(), target, access);
            expectRefusal(
                    pair,
                    target,
                    access.remoteRead()
                            ? write(pair.client(), region.remoteKey(), region.remoteAddress(), 1)
                            : read(pair.client(), region.remoteKey(), region.remoteAddress(), 1));
        }
    }

    @Test
    void accessOutsideOfTheRegionIsRefused() throws Exception {
        long[][] offsetsAndLengths = {
            {-1, 1}, {-1, 2}, {0, BYTES + 1}, {BYTES - 1, 2}, {BYTES, 1}, {BYTES + 1, 1}, {Long.MIN_VALUE, 8}
        };
        for (long[] range : offsetsAndLengths) {
            for (boolean writing : new boolean[] {true, false}) {
                ConnectedPair pair = connect();
                MemorySegment around = pair.server().bytes(3L * BYTES, 3);
                MemoryRegion region = pair.server()
                        .own(pair.server().domain.register(around.asSlice(BYTES, BYTES), Access.REMOTE_READ_WRITE));
                long address = region.remoteAddress() + range[0];
                expectRefusal(
                        pair,
                        around,
                        writing
                                ? write(pair.client(), region.remoteKey(), address, range[1])
                                : read(pair.client(), region.remoteKey(), address, range[1]));
            }
        }
    }

    @Test
    void aRangeThatWrapsAroundIsRefused() throws Exception {
        requireFastRegistration();
        Assumptions.assumeThat(device.server().attributes().remoteAddressIsFree())
                .isTrue();
        for (long[] baseAndOffset : new long[][] {{0, -8}, {-BYTES - 1L, BYTES - 4}}) {
            for (boolean writing : new boolean[] {true, false}) {
                ConnectedPair pair = connect();
                MemorySegment target = pair.server().bytes(BYTES, 3);
                FastRegion region = pair.server().own(pair.server().domain.allocateFastRegion(2));
                region.map(List.of(target), baseAndOffset[0]);
                postAndSucceed(pair.server(), registration(region, Access.REMOTE_READ_WRITE));
                long address = baseAndOffset[0] + baseAndOffset[1];
                expectRefusal(
                        pair,
                        target,
                        writing
                                ? write(pair.client(), region.remoteKey(), address, 16)
                                : read(pair.client(), region.remoteKey(), address, 16));
            }
        }
    }

    @Test
    void unknownKeysAreRefused() throws Exception {
        for (int flip : new int[] {1, 0x80, 0x100, 0x8000_0000}) {
            ConnectedPair pair = connect();
            MemorySegment target = pair.server().bytes(BYTES, 3);
            MemoryRegion region = pair.server().own(pair.server().domain.register(target, Access.REMOTE_READ_WRITE));
            expectRefusal(pair, target, write(pair.client(), region.remoteKey() ^ flip, region.remoteAddress(), 8));
        }
    }

    @Test
    void keysOfEarlierRegistrationsOpenNothing() throws Exception {
        ConnectedPair pair = connect();
        Endpoint server = pair.server();
        MemorySegment target = server.bytes(BYTES, 3);
        FastRegion region = register(server, target, Access.REMOTE_READ_WRITE);
        int old = region.remoteKey();
        for (int i = 0; i < 255; i++) {
            postAndSucceed(server, new LocalInvalidateRequest().id(i).key(region.remoteKey()));
            postAndSucceed(server, registration(region, Access.REMOTE_READ_WRITE));
            assertThat(region.remoteKey()).isNotEqualTo(old);
        }
        postAndSucceed(pair.client(), write(pair.client(), region.remoteKey(), region.remoteAddress(), 8));
        settle();
        assertThat(server.events.hasEnded()).isFalse();
        expectRefusal(pair, target, write(pair.client(), old, region.remoteAddress(), 8));
    }

    @Test
    void anInvalidatedRegionIsClosedToThePeer() throws Exception {
        for (boolean writing : new boolean[] {true, false}) {
            ConnectedPair pair = connect();
            MemorySegment target = pair.server().bytes(BYTES, 3);
            FastRegion region = register(pair.server(), target, Access.REMOTE_READ_WRITE);
            int key = region.remoteKey();
            postAndSucceed(pair.server(), new LocalInvalidateRequest().id(1).key(key));
            expectRefusal(
                    pair,
                    target,
                    writing
                            ? write(pair.client(), key, region.remoteAddress(), 8)
                            : read(pair.client(), key, region.remoteAddress(), 8));
        }
    }

    @Test
    void aMappedRegionIsClosedUntilItIsRegistered() throws Exception {
        ConnectedPair pair = connect();
        MemorySegment target = pair.server().bytes(BYTES, 3);
        FastRegion region = fastRegion(pair.server(), target);
        expectRefusal(pair, target, write(pair.client(), region.advanceKey(), region.remoteAddress(), 8));
    }

    @Test
    void aClosedRegionIsClosedToThePeer() throws Exception {
        ConnectedPair pair = connect();
        MemorySegment target = pair.server().bytes(BYTES, 3);
        MemoryRegion region = pair.server().domain.register(target, Access.REMOTE_READ_WRITE);
        int key = region.remoteKey();
        long address = region.remoteAddress();
        region.close();
        expectRefusal(pair, target, write(pair.client(), key, address, 8));
    }

    @Test
    void aRegionOfTheDomainServesAllItsQueuePairs() throws Exception {
        ConnectedPair first = connect();
        ConnectedPair second = secondPairOn(first);
        MemorySegment target = first.server().bytes(BYTES, 3);
        FastRegion region = fastRegion(first.server(), target);
        postAndSucceed(
                first.server(),
                registration(region, Access.REMOTE_READ_WRITE).scope(RegisterRequest.Scope.PROTECTION_DOMAIN));
        expectSuccess(first, write(first.client(), region.remoteKey(), region.remoteAddress(), 8));
        expectSuccess(second, read(second.client(), region.remoteKey(), region.remoteAddress(), 8));
    }

    @Test
    void aRegionOfAQueuePairServesNoOther() throws Exception {
        for (boolean writing : new boolean[] {true, false}) {
            ConnectedPair first = connect();
            ConnectedPair second = secondPairOn(first);
            MemorySegment target = first.server().bytes(BYTES, 3);
            FastRegion region = register(first.server(), target, Access.REMOTE_READ_WRITE);
            expectRefusal(
                    second,
                    target,
                    writing
                            ? write(second.client(), region.remoteKey(), region.remoteAddress(), 8)
                            : read(second.client(), region.remoteKey(), region.remoteAddress(), 8));
            expectSuccess(first, write(first.client(), region.remoteKey(), region.remoteAddress(), 8));
        }
    }

    @Test
    void aRegionOfAnotherDomainIsRefused() throws Exception {
        for (boolean writing : new boolean[] {true, false}) {
            ConnectedPair first = connect();
            ConnectedPair other = connect();
            MemorySegment target = first.server().bytes(BYTES, 3);
            MemoryRegion region = first.server().own(first.server().domain.register(target, Access.REMOTE_READ_WRITE));
            expectRefusal(
                    other,
                    target,
                    writing
                            ? write(other.client(), region.remoteKey(), region.remoteAddress(), 8)
                            : read(other.client(), region.remoteKey(), region.remoteAddress(), 8));
        }
    }

    private ConnectedPair secondPairOn(ConnectedPair first) throws Exception {
        Endpoint client = endpointOf(device.client(), EndpointOptions.DEFAULT);
        Endpoint server = add(new Endpoint(device.server(), EndpointOptions.DEFAULT, first.server().domain));
        return connect(client, server);
    }
}
