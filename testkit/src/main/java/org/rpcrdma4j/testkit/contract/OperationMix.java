// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.FastRegion;
import org.rpcrdma4j.verbs.LocalInvalidateRequest;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.ReceiveRequest;
import org.rpcrdma4j.verbs.SendQueueRequest;
import org.rpcrdma4j.verbs.SendRequest;

/**
 * One random mix: each queue pair has an arena of slots at both ends; an operation moves a random range between two slots that no
 * outstanding operation uses, and the model does the same with arrays. All bytes are compared at the end, guards included.
 */
final class OperationMix {

    private static final int SLOTS = 6;
    private static final int USUAL_SLOT_BYTES = 200 * 1024;
    private static final int PAGE = 4096;

    private final ContractCase test;
    private final Random random;
    private final List<Lane> lanes = new ArrayList<>();
    private final int slotBytes;

    OperationMix(ContractCase test, long seed, int queuePairs) throws Exception {
        this.test = test;
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        boolean huge = seed % 10 == 0;
        slotBytes = huge ? test.device.longestMixMessage() : USUAL_SLOT_BYTES;
        for (int i = 0; i < (huge ? 1 : queuePairs); i++) {
            lanes.add(new Lane(test.connect()));
        }
    }

    void run(int operations) throws Exception {
        int count = slotBytes > USUAL_SLOT_BYTES ? operations / 8 : operations;
        for (int i = 0; i < count; i++) {
            for (Lane lane : lanes) {
                lane.start(i);
            }
            if (random.nextInt(3) == 0) {
                finish();
            }
        }
        finish();
        for (Lane lane : lanes) {
            lane.compare();
            lane.close();
        }
    }

    private void finish() {
        test.await("all operations complete", () -> lanes.stream().allMatch(Lane::isIdle));
        lanes.forEach(Lane::clear);
    }

    /** One connection with its memory at both ends and the model of it. */
    private final class Lane {
        private final ConnectedPair pair;
        private final End client;
        private final End server;
        private int outstanding;

        Lane(ConnectedPair pair) {
            this.pair = pair;
            client = new End(pair.client());
            server = new End(pair.server());
        }

        boolean isIdle() {
            return pair.client().all.size() + pair.server().all.size() == outstanding;
        }

        void clear() {
            for (Endpoint end : List.of(pair.client(), pair.server())) {
                assertThat(end.all).allMatch(Completion::isSuccess);
                end.all.clear();
                end.sends.clear();
                end.receives.clear();
            }
            outstanding = 0;
            client.clear();
            server.clear();
        }

        /** Starts one random operation, unless too much is outstanding already. */
        void start(int id) {
            boolean fromClient = random.nextBoolean();
            End from = fromClient ? client : server;
            End to = fromClient ? server : client;
            if (outstanding > 10 || !from.hasFreeSlot() || !to.hasFreeSlot()) {
                return;
            }
            switch (random.nextInt(4)) {
                case 0, 1 -> send(from, to, id);
                case 2 -> write(from, to, id);
                default -> read(from, to, id);
            }
        }

        private void send(End from, End to, int id) {
            int source = from.takeSlot();
            int target = to.takeSlot();
            int length = randomLength();
            long offset = randomOffset(length);
            long targetOffset = randomOffset(length);
            to.endpoint
                    .queuePair
                    .postReceive(new ReceiveRequest().id(id).sge(to.region, to.at(target) + targetOffset, length))
                    .orThrow();
            SendRequest request = new SendRequest().id(id).fence(random.nextBoolean());
            gather(request::sge, from, from.at(source) + offset, length);
            boolean invalidating = to.fast != null && to.isRegistered && random.nextBoolean();
            if (invalidating && to.fast != null && to.mayInvalidate()) {
                request.invalidate(to.fast.remoteKey());
                to.isRegistered = false;
            }
            outstanding += 2;
            post(from, request);
            to.copyIn(to.at(target) + targetOffset, from, from.at(source) + offset, length);
        }

        private void write(End from, End to, int id) {
            int source = from.takeSlot();
            int target = to.takeSlot();
            int length = randomLength();
            long offset = randomOffset(length);
            long targetOffset = randomOffset(length);
            MemoryRegion region = to.remoteRegion();
            RdmaWriteRequest request = new RdmaWriteRequest()
                    .id(id)
                    .target(region.remoteKey(), region.remoteAddress() + to.at(target) + targetOffset);
            gather(request::sge, from, from.at(source) + offset, length);
            outstanding++;
            post(from, request);
            to.copyIn(to.at(target) + targetOffset, from, from.at(source) + offset, length);
            // A Write is visible to the peer only behind a Send.
            to.endpoint.queuePair.postReceive(new ReceiveRequest().id(id)).orThrow();
            outstanding += 2;
            post(from, new SendRequest().id(id));
        }

