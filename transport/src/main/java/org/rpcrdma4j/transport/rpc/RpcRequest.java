// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * One call as its procedure sees it. Valid until the procedure returns, and so is the memory that the reader's slices lie in: then it
 * serves for the thread's next call.
 */
public final class RpcRequest {

    private static final CallHeader NO_CALL = new CallHeader(0, 0, 0, 0, Credential.None.INSTANCE);

    private final XdrReader arguments;
    private final XdrWriter results;
    private final CallContext context;
    private CallHeader header = NO_CALL;
    private Credential credential = Credential.None.INSTANCE;
    private boolean argumentsEnded;

    /**
     * A carrier for calls, one after the other.
     *
     * @param call where each message is read from, unreduced
     * @param reply where each reply is written
     * @param transport what the transport offers
     */
    public RpcRequest(XdrReader call, XdrWriter reply, CallContext transport) {
        arguments = call;
        results = reply;
        context = transport;
    }

    void begin(CallHeader newHeader, Credential newCredential) {
        header = newHeader;
        credential = newCredential;
        argumentsEnded = false;
    }

    void end() {
        header = NO_CALL;
        credential = Credential.None.INSTANCE;
    }

    /** The header. */
    public CallHeader header() {
        return header;
    }

    /** Who the caller says to be. */
    public Credential credential() {
        return credential;
    }

    /** What the transport offers: memory for results, and who called. */
    public CallContext context() {
        return context;
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
