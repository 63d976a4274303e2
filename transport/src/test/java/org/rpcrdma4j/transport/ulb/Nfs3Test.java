// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** NFS version 3's eligible items and largest replies (RFC 8267, Sections 3 and 4). */
class Nfs3Test {

    private static final int READLINK = 5;
    private static final int READ = 6;
    private static final int WRITE = 7;
    private static final int SYMLINK = 10;
    private static final int COUNT = 4096;

    private static UpperLayerBinding binding(CallHeader call) {
        return Bindings.nfs(ResultLimits.DEFAULT).find(call);
    }

    private static CallHeader call(int procedure) {
        return Streams.call(Bindings.NFS, 3, procedure);
    }

    static IntStream procedures() {
        return IntStream.rangeClosed(0, 21);
    }

    private static XdrWriter arguments(int procedure, int count, Random random) {
        XdrWriter out = new XdrWriter();
        new Nfs3Random(out, random).arguments(procedure, count);
        return out;
    }

    private static XdrReader reader(XdrWriter stream) {
        return new XdrReader(MemorySegment.ofArray(stream.toByteArray()));
    }

    @ParameterizedTest
    @MethodSource("procedures")
    void exactlyTheEligibleItemsOfEveryProcedureAreFound(int procedure) {
        CallHeader call = call(procedure);
        UpperLayerBinding binding = binding(call);
        Seeds.runRandom(100, random -> {
            XdrWriter arguments = arguments(procedure, COUNT, random);
            Streams.findsMarkedItems((in, sink) -> binding.argumentItems(call, in, sink), arguments);
            assertThat(arguments.items()).isEqualTo(procedure == WRITE || procedure == SYMLINK ? 1 : 0);
            XdrWriter results = new XdrWriter();
            new Nfs3Random(results, random).results(procedure);
            Streams.findsMarkedItems((in, sink) -> binding.resultItems(call, in, sink), results);
            assertThat(results.items()).isEqualTo(procedure == READ || procedure == READLINK ? 1 : 0);
            if (procedure != 0) {
                XdrWriter failure = new XdrWriter();
                new Nfs3Random(failure, random).failure(procedure);
                Streams.findsMarkedItems((in, sink) -> binding.resultItems(call, in, sink), failure);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("procedures")
    void noReplyIsLargerThanItsBound(int procedure) {
        CallHeader call = call(procedure);
        Seeds.runRandom(100, random -> {
            ReplyBound bound = binding(call).replyBound(call, reader(arguments(procedure, COUNT, random)));
            XdrWriter results = new XdrWriter();
            new Nfs3Random(results, random).results(procedure);
            assertThat(ReplyHeader.MAX_SUCCESS_LENGTH + results.reducedLength())
                    .isLessThanOrEqualTo(bound.streamBytes());
        });
    }

    @ParameterizedTest
    @MethodSource("procedures")
    void noReplyOfACallThatSucceedsIsSmallerThanSaid(int procedure) {
        Seeds.runRandom(100, random -> {
            XdrWriter results = new XdrWriter();
            new Nfs3Random(results, random).results(procedure);
            assertThat(results.reducedLength())
                    .isGreaterThanOrEqualTo(binding(call(procedure)).smallestResults(procedure));
        });
    }

    /** Computed by hand from RFC 1813: the status, and of all that is optional or counted only the word that says that it is not there. */
    @ParameterizedTest
    @CsvSource({
        "0, 0", "1, 88", "2, 12", "3, 16", "4, 12", "5, 12", "6, 20", "7, 28", "8, 20", "9, 20", "10, 20", "11, 20",
        "12, 12", "13, 12", "14, 20", "15, 16", "16, 24", "17, 24", "18, 60", "19, 56", "20, 32", "21, 20", "22, 0",
        "-1, 0"
    })
    void smallestResultsAreThoseOfTheRfc(int procedure, int results) {
        assertThat(binding(call(procedure)).smallestResults(procedure)).isEqualTo(results);
    }

    /** Computed by hand from RFC 1813: status 4, attributes 4 + 84, change 4 + 24 + 4 + 84, handle 4 + 64. */
    @ParameterizedTest
    @CsvSource({
        "0, 0", "1, 88", "2, 120", "3, 248", "4, 96", "5, 96", "6, 104", "7, 136", "8, 280", "9, 280", "10, 280",
        "11, 280", "12, 120", "13, 120", "14, 236", "15, 208", "18, 144", "19, 140", "20, 116", "21, 128"
    })
    void largestReplyIsThatOfTheRfcWithTheLongestVerifier(int procedure, int results) throws XdrException {
        CallHeader call = call(procedure);
        ReplyBound bound = binding(call).replyBound(call, reader(arguments(procedure, COUNT, new Random(1))));
        assertThat(bound.streamBytes()).isEqualTo(24 + 400 + results);
        assertThat(bound.items()).isEqualTo(procedure == READ || procedure == READLINK ? 1 : 0);
    }

    @Test
    void countOfReadBoundsItsData() throws XdrException {
        CallHeader call = call(READ);
        for (int count : new int[] {0, 1, 4097, 1 << 20, 0xffffffff}) {
            ReplyBound bound = binding(call).replyBound(call, reader(arguments(READ, count, new Random(1))));
            long bytes = Integer.toUnsignedLong(count);
            assertThat(bound.largestItemBytes()).isEqualTo(bytes);
            assertThat(bound.firstItemBytes()).isEqualTo(bytes);
            assertThat(bound.unreducedBytes()).isEqualTo(528 + XdrReader.padded(bytes));
            assertThat(bound.bytesBesideOneChunk()).isEqualTo(528);
            assertThat(bound.exact()).isTrue();
        }
    }

    @Test
    void countOfReaddirBoundsItsReplyAndLeavesRoomForAttributes() throws XdrException {
        for (int procedure : new int[] {16, 17}) {
            CallHeader call = call(procedure);
            ReplyBound bound = binding(call).replyBound(call, reader(arguments(procedure, 32768, new Random(1))));
            assertThat(bound.streamBytes()).isBetween(424L + 4 + 32768, 424L + 4 + 32768 + 128);
            assertThat(bound.items()).isZero();
        }
    }

    @Test
    void textOfALinkHasAConfiguredSize() throws XdrException {
        CallHeader call = call(READLINK);
        ReplyBound bound = Bindings.nfs(new ResultLimits(9000, 1023, 100))
                .find(call)
                .replyBound(call, reader(arguments(READLINK, 0, new Random(1))));
        assertThat(bound.largestItemBytes()).isEqualTo(1023);
        assertThat(bound.allItemBytes()).isEqualTo(1024);
        assertThat(bound.exact()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"22", "1000", "-1", "-2147483648", "2147483647"})
    void unknownProcedureHasNoItemsAndTheConfiguredBound(int procedure) throws XdrException {
        CallHeader call = call(procedure);
        ReplyBound bound = binding(call).replyBound(call, new XdrReader());
        assertThat(bound.streamBytes()).isEqualTo(424 + (64 << 10));
        assertThat(bound.exact()).isFalse();
        ItemList list = new ItemList();
        binding(call).argumentItems(call, new XdrReader(), list);
        binding(call).resultItems(call, new XdrReader(), list);
        assertThat(list.size()).isZero();
    }

    @Test
    void nameOfLookupIsNotEligible() throws XdrException {
        XdrWriter out = new XdrWriter();
        out.writeOpaque(new byte[32]);
        out.writeOpaque(new byte[255]);
        CallHeader call = call(3);
        assertThat(Streams.found((in, sink) -> binding(call).argumentItems(call, in, sink), reader(out)))
                .isEmpty();
    }

    @Test
    void handleOf64BytesIsTakenAndOneOf65Refused() throws XdrException {
        CallHeader call = call(1);
        for (int length : new int[] {64, 65}) {
            XdrWriter out = new XdrWriter();
            out.writeOpaque(new byte[length]);
            if (length == 64) {
                binding(call).argumentItems(call, reader(out), new ItemList());
            } else {
                assertThatExceptionOfType(XdrException.class)
                        .isThrownBy(() -> binding(call).argumentItems(call, reader(out), new ItemList()));
            }
        }
    }

    @Test
    void itemIsToldAlthoughItsBytesAreMissingAndTheWalkThenFails() {
        XdrWriter whole = arguments(WRITE, 0, new Random(4));
        byte[] message = whole.toByteArray();
        MemorySegment cut = MemorySegment.ofArray(message).asSlice(0, whole.itemPosition(0));
        ItemList list = new ItemList();
        CallHeader call = call(WRITE);
        assertThat(whole.itemLength(0)).isPositive();
        assertThatExceptionOfType(XdrException.class)
                .isThrownBy(() -> binding(call).argumentItems(call, new XdrReader(cut), list));
        assertThat(list.size()).isEqualTo(1);
        assertThat(list.at(whole.itemPosition(0))).isZero();
        assertThat(list.at(whole.itemPosition(0) - 4)).isEqualTo(-1);
    }
}
