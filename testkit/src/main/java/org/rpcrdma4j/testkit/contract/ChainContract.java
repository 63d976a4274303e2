// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.PostResult;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

/** Chains as RPC-over-RDMA posts them: registrations and a Send; Writes and a Send that invalidates; invalidations alone. */
abstract class ChainContract extends ContractCase {

    @Test
    void registrationsThenSendThenWritesThenSendWithInvalidate() throws Exception {
        ConnectedPair pair = connectWithReceives(5);
        Endpoint client = pair.client();
        Endpoint server = pair.server();
        client.postReceives(5);
        MemorySegment first = client.arena.allocate(70_000, 4096);
        MemorySegment second = client.arena.allocate(30_000, 4096);
        FastRegion one = fastRegion(client, first);
        FastRegion two = fastRegion(client, second);
        Endpoint.fill(server.memory.asSlice(0, 100_000), 3);
        for (int round = 0; round < 5; round++) {
            first.fill((byte) 0);
            second.fill((byte) 0);
            client.queuePair
                    .postSend(List.of(
                            registration(one, Access.REMOTE_WRITE).signaled(false),
                            registration(two, Access.REMOTE_WRITE).signaled(false),
                            new SendRequest().id(round).sge(client.region, 0, 500)))
                    .orThrow();
            int count = round + 1;
            await("the call arrives", () -> server.receives.size() == count);
            server.queuePair
                    .postSend(List.of(
                            new RdmaWriteRequest()
                                    .signaled(false)
                                    .sge(server.region, 0, 70_000)
                                    .target(one.remoteKey(), one.remoteAddress()),
                            new RdmaWriteRequest()
                                    .signaled(false)
                                    .sge(server.region, 70_000, 30_000)
                                    .target(two.remoteKey(), two.remoteAddress()),
                            new SendRequest().id(round).invalidate(one.remoteKey())))
                    .orThrow();
            await("the reply arrives", () -> client.receives.size() == count && server.sends.size() == count);
            assertThat(one.state()).isEqualTo(FastRegion.State.INVALID);
            postAndSucceed(client, new LocalInvalidateRequest().id(99).key(two.remoteKey()));
            assertThat(first.mismatch(server.memory.asSlice(0, 70_000))).isEqualTo(-1);
            assertThat(second.mismatch(server.memory.asSlice(70_000, 30_000))).isEqualTo(-1);
        }
    }

    @Test
    void aChainOfInvalidationsNeedsOneSignal() throws Exception {
        Endpoint client = connect().client();
        List<FastRegion> regions = new ArrayList<>();
        List<SendQueueRequest> chain = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            FastRegion region = register(client, client.bytes(10, i), Access.REMOTE_READ);
            regions.add(region);
            chain.add(new LocalInvalidateRequest().id(i).signaled(i == 7).key(region.remoteKey()));
        }
        int before = client.sends.size();
        client.queuePair.postSend(chain).orThrow();
        await("the last completes", () -> client.sends.size() > before);
        assertThat(client.sends.getLast().id()).isEqualTo(7);
        assertThat(regions).allMatch(region -> region.state() == FastRegion.State.INVALID);
        regions.forEach(FastRegion::unmap);
    }

    @Test
    void theFirstBadOneIsReportedWhereverItStands() throws Exception {
        ConnectedPair pair = connectWithReceives(30);
        Endpoint client = pair.client();
        int posted = 0;
        for (int bad = 0; bad < 6; bad++) {
            List<SendRequest> chain = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                SendRequest request = new SendRequest().id(i);
                for (int entries = 0; i == bad && entries <= client.options.maxSges(); entries++) {
                    request.sge(client.region, 0, 1);
                }
                chain.add(request);
            }
            int expected = bad;
            assertThat(client.queuePair.postSend(chain))
                    .isInstanceOfSatisfying(
                            PostResult.Refused.class,
                            refused -> assertThat(refused.firstBad()).isEqualTo(expected));
            posted += bad;
            int total = posted;
            await("the prefix completes", () -> client.sends.size() == total);
        }
        settle();
        assertThat(client.sends).hasSize(15).allMatch(Completion::isSuccess);
        assertThat(pair.server().receives).hasSize(15);
    }

    @Test
    void aRegistrationThatWasRefusedIsNotOutstanding() throws Exception {
        Endpoint client = endpointOf(device.client(), EndpointOptions.DEFAULT);
        FastRegion region = fastRegion(client, client.bytes(10, 1));
        assertThat(client.queuePair
                        .postSend(registration(region, Access.REMOTE_READ))
                        .isPosted())
                .isFalse();
        region.unmap();
        assertThat(region.length()).isZero();
    }
}
