// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.connection;

/**
 * The numbers of work requests: kind, generation and index in one long, so that a completion says by itself whose it is, and one that
 * comes late is told from the next use of the same slot.
 *
 * <pre>
 *   63      56 55               32 31                0
 *  +----------+-------------------+-------------------+
 *  |   kind   |    generation     |       index       |
 *  +----------+-------------------+-------------------+
 * </pre>
 */
public final class WorkIds {

    /** What the work request does. */
    public enum Kind {
        RECEIVE(0),
        SEND(1),
        REGISTER(2),
        INVALIDATE(3),
        READ(4),
        WRITE(5);

        private final int code;

        Kind(int code) {
            this.code = code;
        }
    }

    private static final Kind[] KINDS = {Kind.RECEIVE, Kind.SEND, Kind.REGISTER, Kind.INVALIDATE, Kind.READ, Kind.WRITE
    };
    private static final int GENERATION_MASK = 0xFF_FFFF;

    private WorkIds() {}

    /** The number; of the generation the low 24 bits are kept. */
    public static long of(Kind kind, int generation, int index) {
        return (long) kind.code << 56 | (long) (generation & GENERATION_MASK) << 32 | Integer.toUnsignedLong(index);
    }

    /** The kind in a number that {@link #of} made. */
    public static Kind kind(long id) {
        return KINDS[(int) (id >>> 56)];
    }

    /** The low 24 bits of the generation. */
    public static int generation(long id) {
        return (int) (id >>> 32) & GENERATION_MASK;
    }

    /** The index. */
    public static int index(long id) {
        return (int) id;
    }

    /** Whether the number is of this generation. */
    public static boolean isOfGeneration(long id, int generation) {
        return generation(id) == (generation & GENERATION_MASK);
    }
}
