// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * One call as its procedure sees it. Valid until the procedure returns, and so is the memory that the reader's slices lie in.
 */
public final class RpcRequest {

    private final CallHeader header;
    private final Credential credential;
    private final XdrReader arguments;
    private final XdrWriter results;
    private boolean argumentsEnded;

    RpcRequest(CallHeader header, Credential credential, XdrReader arguments, XdrWriter results) {
        this.header = header;
        this.credential = credential;
        this.arguments = arguments;
        this.results = results;
    }

    /** The header. */
    public CallHeader header() {
        return header;
    }

    /** Who the caller says to be. */
    public Credential credential() {
        return credential;
    }

    /** The arguments, from their first byte on. */
    public XdrReader arguments() {
        return arguments;
    }

    /** Where the results go. Items that the upper-layer binding names are written with {@link XdrWriter#writeItem}. */
    public XdrWriter results() {
        return results;
    }

    /**
     * To be called between decoding the arguments and acting on them: bytes behind the arguments make them undecodable.
     *
     * @throws XdrException if there are any; the procedure lets it through
     */
    public void endOfArguments() throws XdrException {
        arguments.requireEnd();
        argumentsEnded = true;
    }

    boolean argumentsEnded() {
        return argumentsEnded;
    }
}
