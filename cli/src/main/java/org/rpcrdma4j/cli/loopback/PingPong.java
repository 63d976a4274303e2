// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;

/** Sends a small message there and back, one at a time. */
public interface PingPong extends AutoCloseable {
    /** Bytes of a message. */
    int MESSAGE_BYTES = 64;

    /** Makes round trips; fills in the nanoseconds of each, in order. */
    void run(long[] nanos) throws IOException;

    @Override
    void close() throws IOException;
}
