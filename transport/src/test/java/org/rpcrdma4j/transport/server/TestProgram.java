// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.transport.raw.Words;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * A program with eligible arguments and results of any number and size, and its binding.
 *
 * <pre>
 *   NULL   void -> void
 *   STORE  count, count x { opaque (eligible), u32 mark } -> count
 *   FETCH  count, count x u32 length -> count, count x { opaque (eligible), u32 MARK }
 *   ECHO   opaque -> opaque
 *   FAIL   the handler throws
 *   PAGE   void -> PAGE_BYTES bytes
 * </pre>
 */
final class TestProgram implements RequestHandler {

    static final int PROGRAM = 0x2000_0099;
    static final int NULL = 0;
    static final int STORE = 1;
    static final int FETCH = 2;
    static final int ECHO = 3;
    static final int FAIL = 4;
    static final int PAGE = 5;
    static final int PAGE_BYTES = 2000;
    static final int MARK = 0x4D41_524B;
    private static final int LARGEST = 1 << 24;

    /** XDR: a variable-length opaque without a bound. */
    private static final long UNBOUNDED = 0xffff_ffffL;

    static final Bindings BINDINGS = Bindings.none(1 << 20).with(PROGRAM, 1, 1, new Binding());

    /** What was stored, in the order of the calls. */
    final List<byte[]> stored = new CopyOnWriteArrayList<>();

    /** Pieces of the last stored call's message. */
    volatile int lastPieces;

    final AtomicInteger calls = new AtomicInteger();

    /** Byte {@code i} of the result that FETCH makes. */
    static byte resultByte(long i) {
        return (byte) (i * 31 + (i >> 8));
    }

    static byte[] result(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = resultByte(i);
        }
        return bytes;
    }

    /** The header of a call, its arguments to follow. */
    static Words call(int xid, int procedure) {
        return Words.call(xid, PROGRAM, 1, procedure);
    }

    /** A FETCH of results of these lengths. */
    static Words fetch(int xid, int... lengths) {
        return call(xid, FETCH).u32(lengths.length).u32(lengths);
    }

    @Override
    public void onRequest(ServerRequest request) throws Exception {
        calls.incrementAndGet();
        XdrReader in = new XdrReader(request.message());
        if (!(CallHeader.decode(in) instanceof CallHeader call)) {
            request.replyError(ReplyHeader.of(request.xid(), AcceptStatus.GARBAGE_ARGS));
            return;
        }
        if (call.program() != PROGRAM) {
            request.replyError(ReplyHeader.of(request.xid(), AcceptStatus.PROG_UNAVAIL));
            return;
        }
        XdrWriter out = new XdrWriter();
        ReplyHeader.of(request.xid(), AcceptStatus.SUCCESS).encode(out);
        try {
            switch (call.procedure()) {
                case NULL -> {}
                case STORE -> answerStore(in, out, request);
                case FETCH -> answerFetch(in, out, request);
                case ECHO -> out.writeOpaque(in.readOpaque(LARGEST));
                case PAGE -> out.writeBytes(MemorySegment.ofArray(result(PAGE_BYTES)));
                case FAIL -> throw new IllegalStateException("as asked for");
                default -> {
                    request.replyError(ReplyHeader.of(request.xid(), AcceptStatus.PROC_UNAVAIL));
                    return;
                }
            }
            in.requireEnd();
        } catch (XdrException e) {
            request.replyError(ReplyHeader.of(request.xid(), AcceptStatus.GARBAGE_ARGS));
            return;
        }
        request.reply(out);
    }

    private void answerStore(XdrReader in, XdrWriter out, ServerRequest request) throws XdrException {
        int count = in.readInt();
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(in.readOpaque(LARGEST).toArray(ValueLayout.JAVA_BYTE));
            if (in.readInt() != MARK) {
                throw in.bad("mark", 0);
            }
        }
        lastPieces = request.message().size();
        stored.addAll(all);
        out.writeInt(count);
    }

    private static void answerFetch(XdrReader in, XdrWriter out, ServerRequest request) throws XdrException {
        int count = in.readInt();
        out.writeInt(count);
        for (int i = 0; i < count; i++) {
            int length = in.readInt();
            MemorySegment memory = request.allocate(Math.max(1, length)).asSlice(0, length);
            MemorySegment.copy(result(length), 0, memory, ValueLayout.JAVA_BYTE, 0, length);
            out.writeItem(memory);
            out.writeInt(MARK);
        }
    }

    /** STORE's arguments and FETCH's results are eligible; PAGE's results are never smaller than they are. */
    private static final class Binding implements UpperLayerBinding {

        @Override
        public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException {
            if (call.procedure() == STORE) {
                items(arguments, sink);
            }
        }

        @Override
        public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
            if (call.procedure() == FETCH) {
                items(results, sink);
            }
        }

        private static void items(XdrReader in, ItemSink sink) throws XdrException {
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                ItemSink.tell(in, UNBOUNDED, sink);
                in.readInt();
            }
        }

        @Override
        public ReplyBound replyBound(CallHeader call, XdrReader arguments) {
            return ReplyBound.configured(LARGEST);
        }

        @Override
        public long smallestResults(int procedure) {
            return procedure == PAGE ? PAGE_BYTES : 0;
        }
    }
}
