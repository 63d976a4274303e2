// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.ProgramTable;
import org.rpcrdma4j.transport.rpc.ReplyReader;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.rpc.RpcProgram;
import org.rpcrdma4j.transport.rpc.RpcRequest;
import org.rpcrdma4j.transport.ulb.Bindings;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Programs for tests: one that echoes, and READ and WRITE in the shape of NFS version 3. */
public final class TestPrograms {

    public static final int ECHO = 0x2000_0100;
    public static final int PROC_ECHO = 1;
    public static final int PROC_WAIT = 2;
    public static final int PROC_LENT = 3;
    public static final int READ = 6;
    public static final int WRITE = 7;

    /** Opened for what waits in {@link #PROC_WAIT}. */
    public final CountDownLatch gate = new CountDownLatch(1);

    public final AtomicInteger executed = new AtomicInteger();
    public final AtomicInteger waiting = new AtomicInteger();
    public final AtomicInteger released = new AtomicInteger();
    public volatile long writtenBytes;
    public volatile boolean writtenRight;

    public ProgramTable table() {
        return new ProgramTable(List.of(
                RpcProgram.program(ECHO, "echo")
                        .procedure(1, PROC_ECHO, this::echo)
                        .procedure(1, PROC_WAIT, this::await)
                        .procedure(1, PROC_LENT, this::lend)
                        .build(),
                RpcProgram.program(Bindings.NFS, "nfs")
                        .procedure(3, READ, this::read)
                        .procedure(3, WRITE, this::write)
                        .build()));
    }

    private void echo(RpcRequest request) throws XdrException {
        executed.incrementAndGet();
        List<MemorySegment> pieces = new ArrayList<>();
        long length = request.arguments().readLength(1 << 24);
        request.arguments().readPieces((length + 3) & ~3L, pieces);
        request.endOfArguments();
        request.results().writeUnsignedInt(length);
        for (MemorySegment piece : pieces) {
            request.results().writeBytes(piece);
        }
    }

    private void await(RpcRequest request) throws InterruptedException {
        waiting.incrementAndGet();
        gate.await();
        executed.incrementAndGet();
    }

    private void lend(RpcRequest request) throws XdrException {
        int length = request.arguments().readInt();
        MemorySegment lent = request.context().allocate(length);
        fill(lent, 0);
        request.context().whenReleased(released::incrementAndGet);
        request.results().writeItem(lent);
    }

    private void read(RpcRequest request) throws XdrException {
        executed.incrementAndGet();
        request.arguments().skipOpaque(64);
        long offset = request.arguments().readHyper();
        int count = request.arguments().readInt();
        request.endOfArguments();
        MemorySegment data = request.context().allocate(count);
        fill(data, offset);
        XdrWriter out = request.results();
        out.writeInt(0);
        out.writeBool(false);
        out.writeInt(count);
        out.writeBool(true);
        out.writeItem(data);
    }

    private void write(RpcRequest request) throws XdrException {
        executed.incrementAndGet();
        request.arguments().skipOpaque(64);
        long offset = request.arguments().readHyper();
        request.arguments().skip(8);
        MemorySegment data = request.arguments().readOpaque(1 << 24);
        request.endOfArguments();
        writtenBytes = data.byteSize();
        writtenRight = isFilled(data, offset);
        XdrWriter out = request.results();
        out.writeInt(0);
        out.writeBool(false);
        out.writeBool(false);
        out.writeInt((int) data.byteSize());
        out.writeInt(2);
        out.writeHyper(99);
    }

    /** The bytes of a file from an offset on. */
    public static void fill(MemorySegment memory, long offset) {
        for (long i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, at(offset + i));
        }
    }

    public static boolean isFilled(MemorySegment memory, long offset) {
        for (long i = 0; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != at(offset + i)) {
                return false;
            }
        }
        return true;
    }

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8) + 7);
    }

    private static XdrWriter call(int xid, int program, int version, int procedure) {
        XdrWriter out = new XdrWriter();
        new CallHeader(xid, program, version, procedure, Credential.None.INSTANCE).encode(out);
        return out;
    }

    private static CallMessage.Builder message(XdrWriter out) {
        return CallMessage.builder(MemorySegment.ofArray(out.toByteArray()));
    }

    public static CallMessage.Builder echoCall(int xid, byte[] payload) {
        XdrWriter out = call(xid, ECHO, 1, PROC_ECHO);
        out.writeOpaque(payload);
        return message(out).maxReplyBytes(payload.length + 64L);
    }

    public static CallMessage.Builder waitCall(int xid) {
        return message(call(xid, ECHO, 1, PROC_WAIT));
    }

    public static CallMessage.Builder lentCall(int xid, int length) {
        XdrWriter out = call(xid, ECHO, 1, PROC_LENT);
        out.writeInt(length);
        return message(out).maxReplyBytes(length + 64L);
    }

    public static CallMessage.Builder readCall(int xid, long offset, int count) {
        XdrWriter out = call(xid, Bindings.NFS, 3, READ);
        out.writeOpaque(new byte[] {1, 2, 3, 4, 5});
        out.writeHyper(offset);
        out.writeInt(count);
        return message(out);
    }

    public static CallMessage.Builder writeCall(int xid, long offset, MemorySegment... data) {
        long count = 0;
        for (MemorySegment piece : data) {
            count += piece.byteSize();
        }
        XdrWriter out = call(xid, Bindings.NFS, 3, WRITE);
        out.writeOpaque(new byte[] {1, 2, 3, 4, 5});
        out.writeHyper(offset);
        out.writeInt((int) count);
        out.writeInt(2);
        out.writeInt((int) count);
        return message(out).item(data);
    }

    /** The results of a call that was executed. */
    public static XdrReader results(Reply reply, CallMessage call) throws RpcException {
        XdrReader reader = new XdrReader(reply.message());
        ReplyReader.readHeader(reader, call.xid());
        return reader;
    }
}
