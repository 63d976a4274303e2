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
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** NFS version 2's eligible items and largest replies (RFC 8267, Sections 3 and 4). */
class Nfs2Test {

    private static UpperLayerBinding binding(CallHeader call) {
        return Bindings.nfs(ResultLimits.DEFAULT).find(call);
    }

    private static CallHeader call(int procedure) {
        return Streams.call(Bindings.NFS, 2, procedure);
    }

    static IntStream procedures() {
        return IntStream.rangeClosed(0, 17);
    }

    private static void arguments(RandomXdr xdr, int procedure, int count) {
        switch (procedure) {
            case 1, 5, 17 -> xdr.fixed(32);
            case 2 -> xdr.fixed(32 + 32);
            case 4, 10, 15 -> {
                xdr.fixed(32);
                xdr.opaque(255);
            }
            case 6 -> {
                xdr.fixed(32);
                xdr.u32();
                xdr.u32(count);
                xdr.u32();
            }
            case 8 -> {
                xdr.fixed(32 + 12);
                xdr.item();
            }
            case 9, 14 -> {
                xdr.fixed(32);
                xdr.opaque(255);
                xdr.fixed(32);
            }
            case 11 -> {
                xdr.fixed(32);
                xdr.opaque(255);
                xdr.fixed(32);
                xdr.opaque(255);
            }
            case 12 -> {
                xdr.fixed(64);
                xdr.opaque(255);
            }
            case 13 -> {
                xdr.fixed(32);
                xdr.opaque(255);
                xdr.item();
                xdr.fixed(32);
            }
            case 16 -> {
                xdr.fixed(36);
                xdr.u32(count);
            }
            default -> {}
        }
    }

    private static void results(RandomXdr xdr, int procedure) {
        if (procedure == 0 || procedure == 3 || procedure == 7) {
            return;
        }
        xdr.u32(0);
        switch (procedure) {
            case 1, 2, 8 -> xdr.fixed(68);
            case 4, 9, 14 -> xdr.fixed(32 + 68);
            case 5 -> xdr.item();
            case 6 -> {
                xdr.fixed(68);
                xdr.item();
            }
            case 16 -> {
                xdr.list(4, () -> {
                    xdr.u32();
                    xdr.opaque(255);
                    xdr.u32();
                });
                xdr.bool();
            }
            case 17 -> xdr.fixed(20);
            default -> {}
        }
    }

    private static XdrReader reader(XdrWriter stream) {
        return new XdrReader(MemorySegment.ofArray(stream.toByteArray()));
    }

    @ParameterizedTest
    @MethodSource("procedures")
    void exactlyTheEligibleItemsOfEveryProcedureAreFound(int procedure) {
        CallHeader call = call(procedure);
        UpperLayerBinding binding = binding(call);
        Seeds.runRandom(50, random -> {
            XdrWriter arguments = new XdrWriter();
            arguments(new RandomXdr(arguments, random), procedure, 4096);
            Streams.findsMarkedItems((in, sink) -> binding.argumentItems(call, in, sink), arguments);
            assertThat(arguments.items()).isEqualTo(procedure == 8 || procedure == 13 ? 1 : 0);
            XdrWriter results = new XdrWriter();
            results(new RandomXdr(results, random), procedure);
            Streams.findsMarkedItems((in, sink) -> binding.resultItems(call, in, sink), results);
            assertThat(results.items()).isEqualTo(procedure == 5 || procedure == 6 ? 1 : 0);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0",
        "1, 72, 0",
        "2, 72, 0",
        "3, 0, 0",
        "4, 104, 0",
        "5, 8, 1024",
        "6, 76, 4096",
        "7, 0, 0",
        "8, 72, 0",
        "9, 104, 0",
        "10, 4, 0",
        "11, 4, 0",
        "12, 4, 0",
        "13, 4, 0",
        "14, 104, 0",
        "15, 4, 0",
        "16, 4108, 0",
        "17, 24, 0"
    })
    void largestReplyIsThatOfTheRfcWithTheLongestVerifier(int procedure, int results, int item) throws XdrException {
        XdrWriter arguments = new XdrWriter();
        arguments(new RandomXdr(arguments, new Random(1)), procedure, 4096);
        CallHeader call = call(procedure);
        ReplyBound bound = binding(call).replyBound(call, reader(arguments));
        assertThat(bound.streamBytes()).isEqualTo(424 + results);
        assertThat(bound.largestItemBytes()).isEqualTo(item);
        assertThat(bound.exact()).isTrue();
    }

    @Test
    void readNeverReturnsMoreThan8192Bytes() throws XdrException {
        XdrWriter arguments = new XdrWriter();
        arguments(new RandomXdr(arguments, new Random(1)), 6, 1 << 20);
        assertThat(binding(call(6)).replyBound(call(6), reader(arguments)).largestItemBytes())
                .isEqualTo(8192);
    }

    @Test
    void boundsOfDataPathAndNameAreKeptThoughTheBytesAreThere() throws XdrException {
        taken(8, 8192, 44);
        refused(8, 8193, 44);
        taken(4, 255, 32);
        refused(4, 256, 32);
    }

    private static XdrWriter withOpaque(int length, int before) {
        XdrWriter out = new XdrWriter();
        out.writeFixedOpaque(MemorySegment.ofArray(new byte[before]));
        out.writeOpaque(new byte[length]);
        return out;
    }

    private static void taken(int procedure, int length, int before) throws XdrException {
        CallHeader call = call(procedure);
        binding(call).argumentItems(call, reader(withOpaque(length, before)), new ItemList());
    }

    private static void refused(int procedure, int length, int before) {
        CallHeader call = call(procedure);
        assertThatExceptionOfType(XdrException.class)
                .isThrownBy(
                        () -> binding(call).argumentItems(call, reader(withOpaque(length, before)), new ItemList()));
    }

    /** Computed by hand from RFC 1094. */
    @ParameterizedTest
    @CsvSource({
        "0, 0", "1, 72", "2, 72", "3, 0", "4, 104", "5, 8", "6, 76", "7, 0", "8, 72", "9, 104", "10, 4", "11, 4",
        "12, 4", "13, 4", "14, 104", "15, 4", "16, 12", "17, 24", "18, 0"
    })
    void smallestResultsAreThoseOfTheRfc(int procedure, int results) {
        assertThat(binding(call(procedure)).smallestResults(procedure)).isEqualTo(results);
    }
}
