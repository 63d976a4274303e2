// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.DecodedCall;
import org.rpcrdma4j.transport.ulb.ProcedureBinding.Procedure;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What of an eligible item leaves the stream and what stays (RFC 8166, Section 3.4.4). */
class EligibleItemTest {

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static MemorySegment bytes(int length) {
        return MemorySegment.ofArray(new byte[length]);
    }

    @Test
    void countWordOfTheElementsStaysInTheStream() {
        for (int length = 0; length <= 9; length++) {
            XdrWriter call = nfs3Write(length);
            MemorySegment head = call.part(0);
            assertThat(head.get(INT, call.itemPosition(0) - 4)).isEqualTo(length);
            assertThat(head.byteSize()).isEqualTo(call.itemPosition(0));
        }
    }

    @Test
    void padLeavesTheStreamWithItsItemSoThatWhatFollowsStaysAligned() throws XdrException {
        for (int length = 0; length <= 9; length++) {
            XdrWriter symlink = new XdrWriter();
            symlink.writeFixedOpaque(bytes(32));
            symlink.writeString("name");
            symlink.writeItem(bytes(length));
            symlink.writeFixedOpaque(bytes(32));
            CallHeader call = Streams.call(Bindings.NFS, 2, 13);
            UpperLayerBinding binding = Bindings.nfs(ResultLimits.DEFAULT).find(call);
            assertThat(symlink.reducedLength()).isEqualTo(symlink.position() - XdrReader.padded(length));
            Streams.findsMarkedItems((in, sink) -> binding.argumentItems(call, in, sink), symlink);
        }
    }

    @Test
    void positionCountsFromTheStartOfTheUnreducedMessageHeaderIncluded() throws XdrException {
        XdrWriter message = nfs3Write(4097);
        XdrReader in = new XdrReader(MemorySegment.ofArray(message.toByteArray()));
        DecodedCall decoded = CallHeader.decode(in);
        assertThat(decoded).isInstanceOf(CallHeader.class);
        CallHeader call = (CallHeader) decoded;
        ItemList list = new ItemList();
        Bindings.nfs(ResultLimits.DEFAULT).find(call).argumentItems(call, in, list);
        assertThat(list.position(0)).isEqualTo(message.itemPosition(0)).isEqualTo(40 + 36 + 8 + 4 + 4 + 4);
        assertThat(list.position(0) % 4).isZero();
        assertThat(list.length(0)).isEqualTo(4097);
        assertThat(list).hasToString("items 96+4097");
    }

    @Test
    void presentWordOfAnOptionalItemStaysInTheStreamAndAnAbsentOneIsNoItem() throws XdrException {
        UpperLayerBinding binding = new ProcedureBinding(
                List.of(new Procedure(
                        "test", Shapes.sequence(Shapes.optional(Shapes.item(100)), Shapes.INT), Shapes.VOID)),
                ResultLimits.DEFAULT);
        CallHeader call = Streams.call(1, 1, 0);
        for (boolean present : new boolean[] {true, false}) {
            XdrWriter out = new XdrWriter();
            out.writeBool(present);
            if (present) {
                out.writeItem(bytes(5));
            }
            out.writeInt(9);
            Streams.findsMarkedItems((in, sink) -> binding.argumentItems(call, in, sink), out);
            assertThat(out.part(0).get(INT, 0)).isEqualTo(present ? 1 : 0);
        }
    }

    @Test
    void discriminantOfTheUnionStaysInTheStreamAndTheArmsDataIsTheItem() throws XdrException {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {0, 0, 1, 6, 5}) {
            out.writeInt(word);
        }
        out.writeItem(bytes(7));
        out.writeString("name");
        out.writeInt(0);
        out.writeInt(0);
        CallHeader call = Streams.call(Bindings.NFS, 4, 1);
        UpperLayerBinding binding = Bindings.nfs(ResultLimits.DEFAULT).find(call);
        Streams.findsMarkedItems((in, sink) -> binding.argumentItems(call, in, sink), out);
        assertThat(out.itemPosition(0)).isEqualTo(24);
        assertThat(out.part(0).get(INT, 16)).isEqualTo(5);
    }

    @Test
    void itemsAreFoundWhereverTheMessageIsCut() throws XdrException {
        XdrWriter stream = new XdrWriter();
        stream.writeInt(0);
        stream.writeString("");
        stream.writeInt(4);
        Nfs4RandomResults results = new Nfs4RandomResults(stream, new Random(5));
        for (int operation : new int[] {53, 25, 9, 27}) {
            results.operation(operation, true);
        }
        byte[] message = stream.toByteArray();
        CallHeader call = Streams.call(Bindings.NFS, 4, 1);
        UpperLayerBinding binding = Bindings.nfs(ResultLimits.DEFAULT).find(call);
        for (int cut = 0; cut <= message.length; cut++) {
            XdrReader in = new XdrReader(Pieces.at(message, cut));
            assertThat(Streams.found((reader, sink) -> binding.resultItems(call, reader, sink), in))
                    .isEqualTo(Streams.marked(stream));
        }
    }

    private static XdrWriter nfs3Write(int length) {
        XdrWriter out = new XdrWriter();
        new CallHeader(7, Bindings.NFS, 3, 7, Credential.None.INSTANCE).encode(out);
        out.writeOpaque(bytes(32));
        out.writeHyper(0);
        out.writeInt(length);
        out.writeInt(2);
        out.writeItem(bytes(length));
        return out;
    }
}
