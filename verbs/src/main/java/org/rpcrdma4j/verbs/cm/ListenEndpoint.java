// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import java.net.InetSocketAddress;

/** A listening address. */
public interface ListenEndpoint extends AutoCloseable {

    /** The address it is bound to, with the port that was taken. */
    InetSocketAddress localAddress();

    /** Stops listening and rejects what waits for an answer. Connections made here live on. */
    @Override
    void close();
}
