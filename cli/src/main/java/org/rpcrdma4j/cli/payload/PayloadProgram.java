// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.payload;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.rpc.RpcRequest;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Takes payloads and gives payloads, as NFS does with WRITE and READ but without files.
 *
 * <pre>
 *   NULL()                                               = 0
 *   TAKE(unsigned seed, bool check, opaque data&lt;&gt;) -&gt; bool  = 1     the data is eligible; the result: whether it is as the seed says
 *   GIVE(unsigned seed, unsigned count) -&gt; opaque data&lt;&gt;       = 2     the data is eligible
 * </pre>
 */
public final class PayloadProgram {
    /** From the range for use by whoever defines one. */
    public static final int NUMBER = 0x2a72_6a04;

    static final int VERSION = 1;
    static final int NULL = 0;
    static final int TAKE = 1;
    static final int GIVE = 2;

    private static final long RESULT_BYTES = 8;
    private static final long UNBOUNDED = 0xFFFF_FFFFL;

    private final Pattern pattern;

    private PayloadProgram(Pattern pattern) {
        this.pattern = pattern;
    }

    /** The program, giving and checking pieces of the pattern. */
    public static ProgramTable table(Pattern pattern) {
        PayloadProgram program = new PayloadProgram(pattern);
        return new ProgramTable(List.of(RpcProgram.program(NUMBER, "payload")
                .procedure(VERSION, TAKE, program::take)
                .procedure(VERSION, GIVE, program::give)
                .build()));
    }

    /** What its messages may have placed directly. */
    public static Bindings bindings() {
        return Bindings.none(RESULT_BYTES).with(NUMBER, VERSION, VERSION, new Binding());
    }

    private void take(RpcRequest request) throws XdrException {
        XdrReader in = request.arguments();
        int seed = in.readInt();
        boolean check = in.readBool();
        boolean isRight = true;
        if (check) {
            List<MemorySegment> pieces = new ArrayList<>(2);
            long length = in.readLength(pattern.maxBytes());
            in.readPieces(length, pieces);
            in.skip(XdrReader.padded(length) - length);
            isRight = isPiece(seed, pieces);
        } else {
            in.skipOpaque(pattern.maxBytes());
        }
        request.endOfArguments();
        request.results().writeBool(isRight);
    }

    private boolean isPiece(int seed, List<MemorySegment> pieces) {
        long total = pieces.stream().mapToLong(MemorySegment::byteSize).sum();
        MemorySegment expected = pattern.piece(seed, total);
        long at = 0;
        for (MemorySegment piece : pieces) {
            if (expected.asSlice(at, piece.byteSize()).mismatch(piece) != -1) {
                return false;
            }
            at += piece.byteSize();
        }
        return true;
    }

    private void give(RpcRequest request) throws XdrException {
        int seed = request.arguments().readInt();
        long count = request.arguments().readUnsignedInt();
        if (count > pattern.maxBytes()) {
            throw request.arguments().bad("count", (int) count);
        }
        request.endOfArguments();
        // The pattern outlives the server, so nobody has to know when it is not needed any more.
        request.context().whenReleased(() -> {});
        request.results().writeItem(pattern.piece(seed, count));
    }

    private static final class Binding implements UpperLayerBinding {
        @Override
        public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException {
            if (call.procedure() == TAKE) {
                arguments.skip(8);
                ItemSink.tell(arguments, UNBOUNDED, sink);
            }
        }

        @Override
        public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
            if (call.procedure() == GIVE) {
                ItemSink.tell(results, UNBOUNDED, sink);
            }
        }

        @Override
        public ReplyBound replyBound(CallHeader call, XdrReader arguments) throws XdrException {
            if (call.procedure() != GIVE) {
                return ReplyBound.plain(ReplyHeader.MAX_SUCCESS_LENGTH + RESULT_BYTES);
            }
            arguments.skip(4);
            return ReplyBound.withItem(ReplyHeader.MAX_SUCCESS_LENGTH + RESULT_BYTES, arguments.readUnsignedInt());
        }
    }

    /** The head of a call: RPC header and arguments up to the item. */
    static XdrWriter head(int procedure) {
        XdrWriter out = new XdrWriter();
        new CallHeader(0, NUMBER, VERSION, procedure, Credential.None.INSTANCE).encode(out);
        return out;
    }
}
