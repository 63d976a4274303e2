// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.raw;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
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
import org.rpcrdma4j.verbs.RegisterRequest;
import org.rpcrdma4j.verbs.RegisterRequest.Scope;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** Where a Write may go: RFC 5041, Sections 5.2, 7.1, 7.2 and 8. */
class TaggedTargetTest {
    private static final byte[] EIGHT = {1, 2, 3, 4, 5, 6, 7, 8};

    private final Rig rig = new Rig();
    private final Patch patch = rig.patch(64);
    private Stream stream;

    @AfterEach
    void close() throws IOException {
        rig.close();
    }

    private void open(Role role) {
        stream = rig.openNudged(role);
        rig.receive(stream, rig.patch(64));
    }

    private void assertRefused(int type, int code, Ulpdu offender) throws IOException {
        stream.peer().send(offender);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, type, code, offender));
        patch.assertUntouched();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void anUnknownStagIsInvalid(Role role) throws IOException {
        open(role);
        assertRefused(1, 0, Ulpdu.write(0, patch.memory().address(), EIGHT));
    }

    @ParameterizedTest
    @CsvSource({"1", "0x80", "0xff", "0x100", "0x80000000"})
    void anStagThatDiffersInAnyBitIsInvalid(String bits) throws IOException {
        open(Role.RESPONDER);
        MemoryRegion target = rig.region(patch, Access.REMOTE_WRITE);
        assertRefused(
                1, 0, Ulpdu.write(target.remoteKey() ^ Long.decode(bits).intValue(), target.remoteAddress(), EIGHT));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void anStagThatWasInvalidatedIsInvalid(Role role) throws IOException {
        open(role);
        FastRegion target = rig.fast(stream, patch, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 4096);
        int key = target.remoteKey();
        long id = stream.nextId();
        stream.post(new LocalInvalidateRequest().id(id).key(key));
        assertThat(stream.status(id)).isEqualTo(Status.SUCCESS);
        assertRefused(1, 0, Ulpdu.write(key, 4096, EIGHT));
    }

    @Test
    void anStagThatWasDeregisteredIsInvalid() throws IOException {
        open(Role.RESPONDER);
        MemoryRegion target = rig.region(patch, Access.REMOTE_WRITE);
        int key = target.remoteKey();
        target.close();
        assertRefused(1, 0, Ulpdu.write(key, patch.memory().address(), EIGHT));
    }

    @Test
    void anStagWhoseKeyWasReplacedIsInvalidAndItsOldRangeIsGone() throws IOException {
        open(Role.RESPONDER);
        FastRegion target = rig.fast(stream, rig.patch(64), Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 0);
        int old = target.remoteKey();
        long id = stream.nextId();
        stream.post(new LocalInvalidateRequest().id(id).key(old));
        stream.await(id);
        target.unmap();
        target.map(List.of(patch.memory()), 0x8000);
        id = stream.nextId();
        stream.post(
                new RegisterRequest().id(id).region(target, target.advanceKey()).access(Access.REMOTE_WRITE));
        assertThat(stream.status(id)).isEqualTo(Status.SUCCESS);
        assertThat(target.remoteKey()).isNotEqualTo(old);
        assertRefused(1, 1, Ulpdu.write(target.remoteKey(), 0, EIGHT));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void theStagOfAnotherDomainBelongsToAnotherStream(Role role) throws IOException {
        open(role);
        MemoryRegion target = rig.region(rig.domain(), patch, Access.REMOTE_WRITE);
        assertRefused(1, 2, Ulpdu.write(target.remoteKey(), target.remoteAddress(), EIGHT));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void theStagOfAnotherQueuePairOfTheDomainBelongsToAnotherStream(Role role) throws IOException {
        open(role);
        Stream owner = rig.openNudged(Role.RESPONDER);
        FastRegion target = rig.fast(owner, patch, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 4096);
        assertRefused(1, 2, Ulpdu.write(target.remoteKey(), 4096, EIGHT));
        owner.peer().send(Ulpdu.write(target.remoteKey(), 4096, EIGHT));
        patch.awaitOctet(7, 8);
    }

    @Test
    void aDomainWideStagServesEveryQueuePairOfTheDomain() throws IOException {
        open(Role.RESPONDER);
        Stream owner = rig.openNudged(Role.INITIATOR);
        FastRegion target = rig.fast(owner, patch, Access.REMOTE_WRITE, Scope.PROTECTION_DOMAIN, 4096);
        stream.peer().send(Ulpdu.write(target.remoteKey(), 4096, EIGHT));
        rig.assertInOrder(stream, 1);
        patch.assertHolds(0, EIGHT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"LOCAL_READ", "LOCAL_WRITE", "REMOTE_READ"})
    void anStagWithoutTheWriteRightIsInvalid(String rights) throws IOException {
        open(Role.RESPONDER);
        Access access = switch (rights) {
            case "LOCAL_READ" -> Access.LOCAL_READ;
            case "LOCAL_WRITE" -> Access.LOCAL_WRITE;
            default -> Access.REMOTE_READ;
        };
        MemoryRegion target = rig.region(patch, access);
        assertRefused(1, 0, Ulpdu.write(target.remoteKey(), target.remoteAddress(), EIGHT));
    }

    /** The range is 64 bytes from 4096 on. */
    @ParameterizedTest
    @CsvSource({"-1,1", "64,1", "-8,8", "57,8", "63,2", "-1,66", "0,65", "0x7ffffffffffff000,8", "-4096,8"})
    void whatLeavesTheRangeIsRefusedWhole(String offset, int length) throws IOException {
        open(Role.RESPONDER);
        FastRegion target = rig.fast(stream, patch, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, 4096);
        assertRefused(1, 1, Ulpdu.write(target.remoteKey(), 4096 + Long.decode(offset), Patch.pattern(length)));
    }

    @ParameterizedTest
    @CsvSource({"-4,8", "-1,2", "-64,65"})
    void anOffsetThatWrapsIsRefused(long to, int length) throws IOException {
        open(Role.RESPONDER);
        FastRegion target = rig.fast(stream, patch, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, -64);
        assertRefused(1, 3, Ulpdu.write(target.remoteKey(), to, Patch.pattern(length)));
    }

    @ParameterizedTest
    @CsvSource({"0,0,8", "0,0,64", "0,63,1", "1,1,8", "0x7fffffffffffffe0,0,64", "-64,56,8", "-64,0,64"})
    void aMessageMayStartAtAnyOffsetAndTheRangeMayEndAtTheLastByte(String base, int offset, int length)
            throws IOException {
        open(Role.RESPONDER);
        FastRegion target = rig.fast(stream, patch, Access.REMOTE_WRITE, Scope.QUEUE_PAIR, Long.decode(base));
        stream.peer().send(Ulpdu.write(target.remoteKey(), Long.decode(base) + offset, Patch.pattern(length)));
        rig.assertInOrder(stream, 1);
        patch.assertHolds(offset, Patch.pattern(length));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void stagAndOffsetOfAnEmptySegmentAreNotLookedAt(Role role) throws IOException {
        open(role);
        MemoryRegion foreign = rig.region(rig.domain(), patch, Access.REMOTE_WRITE);
        stream.peer()
                .send(
                        Ulpdu.write(0, 0),
                        Ulpdu.write(0, -1),
                        Ulpdu.write(0xFFFF_FFFF, 1),
                        Ulpdu.write(foreign.remoteKey(), foreign.remoteAddress() - 1));
        rig.assertInOrder(stream, 1);
        patch.assertUntouched();
    }

    @ParameterizedTest
    @CsvSource({"0", "2", "3"})
    void anEmptySegmentStillNeedsItsVersion(int version) throws IOException {
        open(Role.RESPONDER);
        assertRefused(1, 4, Ulpdu.nothing().withOctet(0, 0xC0 | version));
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void whatComesBehindTheFirstErrorIsDroppedSilently(Role role) throws IOException {
        open(role);
        MemoryRegion target = rig.region(patch, Access.REMOTE_WRITE);
        Ulpdu good = Ulpdu.write(target.remoteKey(), target.remoteAddress(), EIGHT);
        Ulpdu bad = Ulpdu.write(0x77, 1, EIGHT);
        stream.peer().send(bad, good, Ulpdu.send(1, EIGHT), Ulpdu.send(99, EIGHT), bad, good, bad, good, good);
        stream.peer().send(good, bad, good);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, bad));
        patch.assertUntouched();
    }

    @ParameterizedTest
    @EnumSource(Role.class)
    void muchThatComesBehindTheFirstErrorIsDroppedSilently(Role role) throws IOException {
        open(role);
        MemoryRegion target = rig.region(patch, Access.REMOTE_WRITE);
        Ulpdu bad = Ulpdu.write(0x77, 1, EIGHT);
        byte[] behind = stream.peer().fpdus(Ulpdu.write(target.remoteKey(), target.remoteAddress(), EIGHT));
        byte[] all = new byte[240 * 1024];
        byte[] first = stream.peer().fpdus(bad);
        System.arraycopy(first, 0, all, 0, first.length);
        for (int at = first.length; at + behind.length <= all.length; at += behind.length) {
            System.arraycopy(behind, 0, all, at, behind.length);
        }
        stream.peer().send(all);
        rig.assertEndedBy(stream, Ulpdu.terminateFor(1, 1, 0, bad));
        patch.assertUntouched();
    }

    @Test
    void aThousandWritesAreNotDelivered() throws IOException {
        open(Role.RESPONDER);
        MemoryRegion target = rig.region(patch, Access.REMOTE_WRITE);
        for (int i = 0; i < 1000; i++) {
            stream.peer().send(Ulpdu.write(target.remoteKey(), target.remoteAddress() + 8L * (i % 8), EIGHT));
        }
        rig.assertInOrder(stream, 1);
        assertThat(stream.completed()).as("the echo alone").isEqualTo(2);
    }
}
