// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.wire.Procedure;
import org.rpcrdma4j.transport.wire.TransportHeader;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** RFC 8166, Section 6.1: a call with a reduced item that is not eligible is not processed. */
class EligibilityCheckTest {

    private final CallAssembler assembler = new CallAssembler(1 << 20);

    /** STORE of items of these lengths: the first one's bytes are at 48, and so on. */
    private static byte[] store(int... lengths) {
        XdrWriter out = new XdrWriter();
        new CallHeader(1, TestProgram.PROGRAM, 1, TestProgram.STORE, Credential.None.INSTANCE).encode(out);
        out.writeInt(lengths.length);
        for (int length : lengths) {
            out.writeOpaque(new byte[length]);
            out.writeInt(TestProgram.MARK);
        }
        return out.toByteArray();
    }

    /** Whether the call passes with chunks given as position, length, position, length ... */
    private boolean passes(byte[] stream, long... chunks) {
        TransportHeader header = new TransportHeader();
        header.procedure(Procedure.RDMA_MSG);
        long reduced = 0;
        for (int i = 0; i < chunks.length; i += 2) {
            header.readList().add((int) chunks[i], 1, chunks[i + 1], 0);
            reduced += XdrReader.padded(chunks[i + 1]);
        }
        assertThat(assembler.plan(header, stream.length - reduced)).isTrue();
        XdrReader reader = new XdrReader(MemorySegment.ofArray(stream));
        CallHeader call = (CallHeader) CallHeader.decode(reader);
        return new EligibilityCheck(TestProgram.BINDINGS, assembler).passes(call, reader);
    }

    @Test
    void passesAnItemOfTheBindingWithOrWithoutItsPad() {
        assertThat(passes(store(4097), 48, 4097)).isTrue();
        assertThat(passes(store(4097), 48, 4100)).isTrue();
        assertThat(passes(store(0), 48, 0)).isTrue();
    }

    @Test
    void passesAnySelectionOfTheItems() {
        // Items at 48 (8 bytes), 64 (5 bytes), 80 (12 bytes).
        byte[] stream = store(8, 5, 12);
        assertThat(passes(stream, 48, 8, 64, 5, 80, 12)).isTrue();
        assertThat(passes(stream, 64, 8)).isTrue();
        assertThat(passes(stream, 80, 12)).isTrue();
    }

    @Test
    void refusesAChunkOfAnotherLength() {
        assertThat(passes(store(4097), 48, 4096)).isFalse();
        assertThat(passes(store(4098), 48, 4097)).isFalse();
        assertThat(passes(store(4097), 48, 4098)).isFalse();
        assertThat(passes(store(4096), 48, 4100)).isFalse();
    }

    @Test
    void refusesAChunkThatHoldsTwoItems() {
        assertThat(passes(store(8, 8), 48, 24)).isFalse();
    }

    @Test
    void refusesAChunkAtAnotherPosition() {
        byte[] stream = store(8, 5, 12);
        assertThat(passes(stream, 44, 4)).isFalse();
        assertThat(passes(stream, 52, 4)).isFalse();
        assertThat(passes(stream, 64, 5, 92, 4)).isFalse();
    }

    @Test
    void refusesAnyChunkOfAProcedureWithoutEligibleArguments() {
        XdrWriter out = new XdrWriter();
        new CallHeader(1, TestProgram.PROGRAM, 1, TestProgram.ECHO, Credential.None.INSTANCE).encode(out);
        out.writeOpaque(new byte[100]);
        assertThat(passes(out.toByteArray(), 44, 100)).isFalse();
    }

    @Test
    void refusesArgumentsThatCannotBeDecoded() {
        XdrWriter out = new XdrWriter();
        new CallHeader(1, TestProgram.PROGRAM, 1, TestProgram.STORE, Credential.None.INSTANCE).encode(out);
        out.writeInt(1);
        out.writeInt(0x7FFF_FFFF);
        out.writeInt(0);
        assertThat(passes(out.toByteArray(), 48, 4)).isFalse();
    }
}
