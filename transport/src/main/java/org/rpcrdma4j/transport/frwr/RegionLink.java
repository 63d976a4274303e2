// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.connection.Outbox;

/** The connection, as the registrar needs it. Both are called inside the monitor. */
public interface RegionLink {

    /** Has a chain posted after all that was handed over before. */
    void post(Outbox.Entry entry);

    /** Ends the connection at once, if it is not ending already: memory can be shut in no other way. */
    void fail(DisconnectCause cause, String detail);
}
