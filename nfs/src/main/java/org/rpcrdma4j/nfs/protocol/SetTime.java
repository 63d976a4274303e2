// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What becomes of a file's time (set_atime, set_mtime; RFC 1813, Section 2.6). */
public sealed interface SetTime extends XdrValue {

    /** It stays as it is: DONT_CHANGE. */
    record Keep() implements SetTime {

        /** The only one that is needed. */
        public static final Keep INSTANCE = new Keep();
    }

    /** The server's time: SET_TO_SERVER_TIME. */
    record Server() implements SetTime {

        /** The only one that is needed. */
        public static final Server INSTANCE = new Server();
    }

    /** That time: SET_TO_CLIENT_TIME. */
    record To(Time time) implements SetTime {}

    /** Reads one. */
    static SetTime read(XdrReader in) throws XdrException {
        return switch (in.readEnum(0, 2)) {
            case 0 -> Keep.INSTANCE;
            case 1 -> Server.INSTANCE;
            default -> new To(Time.read(in));
        };
    }

    @Override
    default void write(XdrWriter out) {
        switch (this) {
            case Keep _ -> out.writeInt(0);
            case Server _ -> out.writeInt(1);
            case To to -> {
                out.writeInt(2);
                to.time.write(out);
            }
        }
    }
}
