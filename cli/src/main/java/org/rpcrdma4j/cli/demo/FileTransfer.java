// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import java.io.IOException;
import java.util.function.LongConsumer;

/** A way to move the files, with {@link #IN_FLIGHT} calls in flight. */
interface FileTransfer {
    /** Calls in flight in each direction. */
    int IN_FLIGHT = 16;

    /**
     * Writes the content of a round to the files of a range, until it is on stable storage.
     *
     * @param progress told of the bytes that were moved since the last time
     */
    void write(int round, int from, int to, LongConsumer progress) throws IOException;

    /**
     * Reads the files of a range, and compares each byte.
     *
     * @throws DataMismatchException if it differs
     */
    void read(int round, int from, int to, LongConsumer progress) throws IOException;
}
