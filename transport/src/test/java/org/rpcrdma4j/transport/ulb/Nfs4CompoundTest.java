// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** NFS version 4's eligible items (RFC 8267, Section 6.1), found by passing over every other operation. */
class Nfs4CompoundTest {

    private static final int WRITE = 38;
    private static final int READ = 25;
    private static final int READLINK = 27;
    private static final int CREATE = 6;
    private static final int PUTFH = 22;
    private static final int READ_PLUS = 68;

    private final CallHeader call = Streams.call(Bindings.NFS, 4, 1);
    private final UpperLayerBinding binding = Bindings.nfs(ResultLimits.DEFAULT).find(call);

    static IntStream operations() {
        return IntStream.rangeClosed(3, 75);
    }

    private void findsMarkedArguments(XdrWriter stream) throws XdrException {
        Streams.findsMarkedItems((in, sink) -> binding.argumentItems(call, in, sink), stream);
    }

    private void findsMarkedResults(XdrWriter stream) throws XdrException {
        Streams.findsMarkedItems((in, sink) -> binding.resultItems(call, in, sink), stream);
    }

    private static XdrWriter compound(int minor, int count, Random random, Consumer<Nfs4RandomArguments> operations) {
        XdrWriter out = new XdrWriter();
        Nfs4RandomArguments arguments = new Nfs4RandomArguments(out, random);
        arguments.string();
        out.writeInt(minor);
        out.writeInt(count);
        operations.accept(arguments);
        return out;
    }

    private static XdrWriter results(int status, int count, Random random, Consumer<Nfs4RandomResults> operations) {
        XdrWriter out = new XdrWriter();
        Nfs4RandomResults results = new Nfs4RandomResults(out, random);
        out.writeInt(status);
        results.string();
        out.writeInt(count);
        operations.accept(results);
        return out;
    }

    @ParameterizedTest
    @MethodSource("operations")
    void argumentsOfEveryOperationArePassedOver(int number) {
        Seeds.runRandom(
                60,
                random -> findsMarkedArguments(compound(2, 2, random, arguments -> {
                    arguments.operation(number);
                    arguments.operation(WRITE);
                })));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void resultsOfEveryOperationArePassedOver(int number) {
        Seeds.runRandom(60, random -> {
            findsMarkedResults(results(0, 2, random, results -> {
                results.operation(number, true);
                results.operation(READ, true);
            }));
            findsMarkedResults(results(1, 2, random, results -> {
                results.operation(READLINK, true);
                results.operation(number, false);
            }));
        });
    }

    @Test
    void itemsOfAnyCompoundAreFound() {
        Seeds.runRandom(1000, random -> {
            int count = random.nextInt(20);
            findsMarkedArguments(compound(2, count, random, arguments -> {
                for (int i = 0; i < count; i++) {
                    arguments.operation(random.nextBoolean() ? WRITE : 3 + random.nextInt(73));
                }
            }));
            findsMarkedResults(results(0, count, random, results -> {
                for (int i = 0; i < count; i++) {
                    results.operation(random.nextBoolean() ? READ : 3 + random.nextInt(73), true);
                }
            }));
        });
    }

    @Test
    void eligibleAreWriteDataAndLinkTextReadDataAndReadlinkTextAndNothingElse() throws XdrException {
        for (int number = 3; number <= 75; number++) {
            boolean argument = number == WRITE || number == CREATE;
            boolean result = number == READ || number == READLINK;
            int last = number;
            boolean foundArgument = false;
            boolean foundResult = false;
            for (int seed = 0; seed < 100; seed++) {
                XdrWriter arguments = compound(2, 1, new Random(seed), a -> a.operation(last));
                XdrWriter results = results(0, 1, new Random(seed), r -> r.operation(last, true));
                ItemList list = new ItemList();
                binding.argumentItems(call, new XdrReader(MemorySegment.ofArray(arguments.toByteArray())), list);
                foundArgument |= list.size() > 0;
                list.clear();
                binding.resultItems(call, new XdrReader(MemorySegment.ofArray(results.toByteArray())), list);
                foundResult |= list.size() > 0;
            }
            assertThat(foundArgument).as("arguments of operation " + number).isEqualTo(argument);
            assertThat(foundResult).as("results of operation " + number).isEqualTo(result);
        }
    }

    @Test
    void linkTextIsEligibleAndOtherTypesOfCreateHaveNone() throws XdrException {
        for (int type = 1; type <= 9; type++) {
            XdrWriter out = new XdrWriter();
            out.writeString("");
            out.writeInt(0);
            out.writeInt(1);
            out.writeInt(CREATE);
            out.writeInt(type);
            if (type == 5) {
                out.writeItem(MemorySegment.ofArray(new byte[13]));
            } else if (type == 3 || type == 4) {
                out.writeHyper(0);
            }
            out.writeString("name");
            out.writeInt(0);
            out.writeInt(0);
            findsMarkedArguments(out);
        }
    }

    @Test
    void readPlusIsNotEligible() throws XdrException {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {0, 0, 1, READ_PLUS, 0, 1, 1, 0}) {
            out.writeInt(word);
        }
        out.writeHyper(0);
        out.writeOpaque(new byte[1000]);
        findsMarkedResults(out);
        assertThat(out.items()).isZero();
    }

    @Test
    void twoWritesAreTwoItemsWithPositionsInTheUnreducedStream() throws XdrException {
        XdrWriter out = new XdrWriter();
        out.writeString("tag");
        out.writeInt(1);
        out.writeInt(3);
        out.writeInt(PUTFH);
        out.writeOpaque(new byte[7]);
        for (int length : new int[] {4097, 8}) {
            out.writeInt(WRITE);
            for (int i = 0; i < 7; i++) {
                out.writeInt(0);
            }
            out.writeItem(MemorySegment.ofArray(new byte[length]));
        }
        findsMarkedArguments(out);
        // tag 8, minor 4, count 4, PUTFH 16, WRITE 4 + 28 + 4; then 4100, 4 + 28 + 4.
        assertThat(Streams.marked(out)).containsExactly(68L, 4097L, 68L + 4100 + 36, 8L);
    }

