// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Something that can be written as XDR. */
public interface XdrValue {

    /** Writes it. */
    void write(XdrWriter out);
}
