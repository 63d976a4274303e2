// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** RDMA Write and RDMA Read that are allowed. */
abstract class WriteReadContract extends ContractCase {

    private static final long[] LENGTHS = {1, 2, 7, 4095, 4096, 65_535, 65_537, 300_001};

    @Test
    void writesOfManyLengthsArePlacedAndNothingElseIs() throws Exception {
        ConnectedPair pair = connectWithReceives(LENGTHS.length);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment target = server.arena.allocate(400_000, 4096);
        MemoryRegion region = server.own(server.domain.register(target, Access.REMOTE_WRITE));
        for (int i = 0; i < LENGTHS.length; i++) {
            long length = LENGTHS[i];
            long offset = 13L * (i + 1);
            target.fill((byte) 0x55);
            Endpoint.fill(client.memory.asSlice(0, length), i + 1);
            client.queuePair
                    .postSend(List.of(
                            new RdmaWriteRequest()
                                    .id(i)
                                    .sge(client.region, 0, length)
                                    .target(region.remoteKey(), region.remoteAddress() + offset),
                            new SendRequest().id(100 + i)))
                    .orThrow();
            int count = i + 1;
            await("the Send behind the Write arrives", () -> server.receives.size() == count);
            assertThat(target.asSlice(offset, length).mismatch(client.memory.asSlice(0, length)))
                    .isEqualTo(-1);
            assertThat(bytesOf(target.asSlice(0, offset))).containsOnly(0x55);
            assertThat(bytesOf(target.asSlice(offset + length, 100))).containsOnly(0x55);
        }
        await("all complete", () -> client.sends.size() == 2 * LENGTHS.length);
        assertThat(client.sends.getFirst().operation()).isEqualTo(Operation.RDMA_WRITE);
    }

