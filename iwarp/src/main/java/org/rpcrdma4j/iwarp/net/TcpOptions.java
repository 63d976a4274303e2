// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/** What every connection's socket has. */
final class TcpOptions {
    private TcpOptions() {}

    /** Makes a socket fit for a loop. Buffer sizes are left alone: setting them turns off the system's own tuning. */
    static void apply(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        // iWARP has no sign of life of its own.
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }

    /** Closes a socket that nobody needs any more; a failure changes nothing for anybody. */
    static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            assert !channel.isOpen();
        }
    }
}
