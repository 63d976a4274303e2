// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.together;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.RequestHandler;
import org.rpcrdma4j.transport.server.ServerRequest;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Stores one block and gives it back.
 *
 * <pre>
 *   NULL   void -> void
 *   STORE  opaque (eligible), u32 -> u32 sum of the bytes, the u32
 *   FETCH  u32 length -> opaque (eligible), u32 length
 *   ECHO   opaque -> opaque
 * </pre>
 */
final class BlockProgram implements RequestHandler {

    static final int PROGRAM = 0x2000_0100;
    static final int NULL = 0;
    static final int STORE = 1;
    static final int FETCH = 2;
    static final int ECHO = 3;
    private static final int LARGEST = 1 << 24;

    static final Bindings BINDINGS = Bindings.none(LARGEST).with(PROGRAM, 1, 1, new Binding());

    static byte blockByte(int i) {
        return (byte) (i * 13 + (i >> 9));
    }

    static int sumOf(MemorySegment block) {
        int sum = 0;
        for (long i = 0; i < block.byteSize(); i++) {
            sum = sum * 31 + block.get(ValueLayout.JAVA_BYTE, i);
        }
        return sum;
    }

    @Override
    public void onRequest(ServerRequest request) throws XdrException {
        XdrReader in = new XdrReader(request.message());
        CallHeader call = (CallHeader) CallHeader.decode(in);
        XdrWriter out = new XdrWriter();
        ReplyHeader.of(request.xid(), AcceptStatus.SUCCESS).encode(out);
        switch (call.procedure()) {
            case STORE -> {
                out.writeInt(sumOf(in.readOpaque(LARGEST)));
                out.writeInt(in.readInt());
            }
            case FETCH -> {
                int length = in.readInt();
                MemorySegment block = request.allocate(Math.max(1, length)).asSlice(0, length);
                for (int i = 0; i < length; i++) {
                    block.set(ValueLayout.JAVA_BYTE, i, blockByte(i));
                }
                out.writeItem(block);
                out.writeInt(length);
            }
            case ECHO -> out.writeOpaque(in.readOpaque(LARGEST));
            default -> {}
        }
        request.reply(out);
    }

    /** STORE's argument and FETCH's result are eligible. */
    private static final class Binding implements UpperLayerBinding {

        @Override
        public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException {
            if (call.procedure() == STORE) {
                ItemSink.tell(arguments, LARGEST, sink);
            }
        }

        @Override
        public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
            if (call.procedure() == FETCH) {
                ItemSink.tell(results, LARGEST, sink);
            }
        }

        @Override
        public ReplyBound replyBound(CallHeader call, XdrReader arguments) {
            return call.procedure() == FETCH
                    ? ReplyBound.withItem(ReplyHeader.MAX_SUCCESS_LENGTH + 8, LARGEST)
                    : ReplyBound.configured(LARGEST);
        }
    }
}