    @Test
    void readsOfManyLengthsArePlacedAndNothingElseIs() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment source = server.bytes(400_000, 77);
        MemoryRegion region = server.own(server.domain.register(source, Access.REMOTE_READ));
        for (int i = 0; i < LENGTHS.length; i++) {
            long length = LENGTHS[i];
            long offset = 17L * (i + 1);
            client.memory.fill((byte) 0x55);
            postAndSucceed(
                    client,
                    new RdmaReadRequest()
                            .id(i)
                            .sge(client.region, 100, length)
                            .source(region.remoteKey(), region.remoteAddress() + offset));
            assertThat(client.sends.getLast().operation()).isEqualTo(Operation.RDMA_READ);
            assertThat(client.sends.getLast().byteLength()).isEqualTo(length);
            assertThat(client.memory.asSlice(100, length).mismatch(source.asSlice(offset, length)))
                    .isEqualTo(-1);
            assertThat(bytesOf(client.memory.asSlice(0, 100))).containsOnly(0x55);
            assertThat(bytesOf(client.memory.asSlice(100 + length, 100))).containsOnly(0x55);
        }
    }

    @Test
    void aWriteGathers() throws Exception {
        EndpointOptions three = EndpointOptions.DEFAULT.withMaxSges(3);
        ConnectedPair pair = connect(three, three.withReceives(1));
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment target = server.arena.allocate(10_000, 4096);
        FastRegion region = register(server, target, Access.REMOTE_WRITE);
        Endpoint.fill(client.memory.asSlice(0, 20_000), 4);
        client.queuePair
                .postSend(List.of(
                        new RdmaWriteRequest()
                                .id(1)
                                .signaled(false)
                                .sge(client.region, 10_000, 3000)
                                .sge(client.region, 5, 1)
                                .sge(client.region, 2000, 1001)
                                .target(region.remoteKey(), region.remoteAddress() + 1),
                        new SendRequest().id(2)))
                .orThrow();
        await("the Send arrives", () -> server.receives.size() == 1);
        assertThat(target.asSlice(1, 3000).mismatch(client.memory.asSlice(10_000, 3000)))
                .isEqualTo(-1);
        assertThat(target.asSlice(3001, 1).mismatch(client.memory.asSlice(5, 1)))
                .isEqualTo(-1);
        assertThat(target.asSlice(3002, 1001).mismatch(client.memory.asSlice(2000, 1001)))
                .isEqualTo(-1);
        assertThat(bytesOf(target.asSlice(4003, 100))).containsOnly(0);
    }

    @Test
    void aRegionOfSeveralPiecesIsOneRange() throws Exception {
        ConnectedPair pair = connectWithReceives(1);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        requireFastRegistration();
        int page = device.server().attributes().pageBytes();
        MemorySegment memory = server.arena.allocate(8L * page, page);
        List<MemorySegment> pieces =
                List.of(memory.asSlice(6L * page, page), memory.asSlice(0, page), memory.asSlice(3L * page, page / 2));
        FastRegion region = server.own(server.domain.allocateFastRegion(4));
        assertThat(region.map(pieces, 0xABCD_0000_0000_0000L)).isEqualTo(3);
        postAndSucceed(server, registration(region, Access.REMOTE_READ_WRITE));
        long length = 2L * page + page / 2;
        Endpoint.fill(client.memory.asSlice(0, length), 8);
        client.queuePair
                .postSend(List.of(
                        new RdmaWriteRequest()
                                .sge(client.region, 0, length)
                                .target(region.remoteKey(), region.remoteAddress()),
                        new SendRequest()))
                .orThrow();
        await("the Send arrives", () -> server.receives.size() == 1 && client.sends.size() == 2);
        assertThat(pieces.get(0).mismatch(client.memory.asSlice(0, page))).isEqualTo(-1);
        assertThat(pieces.get(1).mismatch(client.memory.asSlice(page, page))).isEqualTo(-1);
        assertThat(pieces.get(2).mismatch(client.memory.asSlice(2L * page, page / 2)))
                .isEqualTo(-1);
        assertThat(bytesOf(memory.asSlice(page, 2L * page))).containsOnly(0);
        postAndSucceed(
                client,
                new RdmaReadRequest()
                        .id(9)
                        .sge(client.region, 500_000, page + 2)
                        .source(region.remoteKey(), region.remoteAddress() + page - 1));
        assertThat(client.memory.asSlice(500_000, page + 2L).mismatch(client.memory.asSlice(page - 1L, page + 2L)))
                .isEqualTo(-1);
    }

    @Test
    void zeroLengthWritesAndReadsSucceed() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemoryRegion region = server.own(server.domain.register(server.bytes(10, 1), Access.REMOTE_READ_WRITE));
        postAndSucceed(client, new RdmaWriteRequest().id(1).target(region.remoteKey(), region.remoteAddress()));
        postAndSucceed(
                client,
                new RdmaReadRequest()
                        .id(2)
                        .sge(client.region, 0, 0)
                        .source(region.remoteKey(), region.remoteAddress()));
        assertThat(client.sends.getLast().byteLength()).isZero();
    }

    @Test
    void addressesAreUnsignedAndReachTheLastByte() throws Exception {
        assumeThat(device.server().attributes().remoteAddressIsFree()).isTrue();
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        requireFastRegistration();
        MemorySegment source = server.bytes(1000, 12);
        for (long base : new long[] {0, Long.MAX_VALUE - 500, Long.MIN_VALUE, -2000, -1001}) {
            FastRegion region = server.own(server.domain.allocateFastRegion(2));
            region.map(List.of(source), base);
            postAndSucceed(server, registration(region, Access.REMOTE_READ));
            postAndSucceed(
                    client,
                    new RdmaReadRequest().id(base).sge(client.region, 0, 600).source(region.remoteKey(), base + 400));
            assertThat(client.memory.asSlice(0, 600).mismatch(source.asSlice(400, 600)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void moreReadsThanTheOrdAreParkedNotRefused() throws Exception {
        ConnectOptions two = ConnectOptions.DEFAULT.withPeerToPeer(true).withReads(2, 2);
        ConnectedPair pair = connect(
                EndpointOptions.DEFAULT.withConnect(two),
                EndpointOptions.DEFAULT.withConnect(two).withReceives(1));
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        MemorySegment source = server.bytes(40_000, 5);
        MemoryRegion region = server.own(server.domain.register(source, Access.REMOTE_READ));
        for (int i = 0; i < 20; i++) {
            client.queuePair
                    .postSend(new RdmaReadRequest()
                            .id(i)
                            .sge(client.region, i * 2000L, 2000)
                            .source(region.remoteKey(), region.remoteAddress() + i * 2000L))
                    .orThrow();
        }
        client.queuePair.postSend(new SendRequest().id(20)).orThrow();
        await("all complete", () -> client.sends.size() == 21 && server.receives.size() == 1);
        assertThat(client.sends).allMatch(Completion::isSuccess);
        assertThat(client.memory.asSlice(0, 40_000).mismatch(source)).isEqualTo(-1);
    }

    @Test
    void bothSidesReadFromEachOtherAtOnce() throws Exception {
        ConnectedPair pair = connect();
        long length = 1_000_000;
        MemorySegment[] sources = {pair.client().bytes(length, 1), pair.server().bytes(length, 2)};
        List<Endpoint> ends = List.of(pair.client(), pair.server());
        MemoryRegion[] regions = new MemoryRegion[2];
        for (int i = 0; i < 2; i++) {
            regions[i] = ends.get(i).own(ends.get(i).domain.register(sources[i], Access.REMOTE_READ));
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 2; i++) {
                Endpoint end = ends.get(i);
                end.queuePair
                        .postSend(new RdmaReadRequest()
                                .id(round)
                                .sge(end.region, 0, length)
                                .source(regions[1 - i].remoteKey(), regions[1 - i].remoteAddress()))
                        .orThrow();
            }
        }
        await(
                "all complete",
                () -> pair.client().sends.size() == 4 && pair.server().sends.size() == 4);
        assertThat(pair.client().memory.asSlice(0, length).mismatch(sources[1])).isEqualTo(-1);
        assertThat(pair.server().memory.asSlice(0, length).mismatch(sources[0])).isEqualTo(-1);
    }
}
