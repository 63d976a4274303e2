// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.WorkCompletion;
import org.rpcrdma4j.verbs.WorkCompletion.Status;
import org.rpcrdma4j.verbs.cm.ConnectOptions;

/** Send with Invalidate: RFC 5040, Sections 5.3, 7.2 and 8.1.1. */
class SendInvalidateTest {
    private final Rig rig = new Rig();
    private final Patch target = rig.patch(64);
    private final Patch message = rig.patch(16);
    private Stream stream;
    private long receive;

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private void open(Role role) {
        stream = rig.openNudged(role);
        receive = rig.receive(stream, message);
    }

    private void assertRefused(int type, int stag) throws IOException {
        Ulpdu offender = Ulpdu.sendInvalidate(1, stag, (byte) 1);
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(0, type, 9, offender));
        assertThat(stream.status(receive)).isEqualTo(Status.REMOTE_INVALID_REQUEST_ERROR);
    }

    @ParameterizedTest
    @CsvSource({"INITIATOR,4", "RESPONDER,4", "INITIATOR,6", "RESPONDER,6"})
    void invalidatesThePlacedThenTellsTheStagAndTheNextWriteIsRefused(Role role, int opcode) throws IOException {
        open(role);
        FastRegion region = rig.fast(stream, target, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        Ulpdu write = Ulpdu.write(region.remoteKey(), 0, (byte) 5);
        stream.peer().send(write, Ulpdu.untagged(opcode, region.remoteKey(), 0, 1, 0, (byte) 1));
        WorkCompletion completion = stream.await(receive);
        assertThat(completion.isSuccess()).isTrue();
        assertThat(completion.isWithInvalidate()).isTrue();
        assertThat(completion.invalidatedKey()).isEqualTo(region.remoteKey());
        assertThat(region.isValid()).isFalse();
        message.assertHolds(0, (byte) 1);
        Ulpdu late = Ulpdu.write(region.remoteKey(), 0, (byte) 6);
        stream.peer().send(late);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, late));
        target.assertHolds(0, (byte) 5);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneThatIsInvalidAlreadyUnderTheSameStagCounts(boolean byPeer) throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, target, Access.REMOTE_READ, Scope.QUEUE_PAIR, 0);
        int msn = 1;
        if (byPeer) {
            stream.peer().send(Ulpdu.sendInvalidate(msn++, region.remoteKey()));
            stream.await(receive);
            receive = rig.receive(stream, message);
        } else {
            long id = stream.nextId();
            stream.post(new LocalInvalidateRequest().id(id).key(region.remoteKey()));
            stream.await(id);
        }
        stream.peer().send(Ulpdu.sendInvalidate(msn++, region.remoteKey()));
        assertThat(stream.await(receive).invalidatedKey()).isEqualTo(region.remoteKey());
        rig.assertInOrder(stream, msn);
    }

    @ParameterizedTest
    @CsvSource({"0", "0x47110815", "0xffffffff"})
    void anUnknownStagCannotBeInvalidated(String stag) throws IOException {
        open(Role.INITIATOR);
        assertRefused(2, Long.decode(stag).intValue());
        message.assertHolds(0, (byte) 1);
    }

    @Test
    void anStagWithAnotherKeyCannotBeInvalidated() throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, target, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        assertRefused(2, region.remoteKey() ^ 1);
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void aRegionWithoutRemoteRightsCannotBeInvalidated() throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, target, Access.LOCAL_WRITE, Scope.QUEUE_PAIR, 0);
        assertRefused(2, region.remoteKey());
        assertThat(region.isValid()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void aRegionOfAnotherDomainBelongsToAnotherStream(Role role) throws IOException {
        open(role);
        Stream owner = rig.open(Role.RESPONDER, rig.domain(), ConnectOptions.DEFAULT, RawPeer.words(1, 1));
        Rig.nudge(owner);
        FastRegion region = rig.fast(owner, target, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        assertRefused(1, region.remoteKey());
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void aRegionOfAnotherQueuePairBelongsToAnotherStream() throws IOException {
        open(Role.RESPONDER);
        Stream owner = rig.openNudged(Role.INITIATOR);
        FastRegion region = rig.fast(owner, target, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        assertRefused(1, region.remoteKey());
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void aRegionThatSeveralStreamsShareIsNotForAPeerToInvalidate() throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, target, Access.REMOTE_WRITE, Scope.PROTECTION_DOMAIN, 0);
        assertRefused(1, region.remoteKey());
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void aPlainRegionIsNotForAPeerToInvalidate() throws IOException {
        open(Role.INITIATOR);
        MemoryRegion region = rig.region(target, Access.REMOTE_READ_WRITE);
        assertRefused(1, region.remoteKey());
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void aPlainRegionWithAnotherKeyIsUnknown() throws IOException {
        open(Role.INITIATOR);
        MemoryRegion region = rig.region(target, Access.REMOTE_READ_WRITE);
        assertRefused(2, region.remoteKey() + 1);
        assertThat(region.isValid()).isTrue();
    }

    @Test
    void aReadUnderWayOfTheRegionEndsWithWhatIsLeftOfIt() throws IOException {
        stream = rig.openNudged(Role.RESPONDER);
        receive = rig.receive(stream, message);
        int size = 16 << 20;
        FastRegion region = rig.fast(stream, rig.patch(size), Access.REMOTE_READ, Scope.QUEUE_PAIR, 0);
        stream.peer()
                .send(
                        Ulpdu.readRequest(1, 7, 8, size, region.remoteKey(), 0),
                        Ulpdu.sendInvalidate(1, region.remoteKey()));
        assertThat(stream.await(receive).isSuccess()).isTrue();
        int got = 0;
        Ulpdu answer = stream.peer().receive();
        for (; answer.opcode() == Ulpdu.READ_RESPONSE; answer = stream.peer().receive()) {
            assertThat(answer.to()).isEqualTo(8 + got);
            got += answer.payload().length;
        }
        Ulpdu rest = Ulpdu.readRequest(1, 7, 8 + got, size - got, region.remoteKey(), got);
        assertThat(answer).isEqualTo(Ulpdu.terminateForRead(0, 1, 0, rest));
        stream.peer().expectFin();
    }
}
