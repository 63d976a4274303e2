// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;
import org.rpcrdma4j.transport.server.RequestHandler;
import org.rpcrdma4j.transport.server.ServerRequest;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.ulb.ItemSink;
import org.rpcrdma4j.transport.ulb.ReplyBound;
import org.rpcrdma4j.transport.ulb.UpperLayerBinding;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * A small program with items that may be reduced, served behind the product, and the messages of its clients.
 *
 * <p>NULL; ECHO(opaque) returns it, nothing eligible; STORE(n, n times: tag, eligible opaque; last) returns n, n times: tag, length,
 * CRC; last; FETCH(n, n lengths) returns n, n eligible opaques, a closing word; HOLD is answered when the test says so; BIG(n) returns
 * opaque of n bytes, not eligible; THROW fails in the handler.
 */
public final class Toy implements RequestHandler {

    public static final int PROGRAM = 0x2000_4a00;
    public static final int VERSION = 1;
    public static final int NULL = 0;
    public static final int ECHO = 1;
    public static final int STORE = 2;
    public static final int FETCH = 3;
    public static final int HOLD = 4;
    public static final int BIG = 5;
    public static final int THROW = 6;

    public static final int CLOSING_WORD = 0x600d_c0de;
    public static final int SUCCESS = 0;
    public static final int PROC_UNAVAIL = 3;
    public static final int GARBAGE_ARGS = 4;
    public static final int SYSTEM_ERR = 5;

    /** XDR: a variable-length opaque without a bound. */
    static final long UNBOUNDED = 0xffff_ffffL;

    /** A call that was executed, or refused by the program. */
    public record Executed(int xid, int procedure, boolean isSuccess) {}

    private final List<Executed> executed = new ArrayList<>();
    private final List<ServerRequest> held = new ArrayList<>();

    public Toy() {}

    /** Which of its items are eligible. */
    public static Bindings bindings() {
        return Bindings.none(1 << 20).with(PROGRAM, VERSION, VERSION, new Binding());
    }

    private static final class Binding implements UpperLayerBinding {
        @Override
        public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException {
            if (call.procedure() != STORE) {
                return;
            }
            int count = arguments.readInt();
            for (int i = 0; i < count; i++) {
                arguments.readInt();
                ItemSink.tell(arguments, UNBOUNDED, sink);
            }
        }

        @Override
        public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
            if (call.procedure() != FETCH) {
                return;
            }
            int count = results.readInt();
            for (int i = 0; i < count; i++) {
                ItemSink.tell(results, UNBOUNDED, sink);
            }
        }

