// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
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
import org.rpcrdma4j.verbs.cm.ConnectOptions;
import org.rpcrdma4j.verbs.cm.Disconnect.Cause;

/** Read Requests of the peer and what answers them: RFC 5040, Sections 5.2 and 7.2. */
class ReadRequestTest {
    private final Rig rig = new Rig();
    private final Patch source = rig.patch(64);
    private final byte[] content = source.fillWithPattern();
    private Stream stream;

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private void open(Role role) {
        stream = rig.openNudged(role);
        rig.receive(stream, rig.patch(64));
    }

    private void assertRefused(int code, Ulpdu offender) throws IOException {
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateForRead(0, 1, code, offender));
    }

    @ParameterizedTest
    @CsvSource({"0,0,64", "0,63,1", "-64,56,8", "-64,0,64", "0x7ffffffffffffff0,1,17"})
    void aReadIsAnsweredFromAnyOffset(String base, int offset, int size) throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, source, Access.REMOTE_READ, Scope.QUEUE_PAIR, Long.decode(base));
        stream.peer().send(Ulpdu.readRequest(1, 5, 6, size, region.remoteKey(), Long.decode(base) + offset));
        assertThat(stream.peer().receive())
                .isEqualTo(Ulpdu.response(5, 6, Arrays.copyOfRange(content, offset, offset + size)));
        rig.assertInOrder(stream, 1);
        assertThat(stream.completed()).as("nothing of it is told").isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({"0,0,0", "-1,-1,0", "0,-1,20", "-1,0x7fffffffffffffff,20", "1,-10,20"})
    void theSinkIsEchoedUninterpreted(int stag, String to, int size) throws IOException {
        open(Role.INITIATOR);
        MemoryRegion region = rig.region(source, Access.REMOTE_READ);
        stream.peer()
                .send(Ulpdu.readRequest(1, stag, Long.decode(to), size, region.remoteKey(), region.remoteAddress()));
        assertThat(stream.peer().receive())
                .isEqualTo(Ulpdu.response(stag, Long.decode(to), Arrays.copyOf(content, size)));
        rig.assertInOrder(stream, 1);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void theSourceOfAReadOfNothingIsNotLookedAt(Role role) throws IOException {
        open(role);
        MemoryRegion writeOnly = rig.region(source, Access.REMOTE_WRITE);
        stream.peer()
                .send(
                        Ulpdu.readRequest(1, 1, 2, 0, 0, 0),
                        Ulpdu.readRequest(2, 3, 4, 0, -1, -1),
                        Ulpdu.readRequest(3, 5, 6, 0, writeOnly.remoteKey(), writeOnly.remoteAddress()));
        for (int i = 0; i < 3; i++) {
            assertThat(stream.peer().receive()).isEqualTo(Ulpdu.response(1 + 2 * i, 2 + 2 * i));
        }
        rig.assertInOrder(stream, 1);
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void anUnknownSourceIsInvalid(Role role) throws IOException {
        open(role);
        assertRefused(0, Ulpdu.readRequest(1, 1, 2, 8, 0x4711_0815, 4));
    }

    @Test
    void aSourceWithAnotherKeyIsInvalid() throws IOException {
        open(Role.RESPONDER);
        MemoryRegion region = rig.region(source, Access.REMOTE_READ);
        assertRefused(0, Ulpdu.readRequest(1, 1, 2, 8, region.remoteKey() + 1, region.remoteAddress()));
    }

    @Test
    void aSourceThatWasInvalidatedIsInvalid() throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, source, Access.REMOTE_READ, Scope.QUEUE_PAIR, 0);
        long id = stream.nextId();
        stream.post(new LocalInvalidateRequest().id(id).key(region.remoteKey()));
        stream.await(id);
        assertRefused(0, Ulpdu.readRequest(1, 1, 2, 8, region.remoteKey(), 0));
    }

    @Test
    void theSourceOfAnotherDomainBelongsToAnotherStream() throws IOException {
        open(Role.INITIATOR);
        MemoryRegion region = rig.region(rig.domain(), source, Access.REMOTE_READ);
        assertRefused(3, Ulpdu.readRequest(1, 1, 2, 8, region.remoteKey(), region.remoteAddress()));
    }

    @Test
    void theSourceOfAnotherQueuePairBelongsToAnotherStream() throws IOException {
        open(Role.RESPONDER);
        Stream owner = rig.openNudged(Role.INITIATOR);
        FastRegion region = rig.fast(owner, source, Access.REMOTE_READ, Scope.QUEUE_PAIR, 0);
        assertRefused(3, Ulpdu.readRequest(1, 1, 2, 8, region.remoteKey(), 0));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSourceWithoutTheReadRightIsRefused(boolean writable) throws IOException {
        open(Role.RESPONDER);
        MemoryRegion region = rig.region(source, writable ? Access.REMOTE_WRITE : Access.LOCAL_WRITE);
        assertRefused(2, Ulpdu.readRequest(1, 1, 2, 1, region.remoteKey(), region.remoteAddress()));
    }

    @ParameterizedTest
    @CsvSource({"-1,1", "64,1", "57,8", "0,65", "-1,66", "0,0x7fffffff", "0,0xffffffff"})
    void aSourceOutOfRangeIsRefusedAndNoByteOfItSent(int offset, String size) throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, source, Access.REMOTE_READ, Scope.QUEUE_PAIR, 4096);
        assertRefused(1, Ulpdu.readRequest(1, 1, 2, Long.decode(size).intValue(), region.remoteKey(), 4096L + offset));
    }

    @ParameterizedTest
    @CsvSource({"-4,8", "-64,65", "-1,2"})
    void aSourceThatWrapsIsRefused(long to, int size) throws IOException {
        open(Role.RESPONDER);
        FastRegion region = rig.fast(stream, source, Access.REMOTE_READ, Scope.QUEUE_PAIR, -64);
        assertRefused(4, Ulpdu.readRequest(1, 1, 2, size, region.remoteKey(), to));
    }

    @Test
    void aRefusedRequestIsQuotedAsItCame() throws IOException {
        open(Role.RESPONDER);
        assertRefused(
                0,
                Ulpdu.readRequest(1, 1, 2, 8, 0x4711_0815, 4)
                        .withOctet(0, 0x7D)
                        .withOctet(1, 0x71)
                        .withInt(Ulpdu.AT_STAG, 0x1234_5678));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void readsAreAnsweredInTheirOrderAndCountAlone(Role role) throws IOException {
        open(role);
        MemoryRegion region = rig.region(source, Access.REMOTE_READ);
        Ulpdu[] requests = new Ulpdu[Rig.READS];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = Ulpdu.readRequest(i + 1, i, 100 + i, i, region.remoteKey(), region.remoteAddress());
        }
        stream.peer().send(requests);
        for (int i = 0; i < requests.length; i++) {
            assertThat(stream.peer().receive()).isEqualTo(Ulpdu.response(i, 100 + i, Arrays.copyOf(content, i)));
        }
        rig.assertInOrder(stream, 1);
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "3,4", "4,4", "16,16"})
    void oneReadMoreThanAgreedHasNoBuffer(int agreed, int served) throws IOException {
        Patch large = rig.patch(1 << 20);
        stream = rig.open(
                Role.RESPONDER, rig.domain, ConnectOptions.DEFAULT.withReads(agreed, 0), RawPeer.words(0, agreed));
        MemoryRegion region = rig.region(large, Access.REMOTE_READ);
        // The first ones fill the socket and are not read, so the others stay where they are.
        int sent = 0;
        ByteArrayOutputStream requests = new ByteArrayOutputStream();
        Ulpdu last = null;
        for (; sent < served + 128; sent++) {
            last = Ulpdu.readRequest(sent + 1, 1, 2, 1 << 20, region.remoteKey(), region.remoteAddress());
            requests.writeBytes(last.fpdu(true));
        }
        stream.peer().send(requests.toByteArray());
        int answered = 0;
        Ulpdu answer = stream.peer().receive();
        for (; answer.opcode() == Ulpdu.READ_RESPONSE; answer = stream.peer().receive()) {
            answered += answer.isLast() ? 1 : 0;
        }
        assertThat(answer.opcode()).isEqualTo(Ulpdu.TERMINATE);
        assertThat(answer.intAt(18)).isEqualTo(0x1202_C000);
        int refused = answer.intAt(24 + Ulpdu.AT_MSN);
        assertThat(refused).as("MSN refused, %d answered", answered).isGreaterThan(Math.max(served, answered));
        assertThat(answer).isEqualTo(Ulpdu.terminateFor(1, 2, 2, last.withInt(Ulpdu.AT_MSN, refused)));
        stream.peer().expectFin();
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        rig.assertCounts(1, 1, 0);
    }

    @Test
    void aReadSeesTheWriteBeforeIt() throws IOException {
        open(Role.RESPONDER);
        Patch large = rig.patch(65_000);
        MemoryRegion region = rig.region(large, Access.REMOTE_READ_WRITE);
        byte[] news = Patch.pattern(65_000);
        stream.peer()
                .send(
                        Ulpdu.write(region.remoteKey(), region.remoteAddress(), news),
                        Ulpdu.readRequest(1, 1, 0, 65_000, region.remoteKey(), region.remoteAddress()));
        Ulpdu first = stream.peer().receive();
        Ulpdu second = stream.peer().receive();
        assertThat(first.isLast()).isFalse();
        assertThat(second.isLast()).isTrue();
        assertThat(second.to()).isEqualTo(first.payload().length);
        assertThat(RawPeer.join(first.payload(), second.payload())).isEqualTo(news);
    }

    @Test
    void aResponseWhoseSourceIsTakenAwayEndsWithWhatIsLeftOfTheRequest() throws IOException {
        open(Role.RESPONDER);
        int size = 16 << 20;
        Patch large = rig.patch(size);
        byte[] all = large.fillWithPattern();
        MemoryRegion region = rig.region(large, Access.REMOTE_READ);
        int stag = region.remoteKey();
        long base = region.remoteAddress();
        stream.peer().send(Ulpdu.readRequest(1, 7, 8, size, stag, base));
        Ulpdu first = stream.peer().receive();
        region.close();
        int got = first.payload().length;
        Ulpdu answer = stream.peer().receive();
        for (; answer.opcode() == Ulpdu.READ_RESPONSE; answer = stream.peer().receive()) {
            byte[] part = answer.payload();
            assertThat(answer.to()).isEqualTo(8 + got);
            assertThat(Arrays.equals(part, 0, part.length, all, got, got + part.length))
                    .isTrue();
            got += part.length;
        }
        assertThat(got).isLessThan(size);
        Ulpdu rest = Ulpdu.readRequest(1, 7, 8 + got, size - got, stag, base + got);
        assertThat(answer).isEqualTo(Ulpdu.terminateForRead(0, 1, 0, rest));
        stream.peer().expectFin();
        rig.assertEnded(stream, Cause.LOCAL_ERROR);
        rig.assertCounts(1, 1, 0);
    }
}
