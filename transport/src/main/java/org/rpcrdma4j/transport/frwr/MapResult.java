// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import java.util.stream.IntStream;

/** What became of {@link Registrar#map}. In all cases but {@link Mapped} the list is as it was before its first piece was mapped. */
public sealed interface MapResult {

    /**
     * All pieces are mapped.
     *
     * @param regions how many regions were added to the list: its last ones
     */
    record Mapped(int regions) implements MapResult {

        private static final int KEPT = 32;
        private static final Mapped[] SMALL =
                IntStream.range(0, KEPT).mapToObj(Mapped::new).toArray(Mapped[]::new);

        static Mapped of(int regions) {
            return regions < KEPT ? SMALL[regions] : new Mapped(regions);
        }
    }

    /** No region is free now. The list is in the row of those that wait and will be woken once, in its turn. */
    record NoRegions() implements MapResult {
        static final NoRegions INSTANCE = new NoRegions();
    }

    /**
     * The pieces, with what the list has already, need more regions than one request may have: send fewer, larger pieces.
     *
     * @param limit how many it may have
     */
    record TooManySegments(int limit) implements MapResult {}

    /** The connection is ending: nothing is registered on it any more. */
    record Ending() implements MapResult {
        static final Ending INSTANCE = new Ending();
    }

    /**
     * This memory cannot be registered, now or at all. Nothing has been posted.
     *
     * @param reason what was wrong with which piece
     */
    record Failed(String reason) implements MapResult {}

    /** Whether all pieces are mapped. */
    default boolean isMapped() {
        return this instanceof Mapped;
    }
}
