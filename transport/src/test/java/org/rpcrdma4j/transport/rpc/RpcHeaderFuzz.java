// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Consumer;
import org.rpcrdma4j.transport.fuzz.Pieces;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Any bytes as the header of a call and of a reply: the decoders' documented results only, the same from a message in one piece and in
 * many, and from what is written again.
 *
 * <p>Input: a byte for the cuts, the message.
 */
public final class RpcHeaderFuzz {
    private RpcHeaderFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] message = Arrays.copyOfRange(input, 1, input.length);
        XdrReader whole = new XdrReader(MemorySegment.ofArray(message));
        XdrReader cut = new XdrReader(Pieces.cut(message, input[0]));
        DecodedCall call = CallHeader.decode(whole);
        require(call(call), call(CallHeader.decode(cut)));
        require(whole.position(), cut.position());
        if (call instanceof CallHeader header) {
            require(whole.position(), (long) header.length());
            require(call(header), call(CallHeader.decode(again(header::encode))));
            require(false, header.toString().isEmpty());
        }
        whole = new XdrReader(MemorySegment.ofArray(message));
        String reply = reply(whole);
        require(reply, reply(new XdrReader(Pieces.cut(message, input[0]))));
        encodeReplyAgain(message, reply, whole.position());
    }

    private static void encodeReplyAgain(byte[] message, String expected, long length) {
        try {
            ReplyHeader header = ReplyHeader.decode(new XdrReader(MemorySegment.ofArray(message)));
            XdrReader again = again(header::encode);
            require(length, again.remaining());
            require(expected, reply(again));
        } catch (XdrException e) {
            require(expected, "bad reply " + e.reason());
        }
    }

    private static XdrReader again(Consumer<XdrWriter> encode) {
        XdrWriter out = new XdrWriter();
        encode.accept(out);
        return new XdrReader(MemorySegment.ofArray(out.toByteArray()));
    }

    private static String call(DecodedCall call) {
        return switch (call) {
            case CallHeader header ->
                "%d %d %d %d %s %s"
                        .formatted(
                                header.xid(),
                                header.program(),
                                header.version(),
                                header.procedure(),
                                auth(header.credential()),
                                auth(header.verifier()));
            case DecodedCall.Refused refused -> "refused " + reply(refused.reply());
            case DecodedCall.NotACall other -> other.toString();
            case DecodedCall.TooShort tooShort -> tooShort.toString();
        };
    }

    private static String reply(XdrReader in) {
        try {
            return reply(ReplyHeader.decode(in));
        } catch (XdrException e) {
            return "bad reply " + e.reason();
        }
    }

    private static String reply(ReplyHeader header) {
        return switch (header) {
            case ReplyHeader.Accepted accepted ->
                "%d %s %s %d %d"
                        .formatted(
                                accepted.xid(),
                                auth(accepted.verifier()),
                                accepted.status(),
                                accepted.low(),
                                accepted.high());
            case ReplyHeader.RpcMismatch mismatch -> mismatch.toString();
            case ReplyHeader.AuthError error -> error.toString();
        };
    }

    private static String auth(OpaqueAuth auth) {
        return auth.flavor() + ":" + HexFormat.of().formatHex(auth.body().toArray(ValueLayout.JAVA_BYTE));
    }

    private static void require(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