    @Test
    void resultOfNoBytesIsToldToo() throws XdrException {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {0, 0, 2, READ, 0, 1}) {
            out.writeInt(word);
        }
        out.writeItem(MemorySegment.ofArray(new byte[0]));
        for (int word : new int[] {READ, 0, 1}) {
            out.writeInt(word);
        }
        out.writeItem(MemorySegment.ofArray(new byte[5]));
        findsMarkedResults(out);
        assertThat(out.items()).isEqualTo(2);
    }

    @Test
    void failedReadHasNoItem() throws XdrException {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {5, 0, 2, PUTFH, 0, READ, 5}) {
            out.writeInt(word);
        }
        findsMarkedResults(out);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 76, 1000, 0x7fffffff, 0x80000000, 0xffffffff})
    void unknownOperationEndsTheWalkAndWhatFollowsIsNotEligible(int number) throws XdrException {
        XdrWriter out = new XdrWriter();
        out.writeString("");
        out.writeInt(2);
        out.writeInt(3);
        Nfs4RandomArguments arguments = new Nfs4RandomArguments(out, new Random(1));
        arguments.operation(WRITE);
        long first = out.itemPosition(0);
        long length = out.itemLength(0);
        out.writeInt(number);
        arguments.operation(WRITE);
        XdrReader in = new XdrReader(MemorySegment.ofArray(out.toByteArray()));
        assertThat(Streams.found((reader, sink) -> binding.argumentItems(call, reader, sink), in))
                .containsExactly(first, length);
    }

    @Test
    void operationOfALaterMinorVersionEndsTheWalk() throws XdrException {
        int[][] firstUnknown = {{0, 40}, {1, 59}, {2, 76}, {3, 3}, {0xffffffff, 3}};
        for (int[] pair : firstUnknown) {
            XdrWriter out = compound(pair[0], 2, new Random(3), arguments -> {
                arguments.u32(pair[1]);
                arguments.operation(WRITE);
            });
            XdrReader in = new XdrReader(MemorySegment.ofArray(out.toByteArray()));
            assertThat(Streams.found((reader, sink) -> binding.argumentItems(call, reader, sink), in))
                    .isEmpty();
        }
    }

    @Test
    void illegalOperationIsPassedOver() throws XdrException {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {10044, 0, 1, 10044, 10044}) {
            out.writeInt(word);
        }
        findsMarkedResults(out);
    }

    @Test
    void nullProcedureHasNoItems() throws XdrException {
        CallHeader nothing = Streams.call(Bindings.NFS, 4, 0);
        ItemList list = new ItemList();
        binding.argumentItems(nothing, new XdrReader(), list);
        binding.resultItems(nothing, new XdrReader(), list);
        assertThat(list.size()).isZero();
    }

    @Test
    void badBoolUnionAndBoundAreRefused() {
        // LOCK with a "new owner" of 2; OPEN with a mode of creation that isn't declared; PUTFH with a handle of 129
        // bytes.
        refused(12, 1, 1, 0, 0, 0, 0, 2);
        refused(18, 0, 0, 0, 0, 0, 0, 1, 4);
        XdrWriter out = new XdrWriter();
        out.writeInt(PUTFH);
        out.writeOpaque(new byte[129]);
        refused(out.toByteArray());
    }

    private void refused(int... words) {
        XdrWriter out = new XdrWriter();
        for (int word : words) {
            out.writeInt(word);
        }
        refused(out.toByteArray());
    }

    private void refused(byte[] operation) {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {0, 1, 1}) {
            out.writeInt(word);
        }
        out.writeBytes(MemorySegment.ofArray(operation));
        for (int i = 0; i < 40; i++) {
            out.writeInt(0);
        }
        assertThatExceptionOfType(XdrException.class)
                .isThrownBy(() -> binding.argumentItems(
                        call, new XdrReader(MemorySegment.ofArray(out.toByteArray())), new ItemList()))
                .satisfies(e -> assertThat(e.reason()).isNotEqualTo(XdrException.Reason.TOO_SHORT));
    }

    @Test
    void directoryOfAMillionEntriesTakesNoStack() throws XdrException {
        XdrWriter out = new XdrWriter();
        for (int word : new int[] {0, 0, 1, 26, 0, 0, 0}) {
            out.writeInt(word);
        }
        for (int i = 0; i < 1_000_000; i++) {
            out.writeBool(true);
            out.writeHyper(i);
            out.writeInt(0);
            out.writeInt(0);
            out.writeInt(0);
        }
        out.writeBool(false);
        out.writeBool(true);
        XdrReader in = new XdrReader(MemorySegment.ofArray(out.toByteArray()));
        binding.resultItems(call, in, new ItemList());
        assertThat(in.remaining()).isZero();
    }

    @Test
    void countOfOperationsBeyondTheMessageIsRefused() {
        for (int count : new int[] {0xffffffff, 0x7fffffff, 0x40000001, 2}) {
            XdrWriter out = new XdrWriter();
            for (int word : new int[] {0, 1, count, 24}) {
                out.writeInt(word);
            }
            assertThatExceptionOfType(XdrException.class)
                    .isThrownBy(() -> binding.argumentItems(
                            call, new XdrReader(MemorySegment.ofArray(out.toByteArray())), new ItemList()));
        }
    }
}