        private void read(End from, End to, int id) {
            int sink = from.takeSlot();
            int source = to.takeSlot();
            int length = randomLength();
            long offset = randomOffset(length);
            long sinkOffset = randomOffset(length);
            MemoryRegion region = to.remoteRegion();
            outstanding++;
            post(
                    from,
                    new RdmaReadRequest()
                            .id(id)
                            .sge(from.region, from.at(sink) + sinkOffset, length)
                            .source(region.remoteKey(), region.remoteAddress() + to.at(source) + offset));
            from.copyIn(from.at(sink) + sinkOffset, to, to.at(source) + offset, length);
        }

        private void post(End from, SendQueueRequest request) {
            from.endpoint.queuePair.postSend(request).orThrow();
        }

        void compare() {
            client.compare();
            server.compare();
        }

        void close() {
            client.close();
            server.close();
        }
    }

    /** Takes what {@code sge} methods take. */
    @FunctionalInterface
    private interface Gather {
        Object add(MemoryRegion region, long offset, long length);
    }

    private void gather(Gather request, End from, long offset, int length) {
        int cut = length > 1 && random.nextBoolean() ? random.nextInt(length) : 0;
        if (cut > 0) {
            request.add(from.region, offset, cut);
        }
        request.add(from.region, offset + cut, length - cut);
    }

    private int randomLength() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(64);
            case 1 -> random.nextInt(5000);
            default -> random.nextInt(slotBytes + 1);
        };
    }

    private long randomOffset(int length) {
        return random.nextInt(slotBytes - length + 1);
    }

    /** The memory of one end: a guard, the slots, a guard. */
    private final class End {
        private final Endpoint endpoint;
        private final MemorySegment memory;
        private final byte[] model;
        private final MemoryRegion region;
        private final @Nullable FastRegion fast;
        private boolean isRegistered;
        private boolean usedRemotely;
        private int nextSlot;

        End(Endpoint endpoint) {
            this.endpoint = endpoint;
            int bytes = 2 * PAGE + SLOTS * slotBytes;
            memory = endpoint.bytes(bytes, random.nextInt(1000));
            model = memory.toArray(ValueLayout.JAVA_BYTE);
            MemorySegment inner = memory.asSlice(PAGE, (long) SLOTS * slotBytes);
            region = endpoint.domain.register(inner, Access.REMOTE_READ_WRITE);
            var attributes = endpoint.device.attributes();
            int pages = test.pagesOf(inner);
            fast = attributes.memoryManagementExtensions() && pages <= attributes.maxFastRegistrationPages()
                    ? endpoint.domain.allocateFastRegion(pages)
                    : null;
            if (fast != null) {
                fast.map(List.of(inner), random.nextLong() & 0x0FFF_FFFF_FFFF_F000L);
            }
        }

        long at(int slot) {
            return (long) slot * slotBytes;
        }

        boolean hasFreeSlot() {
            return nextSlot < SLOTS;
        }

        int takeSlot() {
            return nextSlot++;
        }

        void clear() {
            nextSlot = 0;
            usedRemotely = false;
        }

        boolean mayInvalidate() {
            return !usedRemotely;
        }

        /** The long-lived region, or the fast one, registered on the way. */
        MemoryRegion remoteRegion() {
            if (fast == null || random.nextBoolean()) {
                return region;
            }
            if (!isRegistered && fast.state() == FastRegion.State.INVALID && nextSlot <= 1) {
                endpoint.queuePair
                        .postSend(ContractCase.registration(fast, Access.REMOTE_READ_WRITE))
                        .orThrow();
                test.await(
                        "the registration completes",
                        () -> endpoint.all.stream().anyMatch(c -> c.id() == ContractCase.REGISTER_ID));
                endpoint.all.removeIf(c -> c.id() == ContractCase.REGISTER_ID);
                isRegistered = true;
            }
            if (!isRegistered || fast.state() != FastRegion.State.VALID) {
                return region;
            }
            usedRemotely = true;
            return fast;
        }

        void copyIn(long offset, End from, long fromOffset, int length) {
            System.arraycopy(from.model, (int) (PAGE + fromOffset), model, (int) (PAGE + offset), length);
        }

        void compare() {
            assertThat(memory.mismatch(MemorySegment.ofArray(model)))
                    .as("first wrong byte of %s", endpoint.device.name())
                    .isEqualTo(-1);
        }

        void close() {
            if (fast != null && isRegistered && fast.state() == FastRegion.State.VALID) {
                test.postAndSucceed(
                        endpoint, new LocalInvalidateRequest().id(-1).key(fast.remoteKey()));
            }
            if (fast != null) {
                fast.close();
            }
            region.close();
        }
    }
}
