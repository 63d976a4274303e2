// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.loopback;

import java.io.IOException;

/** Moves bytes one way over one connection, as fast as it can. */
public interface ByteStream extends AutoCloseable {
    /** Bytes of each piece. */
    int PIECE_BYTES = 1 << 20;

    /** Moves pieces, until the receiving end has all. */
    Sample move(int pieces) throws IOException;

    @Override
    void close() throws IOException;
}
