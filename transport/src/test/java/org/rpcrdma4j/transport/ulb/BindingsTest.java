// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.OpaqueAuth;
import org.rpcrdma4j.transport.xdr.Pieces;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Which binding a call gets, and what holds for all of them. */
class BindingsTest {

    private static final int WRITE = 7;

    private final Bindings bindings = Bindings.nfs(ResultLimits.DEFAULT);

    private static XdrReader write() {
        XdrWriter out = new XdrWriter();
        out.writeOpaque(new byte[32]);
        out.writeHyper(0);
        out.writeInt(5);
        out.writeInt(0);
        out.writeOpaque(new byte[5]);
        return new XdrReader(MemorySegment.ofArray(out.toByteArray()));
    }

    private int items(CallHeader call) throws XdrException {
        ItemList list = new ItemList();
        bindings.find(call).argumentItems(call, write(), list);
        return list.size();
    }

    private static OpaqueAuth gss(int... words) {
        XdrWriter out = new XdrWriter();
        for (int word : words) {
            out.writeInt(word);
        }
        return new OpaqueAuth(6, MemorySegment.ofArray(out.toByteArray()));
    }

    /** NFSACL, MOUNT 1 and 3, NLM 4, NSM, a callback program, an unknown one. */
    @ParameterizedTest
    @CsvSource({"100227, 3", "100227, 2", "100005, 1", "100005, 3", "100021, 4", "100024, 1", "1073741824, 1", "99, 1"})
    void programWithoutItemsOfItsOwnHasNoneForAnyProcedureAndTheConfiguredBound(int program, int version)
            throws XdrException {
        for (int procedure = 0; procedure < 25; procedure++) {
            CallHeader call = Streams.call(program, version, procedure);
            assertThat(items(call)).isZero();
            ItemList list = new ItemList();
            bindings.find(call).resultItems(call, write(), list);
            assertThat(list.size()).isZero();
            assertThat(bindings.find(call).replyBound(call, write())).isEqualTo(ReplyBound.configured(424 + 65536));
        }
    }

    @Test
    void smallestResultsAreKnownOfTheProgramsThatAreKnown() {
        assertThat(bindings.smallestResults(Bindings.NFS, 3, 1)).isEqualTo(88);
        assertThat(bindings.smallestResults(Bindings.NFS, 4, 0)).isZero();
        assertThat(bindings.smallestResults(Bindings.NFS, 4, 1)).isEqualTo(12);
        assertThat(bindings.smallestResults(Bindings.NFS, 5, 1)).isZero();
        assertThat(bindings.smallestResults(99, 3, 1)).isZero();
    }

    @Test
    void otherVersionsOfNfsHaveNoItems() throws XdrException {
        for (int version : new int[] {0, 1, 5, 0x80000003, 0xffffffff}) {
            assertThat(items(Streams.call(Bindings.NFS, version, WRITE))).isZero();
        }
        assertThat(items(Streams.call(Bindings.NFS, 3, WRITE))).isEqualTo(1);
    }

    @Test
    void plainGssDataKeepsItsItems() throws XdrException {
        assertThat(items(Streams.call(Bindings.NFS, 3, WRITE, gss(1, 0, 9, 1, 0))))
                .isEqualTo(1);
    }

    @Test
    void gssIntegrityAndPrivacyAndItsOwnMessagesHaveNone() throws XdrException {
        for (OpaqueAuth credential : new OpaqueAuth[] {
            gss(1, 0, 9, 2, 0), gss(1, 0, 9, 3, 0), gss(1, 0, 9, 0, 0), gss(1, 0, 9, 99, 0), gss(1, 1, 9, 1, 0),
            gss(1, 2, 9, 1, 0), gss(1, 3, 9, 1, 0), gss(2, 0, 9, 1, 0), gss(1, 0, 9), gss()
        }) {
            assertThat(items(Streams.call(Bindings.NFS, 3, WRITE, credential))).isZero();
        }
    }

    @Test
    void ownBindingIsAskedBeforeTheOthersWithinItsVersions() {
        UpperLayerBinding own = Bindings.none(1).find(Streams.call(1, 1, 1));
        Bindings more = bindings.with(5, 0x7fffffff, 0xfffffffe, own).with(Bindings.NFS, 3, 3, own);
        assertThat(more.find(Streams.call(5, 0x80000000, 0))).isSameAs(own);
        assertThat(more.find(Streams.call(5, 0xfffffffe, 0))).isSameAs(own);
        assertThat(more.find(Streams.call(5, 0xffffffff, 0))).isNotSameAs(own);
        assertThat(more.find(Streams.call(5, 1, 0))).isNotSameAs(own);
        assertThat(more.find(Streams.call(Bindings.NFS, 3, 0))).isSameAs(own);
        assertThat(bindings.find(Streams.call(Bindings.NFS, 3, 0))).isNotSameAs(own);
    }

