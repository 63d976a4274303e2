// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** One procedure of a program. Called by any number of threads at once. */
@FunctionalInterface
public interface RpcProcedure {

    /** Takes no arguments, does nothing, has no results: what procedure 0 of every program does by convention. */
    RpcProcedure NULL = RpcRequest::endOfArguments;

    /**
     * Decodes the arguments, calls {@link RpcRequest#endOfArguments}, acts, writes the results.
     *
     * @throws XdrException if the arguments can't be decoded: GARBAGE_ARGS
     * @throws Exception for a failure of the server's own: SYSTEM_ERR
     */
    void call(RpcRequest request) throws Exception;

    /** Reads arguments. */
    @FunctionalInterface
    interface Decoder<A> {
        /** Reads them; nothing else happens here. */
        A decode(XdrReader arguments) throws XdrException;
    }

    /** Acts on arguments. */
    @FunctionalInterface
    interface Handler<A> {
        /** Acts, and writes the results. */
        void handle(A arguments, RpcRequest request, XdrWriter results) throws Exception;
    }

    /** A procedure in two halves; the second one isn't called unless the arguments are good to their last byte. */
    static <A> RpcProcedure of(Decoder<A> decoder, Handler<A> handler) {
        return request -> {
            A arguments = decoder.decode(request.arguments());
            // ORDER: the arguments are known to be good before anything is done with them.
            request.endOfArguments();
            handler.handle(arguments, request, request.results());
        };
    }
}
