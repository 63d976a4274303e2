// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp.record;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A record on its way out. Between {@link #begin} and the end ({@link #onWritten} or {@link #onFailed}) its memory is read; before and after
 * it is not. All methods are called by {@link RecordOutput}, and must not block.
 */
public interface OutboundRecord {

    /** The message, in pieces; not called before {@link #begin} has returned true. */
    List<MemorySegment> pieces();

    /** Its bytes are about to be written. Returns false to have it left out; then nothing more is called. */
    boolean begin();

    /** It was handed to the operating system, whole. */
    void onWritten();

    /** It was not written, or not whole: the connection has ended. Without {@link #begin} before it, nothing was. */
    void onFailed();
}
