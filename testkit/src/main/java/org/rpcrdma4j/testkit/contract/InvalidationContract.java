// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** Local and remote invalidation, good and refused. */
abstract class InvalidationContract extends ContractCase {

    private static SendRequest invalidating(int key) {
        return new SendRequest().id(7).invalidate(key);
    }

    /** The peer sends an invalidation that must be refused; the region stays as it is. */
    private void expectRemoteRefusal(ConnectedPair pair, int key) {
        requireFastRegistration();
        pair.client().postReceives(2);
        pair.server().queuePair.postSend(invalidating(key)).orThrow();
        awaitError(pair);
        await("both Receives complete", () -> pair.client().receives.size() == 2);
        assertThat(pair.client().receives.getFirst().status()).isEqualTo(Status.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(pair.client().receives.getLast().status()).isEqualTo(Status.FLUSHED);
        assertThat(pair.client().events.disconnected().cause()).isEqualTo(Disconnect.Cause.LOCAL_ERROR);
    }

    private void expectLocalFailure(Endpoint endpoint, SendQueueRequest request) {
        requireFastRegistration();
        postAndAwait(endpoint, request);
        assertThat(endpoint.sends.getLast().status()).as("%s", describe()).isEqualTo(Status.LOCAL_QP_OPERATION_ERROR);
        await("the connection ends", () -> isDead(endpoint));
    }

    @Test
    void thePeerInvalidatesARegionOfItsQueuePair() throws Exception {
        ConnectedPair pair = connect();
        pair.client().postReceives(1);
        FastRegion region = register(pair.client(), pair.client().bytes(10, 1), Access.REMOTE_READ);
        postAndSucceed(pair.server(), invalidating(region.remoteKey()).sge(pair.server().region, 0, 30));
        await("the message arrives", () -> pair.client().receives.size() == 1);
        Completion got = pair.client().receives.getFirst();
        assertThat(got.isSuccess()).isTrue();
        assertThat(got.byteLength()).isEqualTo(30);
        assertThat(got.withInvalidate()).isTrue();
        assertThat(got.invalidatedKey()).isEqualTo(region.remoteKey());
        assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
        region.unmap();
    }

    @Test
    void aKeyIsNotCarriedByAPlainSendAfterOneThatInvalidates() throws Exception {
        ConnectedPair pair = connect();
        pair.client().postReceives(2);
        FastRegion region = register(pair.client(), pair.client().bytes(10, 1), Access.REMOTE_READ);
        SendRequest request = invalidating(region.remoteKey());
        postAndSucceed(pair.server(), request);
        postAndSucceed(pair.server(), request.withoutInvalidate());
        await("both arrive", () -> pair.client().receives.size() == 2);
        assertThat(pair.client().receives.getLast().withInvalidate()).isFalse();
        assertThat(pair.client().receives.getLast().isSuccess()).isTrue();
    }

    @Test
    void localAndRemoteInvalidationOfTheSameKeyMayMeet() throws Exception {
        ConnectedPair pair = connect();
        pair.client().postReceives(2);
        FastRegion region = register(pair.client(), pair.client().bytes(10, 1), Access.REMOTE_READ);
        int key = region.remoteKey();
        postAndSucceed(pair.client(), new LocalInvalidateRequest().id(1).key(key));
        postAndSucceed(pair.server(), invalidating(key));
        await("the message arrives", () -> pair.client().receives.size() == 1);
        assertThat(pair.client().receives.getFirst().isSuccess()).isTrue();
        postAndSucceed(pair.client(), new LocalInvalidateRequest().id(2).key(key));
        assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
    }

    @Test
    void thePeerCannotInvalidateAnUnknownKey() throws Exception {
        ConnectedPair pair = connect();
        FastRegion region = register(pair.client(), pair.client().bytes(10, 1), Access.REMOTE_READ);
        expectRemoteRefusal(pair, region.remoteKey() ^ 0x4000_0000);
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
    }

    @Test
    void thePeerMustNameTheWholeKey() throws Exception {
        ConnectedPair pair = connect();
        FastRegion region = register(pair.client(), pair.client().bytes(10, 1), Access.REMOTE_READ);
        expectRemoteRefusal(pair, region.remoteKey() ^ 1);
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
    }

    @Test
    void thePeerCannotInvalidateARegionOfTheDomain() throws Exception {
        ConnectedPair pair = connect();
        FastRegion region = fastRegion(pair.client(), pair.client().bytes(10, 1));
        postAndSucceed(
                pair.client(), registration(region, Access.REMOTE_READ).scope(RegisterRequest.Scope.PROTECTION_DOMAIN));
        expectRemoteRefusal(pair, region.remoteKey());
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
    }

    @Test
    void thePeerCannotInvalidateALongLivedRegion() throws Exception {
        ConnectedPair pair = connect();
        MemoryRegion region =
                pair.client().own(pair.client().domain.register(pair.client().bytes(10, 1), Access.REMOTE_READ));
        expectRemoteRefusal(pair, region.remoteKey());
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void thePeerCannotInvalidateARegionOfAnotherQueuePair() throws Exception {
        ConnectedPair first = connect();
        Endpoint client = add(new Endpoint(device.client(), EndpointOptions.DEFAULT, first.client().domain));
        ConnectedPair second = connect(client, endpointOf(device.server(), EndpointOptions.DEFAULT));
        FastRegion region = register(first.client(), first.client().bytes(10, 1), Access.REMOTE_READ);
        expectRemoteRefusal(second, region.remoteKey());
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
        assertThat(first.client().events.hasEnded()).isFalse();
    }

    @Test
    void aLocalInvalidationOfAnEarlierKeyFails() throws Exception {
        ConnectedPair pair = connect();
        FastRegion region = register(pair.client(), pair.client().bytes(10, 1), Access.REMOTE_READ);
        int old = region.remoteKey();
        postAndSucceed(pair.client(), new LocalInvalidateRequest().id(1).key(old));
        postAndSucceed(pair.client(), registration(region, Access.REMOTE_READ));
        expectLocalFailure(pair.client(), new LocalInvalidateRequest().id(2).key(old));
        assertThat(region.state()).isEqualTo(FastRegion.State.VALID);
    }

    @Test
    void aLocalInvalidationOfAnUnknownKeyFails() throws Exception {
        ConnectedPair pair = connect();
        expectLocalFailure(pair.client(), new LocalInvalidateRequest().id(2).key(0x7123_4567));
    }

    @Test
    void aValidRegionIsNotRegisteredAgain() throws Exception {
        ConnectedPair pair = connect();
        FastRegion region = register(pair.client(), pair.client().bytes(10, 1), Access.REMOTE_READ);
        int key = region.remoteKey();
        expectLocalFailure(pair.client(), registration(region, Access.REMOTE_READ_WRITE));
        assertThat(region.remoteKey()).isEqualTo(key);
        assertThat(region.access()).isEqualTo(Access.REMOTE_READ);
    }

    @Test
    void aRegionWithoutMemoryIsNotRegistered() throws Exception {
        ConnectedPair pair = connect();
        requireFastRegistration();
        FastRegion region = pair.client().own(pair.client().domain.allocateFastRegion(2));
        expectLocalFailure(pair.client(), registration(region, Access.REMOTE_READ));
        assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
    }

    @Test
    void aRegionOfAnotherDomainIsNotRegistered() throws Exception {
        ConnectedPair pair = connect();
        ConnectedPair other = connect();
        FastRegion region = fastRegion(other.client(), other.client().bytes(10, 1));
        expectLocalFailure(pair.client(), registration(region, Access.REMOTE_READ));
        assertThat(region.state()).isEqualTo(FastRegion.State.INVALID);
    }

    @Test
    void memoryIsExchangedWithEachRegistration() throws Exception {
        ConnectedPair pair = connect();
        Endpoint client = pair.client();
        FastRegion region = register(client, client.bytes(10, 1), Access.REMOTE_READ);
        for (int i = 0; i < 5; i++) {
            int key = region.remoteKey();
            postAndSucceed(client, new LocalInvalidateRequest().id(i).key(key));
            region.unmap();
            assertThat(region.map(List.of(client.bytes(10 + i, i)), 0)).isEqualTo(1);
            postAndSucceed(client, registration(region, Access.REMOTE_READ));
            assertThat(region.length()).isEqualTo(10 + i);
            assertThat(region.remoteKey()).isNotEqualTo(key);
        }
    }
}
