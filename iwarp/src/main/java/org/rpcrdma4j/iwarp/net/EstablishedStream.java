// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.rpcrdma4j.iwarp.mpa.MpaOutcome;

/**
 * A connection on which FPDUs follow. With {@link SetUpListener#onEstablished} channel and registration belong to the
 * receiver, who sets its handler and then its interest; until then the interest is empty and nothing is read, so nothing is
 * lost. The channel is to be closed on the loop's thread, as a registered channel is really closed by the next turn.
 *
 * @param channel non-blocking, connected
 * @param loop the one that serves it
 * @param registration of the channel on the loop; its handler is to be replaced
 * @param mpa what was agreed
 * @param leftover what came behind the Reply: the first bytes of FPDUs, to be taken before anything is read. Direct,
 *     big-endian, the receiver's own; empty for a responder
 */
public record EstablishedStream(
        SocketChannel channel,
        EventLoop loop,
        Registration registration,
        MpaOutcome.Established mpa,
        ByteBuffer leftover) {}
