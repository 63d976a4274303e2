// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.util.List;

/**
 * Two ends of a stream with nothing between them but two {@link Pipe}s: no socket, no thread, no clock. Whoever drives it decides how many
 * bytes each write takes and how they are cut on arrival.
 */
final class StreamPair {
    final StreamOptions options;
    final StreamEnd first;
    final StreamEnd second;
    private Runnable afterWrite = () -> {};

    StreamPair(StreamOptions options, long seed) {
        this.options = options;
        Pipe forth = new Pipe();
        Pipe back = new Pipe();
        first = new StreamEnd(0, options, seed, forth, back, () -> afterWrite.run());
        second = new StreamEnd(1, options, ~seed, back, forth, () -> afterWrite.run());
        first.outbound.allow(options.rtr());
        if (options.rtr() == null) {
            second.outbound.allow(null);
        }
    }

    /** What happens between a write and its acceptance, at either end. */
    void afterWrite(Runnable action) {
        afterWrite = action;
    }

    StreamEnd end(int index) {
        return index == 0 ? first : second;
    }

    List<StreamEnd> ends() {
        return List.of(first, second);
    }

    /** Writes and delivers everything until nothing moves. */
    void settle() {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (StreamEnd end : ends()) {
                while (end.write(Integer.MAX_VALUE)) {
                    moved = true;
                }
                while (end.in.available() > 0 && end.deliver(1 << 16) > 0) {
                    moved = true;
                }
            }
        }
    }

    @Override
    public String toString() {
        return options + "\n" + first + "\n" + second;
    }
}
