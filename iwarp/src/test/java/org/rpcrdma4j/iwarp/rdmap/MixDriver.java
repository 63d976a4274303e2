// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Drives a {@link StreamPair} by a seed: every step is one action at one end, drawn at random among those that the rules allow now. Each is
 * told to the models, which are compared with the ends after it.
 */
final class MixDriver {
    private static final int[] ULPDUS = {128, 129, 130, 131, 200, 257, 512, 1442, 4096, 64768};
    private static final int[] ORDS = {0, 1, 3, 16};

    final StreamPair pair;
    final EndModel[] models = new EndModel[2];
    final Random random;
    final Poster posts;
    private final int largest;
    private long hash;
    private int inside = -1;
    private boolean postsOnItsOwn = true;
    private boolean takesReceives = true;

    /** @param crc whether CRCs must be on, else the seed decides */
    MixDriver(long seed, MemorySegment memory0, MemorySegment memory1, boolean crc) {
        this(seed, randomOptions(new Random(~seed), crc), memory0, memory1);
    }

    private static StreamOptions randomOptions(Random random, boolean crc) {
        return new StreamOptions(
                ULPDUS[random.nextInt(ULPDUS.length)],
                random.nextBoolean() || crc,
                ORDS[random.nextInt(ORDS.length)],
                ORDS[random.nextInt(ORDS.length)],
                1 + random.nextInt(16),
                1 + random.nextInt(16),
                null);
    }

    MixDriver(long seed, StreamOptions options, MemorySegment memory0, MemorySegment memory1) {
        random = new Random(seed);
        pair = new StreamPair(options, seed);
        models[0] = new EndModel(pair.first, options, memory0, random);
        models[1] = new EndModel(pair.second, options, memory1, random);
        largest = 4 << random.nextInt(12);
        for (int i = 0; i < 2; i++) {
            EndModel from = models[i];
            EndModel to = models[1 - i];
            WireTap tap = new WireTap(options.maxUlpdu(), options.crc(), segment -> {
                from.rules.accept(segment);
                to.incoming(segment);
            });
            from.end.out.tap(tap);
        }
        posts = new Poster(pair.options, random, this::trace);
        pair.afterWrite(this::comeBetween);
    }

    /** What other threads may do between a write and its acceptance. */
    private void comeBetween() {
        int writer = inside;
        if (writer < 0 || random.nextInt(4) != 0) {
            return;
        }
        inside = -1;
        for (int i = random.nextInt(6); i > 0; i--) {
            int other = random.nextInt(3);
            if (other == 0) {
                deliver(models[writer], amount());
            } else if (other == 1) {
                deliver(models[1 - writer], amount());
                write(models[1 - writer], amount());
            } else {
                models[writer].poll();
                if (postsOnItsOwn) {
                    post(writer);
                }
            }
        }
        inside = writer;
    }

    long hash() {
        return hash;
    }

    private void trace(long value) {
        hash = hash * 0x9E3779B97F4A7C15L + value + 1;
    }

    /** One action, and the comparison. */
    void step() {
        int at = random.nextInt(2);
        int kind = random.nextInt(100);
        trace(at * 100 + kind);
        if (kind < 25) {
            write(models[at], amount());
        } else if (kind < 50) {
            deliver(models[at], amount());
        } else if (kind < 60) {
            trace(models[at].poll());
        } else if (kind < 70) {
            receive(models[at]);
        } else {
            post(at);
        }
        check();
    }

    /** Compares all that can be compared at any time. */
    void check() {
        for (EndModel model : models) {
            model.reapInvalid();
            model.checkMemory();
            if (model.end.sends.outstanding() > pair.options.sendDepth()
                    || model.end.receives.outstanding() > pair.options.receiveDepth()) {
                throw new AssertionError("more outstanding than places");
            }
        }
    }

    /** Posts no Receives from now on. */
    void noMoreReceives() {
        takesReceives = false;
    }

    /** Lets everything posted come to its end, by writes and deliveries of random sizes; compares at the end. */
    void bustle() {
        postsOnItsOwn = false;
        for (int i = 0; i < 40; i++) {
            EndModel model = models[random.nextInt(2)];
            write(model, amount());
            deliver(models[1 - model.end.index], amount());
        }
        finish();
    }

    /** Lets everything posted come to its end; compares at the end. */
    void finish() {
        int idle = 0;
        while (idle < 2) {
            idle++;
            for (EndModel model : models) {
                boolean moved = write(model, Integer.MAX_VALUE);
                moved |= deliver(model, Integer.MAX_VALUE) > 0;
                moved |= model.poll() > 0;
                idle = moved ? 0 : idle;
                model.reapInvalid();
            }
        }
        check();
    }

    boolean write(EndModel model, int accept) {
        int before = inside;
        inside = model.end.index;
        boolean wrote = model.end.write(accept);
        inside = before;
        trace(model.end.out.written());
        return wrote;
    }

