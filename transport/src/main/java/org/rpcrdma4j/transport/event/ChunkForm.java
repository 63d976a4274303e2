// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** How one part of a message travels. */
public enum ChunkForm {
    /** In the Send, from where the message was encoded. */
    INLINE,
    /** In the Send, copied behind the header first. */
    INLINE_COPIED,
    /** In the Send, gathered from the caller's memory. */
    INLINE_GATHERED,
    /** An item as a Read chunk. */
    READ_CHUNK,
    /** The whole message as a Position Zero Read chunk. */
    POSITION_ZERO_READ_CHUNK,
    /** An item by a Write chunk. */
    WRITE_CHUNK,
    /** The whole message by a Reply chunk. */
    REPLY_CHUNK
}