        @Override
        public ReplyBound replyBound(CallHeader call, XdrReader arguments) {
            return call.procedure() == FETCH ? ReplyBound.withItem(200, 1 << 20) : ReplyBound.configured(1 << 20);
        }
    }

    /** Byte {@code i} of an item of the given seed. */
    public static byte patternAt(int seed, int i) {
        return (byte) (i * 31 + (i >>> 8) * 7 + seed * 101 + 1);
    }

    /** So many bytes of the pattern. */
    public static byte[] pattern(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = patternAt(seed, i);
        }
        return bytes;
    }

    /** Memory that holds the bytes, at the begin of a page. */
    static MemorySegment memory(Arena arena, byte... bytes) {
        MemorySegment memory = arena.allocate(Math.max(1, bytes.length), 4096);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return memory.asSlice(0, bytes.length);
    }

    /** The checksum that STORE returns. */
    public static int crc(byte... bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    /** The header of a call, its arguments to follow. */
    public static Words call(int xid, int procedure) {
        return Words.call(xid, PROGRAM, VERSION, procedure);
    }

    /** Calls so far, in the order of their execution. */
    public synchronized List<Executed> executed() {
        return List.copyOf(executed);
    }

    /** How often the XID was executed. */
    public synchronized long timesExecuted(int xid) {
        return executed.stream().filter(call -> call.xid() == xid).count();
    }

    /** HOLDs that wait for their answer. */
    public synchronized int heldCount() {
        return held.size();
    }

    /** Answers the oldest HOLD. */
    public void answerHeld() {
        ServerRequest request;
        synchronized (this) {
            request = held.removeFirst();
        }
        request.reply(reply(request.xid(), SUCCESS));
    }

    /** Answers all HOLDs. */
    public void answerAllHeld() {
        while (heldCount() > 0) {
            answerHeld();
        }
    }

    private static ReplyPieces reply(int xid, int status) {
        return new ReplyPieces().data(segment(Words.reply(xid, status)));
    }

    private static MemorySegment segment(Words words) {
        return MemorySegment.ofArray(words.toBytes());
    }

    @Override
    public void onRequest(ServerRequest request) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (MemorySegment piece : request.message()) {
            bytes.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE));
        }
        Arguments in = new Arguments(bytes.toByteArray());
        int xid = request.xid();
        int procedure = in.procedure();
        if (procedure == THROW) {
            record(xid, procedure, false);
            throw new IllegalArgumentException("as it was asked to");
        }
        ReplyPieces answer = in.isBad ? reply(xid, GARBAGE_ARGS) : execute(request, xid, procedure, in);
        if (answer == null || in.isBad || !in.isAtEnd()) {
            record(xid, procedure, false);
            request.reply(reply(xid, answer == null ? PROC_UNAVAIL : GARBAGE_ARGS));
            return;
        }
        record(xid, procedure, true);
        if (procedure == HOLD) {
            synchronized (this) {
                held.add(request);
            }
        } else {
            request.reply(answer);
        }
    }

    private synchronized void record(int xid, int procedure, boolean isSuccess) {
        executed.add(new Executed(xid, procedure, isSuccess));
    }

    private static @Nullable ReplyPieces execute(ServerRequest request, int xid, int procedure, Arguments in) {
        return switch (procedure) {
            case NULL, HOLD -> reply(xid, SUCCESS);
            case ECHO ->
                new ReplyPieces().data(segment(Words.reply(xid, SUCCESS).opaque(in.opaque())));
            case STORE -> store(xid, in);
            case FETCH -> fetch(request, xid, in);
            case BIG -> new ReplyPieces().data(segment(Words.reply(xid, SUCCESS).opaque(pattern(xid, in.word()))));
            default -> null;
        };
    }

    private static ReplyPieces store(int xid, Arguments in) {
        int count = in.word();
        Words results = Words.reply(xid, SUCCESS).u32(count);
        for (int i = 0; i < count && !in.isBad; i++) {
            int tag = in.word();
            byte[] data = in.opaque();
            results.u32(tag, data.length, crc(data));
        }
        return new ReplyPieces().data(segment(results.u32(in.word())));
    }

    private static ReplyPieces fetch(ServerRequest request, int xid, Arguments in) {
        int count = in.word();
        ReplyPieces reply =
                new ReplyPieces().data(segment(Words.reply(xid, SUCCESS).u32(count)));
        for (int i = 0; i < count && !in.isBad; i++) {
            byte[] data = pattern(i, in.word());
            reply.data(segment(new Words().u32(data.length)));
            // Every other result lies in memory of the transport.
            if (i % 2 == 0 && data.length > 0) {
                MemorySegment memory = request.allocate(data.length);
                MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, 0, data.length);
                reply.item(memory.asSlice(0, data.length));
            } else {
                reply.item(MemorySegment.ofArray(data));
            }
        }
        return reply.data(segment(new Words().u32(CLOSING_WORD)));
    }

    /** Reads a call; what does not fit makes it bad. */
    private static final class Arguments {
        private static final int LARGEST = 1 << 21;

        private final byte[] bytes;
        private int at;
        private boolean isBad;

        Arguments(byte[] bytes) {
            this.bytes = bytes;
        }

        int procedure() {
            at = 20;
            int procedure = word();
            word();
            opaque();
            word();
            opaque();
            return procedure;
        }

        int word() {
            if (at + 4 > bytes.length) {
                isBad = true;
                return 0;
            }
            at += 4;
            return RawMessage.of(Arrays.copyOfRange(bytes, at - 4, at)).word(0);
        }

        byte[] opaque() {
            int length = word();
            if (length < 0 || length > LARGEST || at + ((length + 3) & ~3) > bytes.length) {
                isBad = true;
                return new byte[0];
            }
            byte[] value = Arrays.copyOfRange(bytes, at, at + length);
            at += (length + 3) & ~3;
            return value;
        }

        boolean isAtEnd() {
            return at == bytes.length;
        }
    }
}