    int deliver(EndModel model, int atMost) {
        int count = model.end.deliver(atMost);
        model.delivered(models[1 - model.end.index]);
        trace(count);
        return count;
    }

    /** Bytes to move at once. */
    int amount() {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextInt(3);
            case 1, 2 -> random.nextInt(40);
            case 3, 4 -> random.nextInt(600);
            case 5 -> random.nextInt(1 << 16);
            default -> Integer.MAX_VALUE;
        };
    }

    // Posting.

    private void post(int at) {
        EndModel model = models[at];
        EndModel peer = models[1 - at];
        int kind = random.nextInt(30);
        if (kind < 9) {
            send(model, peer);
        } else if (kind < 16) {
            rdmaWrite(model, peer);
        } else if (kind < 23) {
            rdmaRead(model, peer);
        } else if (kind < 26) {
            register(model);
        } else if (kind < 28) {
            invalidate(model);
        } else {
            sendInvalidating(model, peer);
        }
    }

    private List<Extent> gatherList(EndModel model, int atMost) {
        List<Registration> sources = new ArrayList<>(List.of(model.source));
        for (Registration registration : model.registrations) {
            if (registration != null && !registration.target && !registration.sealed) {
                sources.add(registration);
            }
        }
        int count = random.nextInt(5) == 0 ? random.nextInt(StreamOptions.MAX_SGES + 1) : random.nextInt(4);
        List<Extent> list = new ArrayList<>();
        int left = atMost;
        for (int i = 0; i < count; i++) {
            Registration registration = sources.get(random.nextInt(sources.size()));
            Extent extent = extentOf(registration, Math.min(left, largest));
            left -= extent.length();
            list.add(extent);
        }
        return list;
    }

    private Extent extentOf(Registration registration, int atMost) {
        int length = random.nextInt(Math.min(atMost, registration.length) + 1);
        return new Extent(registration, random.nextInt(registration.length - length + 1), length);
    }

    private void send(EndModel model, EndModel peer) {
        EndModel.Receiving receiving = Poster.nextReceive(model, peer);
        if (receiving != null) {
            posts.send(model, peer, gatherList(model, Extent.total(receiving.list)), null);
        }
    }

    private void sendInvalidating(EndModel model, EndModel peer) {
        EndModel.Receiving receiving = Poster.nextReceive(model, peer);
        Registration victim = peer.registrations[random.nextInt(EndModel.FAST_REGIONS)];
        if (receiving != null && victim != null && victim.isOpen() && victim.ownUses == 0) {
            posts.send(model, peer, gatherList(model, Extent.total(receiving.list)), victim);
        }
    }

    private @Nullable Registration remote(EndModel peer, boolean target) {
        int which = random.nextInt(EndModel.FAST_REGIONS + 1);
        if (which == EndModel.FAST_REGIONS) {
            return target ? peer.target : peer.source;
        }
        Registration registration = peer.registrations[which];
        return registration == null || registration.target != target || !registration.isOpen() ? null : registration;
    }

    private void rdmaWrite(EndModel model, EndModel peer) {
        Registration into = remote(peer, true);
        if (into != null) {
            List<Extent> list = gatherList(model, into.length);
            int total = Extent.total(list);
            posts.rdmaWrite(model, list, into, into.key, into.base + random.nextInt(into.length - total + 1));
        }
    }

    private void rdmaRead(EndModel model, EndModel peer) {
        Registration from = remote(peer, false);
        Registration into = model.registrations[random.nextInt(EndModel.FAST_REGIONS)];
        if (into == null || !into.target || into.sealed) {
            into = model.target;
        }
        if (from != null) {
            Extent sink = extentOf(into, Math.min(from.length, largest));
            posts.rdmaRead(model, sink, from, from.key, from.base + random.nextInt(from.length - sink.length() + 1));
        }
    }

    private void register(EndModel model) {
        int index = random.nextInt(EndModel.FAST_REGIONS);
        if (model.registrations[index] == null && model.end.sends.outstanding() < pair.options.sendDepth()) {
            posts.register(model, index, random.nextBoolean());
        }
    }

    private void invalidate(EndModel model) {
        Registration registration = model.registrations[random.nextInt(EndModel.FAST_REGIONS)];
        if (registration != null && registration.peerUses == 0) {
            posts.invalidate(model, registration, registration.ownUses > 0 || random.nextBoolean());
        }
    }

    private void receive(EndModel model) {
        if (!takesReceives) {
            return;
        }
        Registration into = model.target;
        List<Extent> list = new ArrayList<>();
        for (int i = random.nextInt(4) == 0 ? random.nextInt(20) : random.nextInt(4); i > 0; i--) {
            list.add(extentOf(into, Math.min(into.length, largest)));
        }
        posts.receive(model, list);
    }
}
