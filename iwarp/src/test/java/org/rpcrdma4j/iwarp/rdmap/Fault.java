// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.TerminateError;

/** What can go wrong with a {@link StreamPair}. A fault may not be possible at the moment; then it is tried again. */
enum Fault {
    LOST(null) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            model.end.out.drop();
            peer.end.out.drop();
            model.end.lose();
            peer.end.lose();
            return true;
        }
    },
    BIT_FLIPPED(TerminateError.MPA_CRC) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            Pipe pipe = model.end.out;
            pipe.flip(
                    pipe.written() + driver.random.nextInt(1 << driver.random.nextInt(13)),
                    1 << driver.random.nextInt(8));
            return true;
        }
    },
    SOURCE_CLOSED(null) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            model.source.region.close();
            return true;
        }
    },
    TARGET_CLOSED(null) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            model.target.region.close();
            return true;
        }
    },
    FAST_REGION_CLOSED(null) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            Registration registration = inUse(driver.random, model);
            if (registration == null || !registration.isOpen()) {
                return false;
            }
            registration.region.close();
            model.closed(registration);
            return true;
        }
    },
    INVALIDATED_TOO_EARLY(null) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            Registration registration = inUse(driver.random, model);
            return registration != null && driver.posts.invalidate(model, registration, false);
        }
    },
    INVALIDATED_BY_PEER_TOO_EARLY(null) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            Registration registration = inUse(driver.random, model);
            return registration != null
                    && registration.isOpen()
                    && Poster.nextReceive(/* model= */ peer, /* peer= */ model) != null
                    && driver.posts.send(/* model= */ peer, /* peer= */ model, List.of(), registration);
        }
    },
    WRITE_UNDER_A_WRONG_KEY(TerminateError.DDP_TAGGED_INVALID_STAG) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            return driver.posts.rdmaWrite(model, some(model), peer.target, peer.target.key ^ 1, peer.target.base);
        }
    },
    WRITE_WITHOUT_RIGHT(TerminateError.DDP_TAGGED_INVALID_STAG) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            return driver.posts.rdmaWrite(model, some(model), peer.source, peer.source.key, peer.source.base);
        }
    },
    WRITE_OUT_OF_BOUNDS(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            Registration into = peer.target;
            return driver.posts.rdmaWrite(model, some(model), into, into.key, into.base + into.length - 9);
        }
    },
    READ_UNDER_A_WRONG_KEY(TerminateError.RDMAP_INVALID_STAG) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            return driver.posts.rdmaRead(model, sink(model), peer.source, peer.source.key ^ 1, peer.source.base);
        }
    },
    READ_WITHOUT_RIGHT(TerminateError.RDMAP_ACCESS_RIGHTS) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            return driver.posts.rdmaRead(model, sink(model), peer.target, peer.target.key, peer.target.base);
        }
    },
    READ_OUT_OF_BOUNDS(TerminateError.RDMAP_BASE_OR_BOUNDS) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            Registration from = peer.source;
            return driver.posts.rdmaRead(model, sink(model), from, from.key, from.base + from.length - 9);
        }
    },
    SEND_TOO_LONG(TerminateError.DDP_UNTAGGED_TOO_LONG) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            List<Extent> all = List.of(new Extent(model.source, 0, model.source.length));
            EndModel.Receiving receiving = Poster.nextReceive(model, peer);
            return receiving != null
                    && Extent.total(receiving.list) < model.source.length
                    && driver.posts.send(model, peer, all, null);
        }
    },
    SEND_WITHOUT_A_RECEIVE(TerminateError.DDP_UNTAGGED_NO_BUFFER) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            driver.noMoreReceives();
            return Poster.nextReceive(model, peer) == null && driver.posts.send(model, peer, some(model), null);
        }
    },
    UNKNOWN_KEY_INVALIDATED(TerminateError.RDMAP_CANNOT_INVALIDATE) {
        @Override
        boolean inject(MixDriver driver, EndModel model, EndModel peer) {
            Registration unknown = new Registration(peer.source.region, peer.source.key ^ 2, 0, false, List.of());
            return Poster.nextReceive(model, peer) != null && driver.posts.send(model, peer, List.of(), unknown);
        }
    };

    private final @Nullable TerminateError expected;

    Fault(@Nullable TerminateError expected) {
        this.expected = expected;
    }

    /** The only error that can come of it; null if there are several. */
    @Nullable
    TerminateError expected() {
        return expected;
    }

    /** Lets it happen, as far as this end is concerned; false if it is not possible now. */
    abstract boolean inject(MixDriver driver, EndModel model, EndModel peer);

    private static List<Extent> some(EndModel model) {
        return List.of(new Extent(model.source, 3, 10));
    }

    private static Extent sink(EndModel model) {
        return new Extent(model.target, 5, 10);
    }

    /** A registration in use if there is one. */
    private static @Nullable Registration inUse(Random random, EndModel model) {
        for (Registration registration : model.registrations) {
            if (registration != null && registration.ownUses + registration.peerUses > 0 && !registration.sealed) {
                return registration;
            }
        }
        return random.nextInt(32) == 0 ? model.registrations[random.nextInt(EndModel.FAST_REGIONS)] : null;
    }
}
