// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** A handler that answers when it is told to. */
final class HeldRequests implements RequestHandler {

    private final ArrayDeque<ServerRequest> held = new ArrayDeque<>();

    @Override
    public synchronized void onRequest(ServerRequest request) {
        held.add(request);
    }

    synchronized int size() {
        return held.size();
    }

    synchronized ServerRequest take() {
        return held.remove();
    }

    synchronized ServerRequest takeLast() {
        return held.removeLast();
    }

    void answerAll() {
        while (size() > 0) {
            answer(take());
        }
    }

    /** Answers each with one eligible result of 20000 bytes. */
    void fetchAll() {
        while (size() > 0) {
            ServerRequest request = take();
            XdrWriter out = success(request);
            out.writeInt(1);
            MemorySegment memory = request.allocate(20_000);
            memory.copyFrom(MemorySegment.ofArray(TestProgram.result(20_000)));
            out.writeItem(memory);
            out.writeInt(TestProgram.MARK);
            request.reply(out);
        }
    }

    /** Answers with success and no results. */
    static void answer(ServerRequest request) {
        request.reply(success(request));
    }

    private static XdrWriter success(ServerRequest request) {
        XdrWriter out = new XdrWriter();
        ReplyHeader.of(request.isAnswered() ? 0 : request.xid(), AcceptStatus.SUCCESS)
                .encode(out);
        return out;
    }
}