    @Test
    void randomStreamsCauseNothingButXdrExceptions() {
        Seeds.runRandom(4000, random -> {
            int version = 2 + random.nextInt(3);
            CallHeader call = Streams.call(Bindings.NFS, version, version == 4 ? 1 : random.nextInt(23));
            byte[] stream = new byte[4 * random.nextInt(80) + random.nextInt(2)];
            random.nextBytes(stream);
            for (int i = 0; i < stream.length; i++) {
                if (i % 4 != 3 || random.nextInt(4) == 0) {
                    if (random.nextInt(40) != 0) {
                        stream[i] = 0;
                    }
                } else {
                    stream[i] = (byte) random.nextInt(76);
                }
            }
            walkAll(call, stream, new XdrReader(Pieces.random(stream, random)), random.nextBoolean());
        });
    }

    @Test
    void damagedStreamsCauseNothingButXdrExceptions() {
        Seeds.runRandom(3000, random -> {
            XdrWriter out = new XdrWriter();
            Nfs4RandomArguments arguments = new Nfs4RandomArguments(out, random);
            arguments.string();
            out.writeInt(2);
            int count = random.nextInt(12);
            out.writeInt(count);
            for (int i = 0; i < count; i++) {
                arguments.operation(3 + random.nextInt(73));
            }
            byte[] stream = out.toByteArray();
            for (int i = random.nextInt(4); i >= 0; i--) {
                stream[random.nextInt(stream.length)] = (byte) random.nextInt();
            }
            byte[] cut = Arrays.copyOf(stream, random.nextBoolean() ? stream.length : random.nextInt(stream.length));
            CallHeader call = Streams.call(Bindings.NFS, 4, 1);
            walkAll(call, cut, new XdrReader(Pieces.random(cut, random)), random.nextBoolean());
        });
    }

    /** Whatever the bytes: no other exception, items in order and inside the stream, bounds that aren't negative. */
    private void walkAll(CallHeader call, byte[] stream, XdrReader in, boolean reduced) {
        UpperLayerBinding binding = bindings.find(call);
        ItemList list = new ItemList();
        ItemSink sink = (position, length) -> {
            list.item(position, length);
            return reduced;
        };
        try {
            binding.argumentItems(call, in, sink);
        } catch (XdrException e) {
            assertThat(e.reason()).isNotNull();
        }
        checkItems(list, stream, reduced);
        list.clear();
        in.reset(MemorySegment.ofArray(stream));
        try {
            binding.resultItems(call, in, sink);
        } catch (XdrException e) {
            assertThat(e.reason()).isNotNull();
        }
        checkItems(list, stream, reduced);
        in.reset(MemorySegment.ofArray(stream));
        try {
            ReplyBound bound = binding.replyBound(call, in);
            assertThat(bound.streamBytes()).isGreaterThanOrEqualTo(424);
            assertThat(bound.bytesBesideOneChunk()).isBetween(bound.streamBytes(), bound.unreducedBytes());
            assertThat(bound.firstItemBytes()).isBetween(0L, bound.largestItemBytes());
        } catch (XdrException e) {
            assertThat(e.reason()).isNotNull();
        }
    }

    private static void checkItems(ItemList list, byte[] stream, boolean reduced) {
        for (int i = 0; i < list.size(); i++) {
            assertThat(list.position(i) % 4).isZero();
            assertThat(list.position(i)).isGreaterThan(i == 0 ? 0 : list.position(i - 1));
            assertThat(list.length(i)).isBetween(0L, 0xffff_ffffL);
            assertThat(list.at(list.position(i))).isEqualTo(i);
            if (!reduced) {
                assertThat(list.position(i)).isLessThanOrEqualTo(stream.length);
            }
        }
    }

    @Test
    void limitsAreNotNegativeAndItemsOutsideTheListAreTheCallersMistake() {
        assertThatIllegalArgumentException().isThrownBy(() -> new ResultLimits(-1, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new ResultLimits(0, 0, -1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> new ItemList().position(0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> new ItemList().length(-1));
    }
}
