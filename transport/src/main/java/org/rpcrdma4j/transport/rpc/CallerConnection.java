// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.net.InetSocketAddress;

/** The connection that calls come on: the same object for all its calls, and never equal to another one. Any thread. */
public interface CallerConnection {

    /** This end's address. */
    InetSocketAddress localAddress();

    /** The caller's end. */
    InetSocketAddress remoteAddress();

    /** Whether it has not ended, as far as is known here; once false, it stays false. */
    boolean isOpen();
}
