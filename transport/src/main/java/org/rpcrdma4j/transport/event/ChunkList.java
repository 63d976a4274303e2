// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** In which of a header's lists a segment stands. */
public enum ChunkList {
    /** The Read list. */
    READ,
    /** The Write list. */
    WRITE,
    /** The Reply chunk. */
    REPLY,
    /** The Write list, as an extra segment that takes the XDR pad of the chunk's item. */
    PAD
}
