// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.rpc.OpaqueAuth;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Compares what a binding finds with what the writer of the stream kept apart. */
final class Streams {

    private Streams() {}

    /** A walk of a binding. */
    @FunctionalInterface
    interface WalkOf {
        void walk(XdrReader in, ItemSink sink) throws XdrException;
    }

    static CallHeader call(int program, int version, int procedure) {
        return new CallHeader(7, program, version, procedure, Credential.None.INSTANCE);
    }

    static CallHeader call(int program, int version, int procedure, OpaqueAuth credential) {
        return new CallHeader(7, program, version, procedure, credential, OpaqueAuth.NONE);
    }

    static List<Long> marked(XdrWriter stream) {
        List<Long> items = new ArrayList<>();
        for (int i = 0; i < stream.items(); i++) {
            items.add(stream.itemPosition(i));
            items.add(stream.itemLength(i));
        }
        return items;
    }

    static List<Long> found(WalkOf walk, XdrReader in) throws XdrException {
        ItemList list = new ItemList();
        walk.walk(in, list);
        List<Long> items = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            items.add(list.position(i));
            items.add(list.length(i));
        }
        return items;
    }

    /** The binding finds exactly the marked items, in the unreduced stream and in one reduced by all of them, and walks to the end. */
    static void findsMarkedItems(WalkOf walk, XdrWriter stream) throws XdrException {
        XdrReader in = new XdrReader(MemorySegment.ofArray(stream.toByteArray()));
        assertThat(found(walk, in)).isEqualTo(marked(stream));
        assertThat(in.remaining()).isZero();

        List<MemorySegment> parts = new ArrayList<>();
        for (int i = 0; i <= stream.items(); i++) {
            parts.add(stream.part(i));
        }
        byte[] reduced = Pieces.join(parts);
        ItemList list = new ItemList();
        in.reset(MemorySegment.ofArray(reduced));
        walk.walk(in, (position, length) -> {
            list.item(position, length);
            return true;
        });
        assertThat(in.remaining()).isZero();
        assertThat(in.position()).isEqualTo(stream.position());
        for (int i = 0; i < list.size(); i++) {
            assertThat(list.position(i)).isEqualTo(stream.itemPosition(i));
            assertThat(list.length(i)).isEqualTo(stream.itemLength(i));
        }
    }
}
