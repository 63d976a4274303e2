// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.RdmaWriteRequest;

class FpduBatchTest {
    /** Large and small payloads, several FPDUs for a message and several entries for an FPDU. */
    private static SingleStream mixed(boolean crc) {
        SingleStream stream = new SingleStream(StreamOptions.large(1200, crc));
        stream.receives(stream.pair.second, 3, 4096);
        var fast = stream.fast(1, 100, 600, 90, 500, 300, 7, 300);
        stream.send(2, 0, 300, 300, 20, 400, 700, 1200, 5, 1300, 400);
        stream.send(3);
        stream.write(4, stream.region, 77, 1000);
        stream.read(5, 900);
        stream.post(
                stream.pair.first,
                new RdmaWriteRequest()
                        .id(6)
                        .sge(fast, 3, 1800)
                        .target(stream.peerRegion.remoteKey(), stream.peerRegion.remoteAddress()));
        stream.send(7, 9, 256, 9, 257);
        return stream;
    }

    private static byte[] reference(boolean crc) {
        SingleStream stream = mixed(crc);
        assertThat(stream.pair.first.write(Integer.MAX_VALUE)).isTrue();
        assertThat(stream.pair.first.batch.isEmpty()).isTrue();
        byte[] bytes = withoutAddresses(stream);
        assertThat(bytes.length).isBetween(4_000, 1 << 16);
        return bytes;
    }

    /** Tagged offsets and keys differ between the streams: zeroed, and the CRC with them. */
    private static byte[] withoutAddresses(SingleStream stream) {
        byte[] bytes = stream.written();
        for (int at = 0; at + 20 <= bytes.length; at = fpduEnd(bytes, at)) {
            boolean tagged = (bytes[at + 2] & 0x80) != 0;
            Arrays.fill(bytes, at + 4, at + 8, (byte) 0);
            if (tagged) {
                Arrays.fill(bytes, at + 8, Math.min(bytes.length, at + 16), (byte) 0);
            } else if ((bytes[at + 3] & 0x0F) == WireSegment.READ_REQUEST) {
                Arrays.fill(bytes, at + 20, Math.min(bytes.length, at + 48), (byte) 0);
            }
            int end = fpduEnd(bytes, at);
            if (end <= bytes.length) {
                Arrays.fill(bytes, end - 4, end, (byte) 0);
            }
        }
        return bytes;
    }

    private static int fpduEnd(byte[] bytes, int at) {
        int length = ((bytes[at] & 0xFF) << 8) | (bytes[at + 1] & 0xFF);
        return at + (length + 5) / 4 * 4 + 4;
    }

    /** The end of the FPDU that has begun at this position, which is the position itself on a boundary. */
    private static int endOfBegun(byte[] reference, int position) {
        int at = 0;
        while (at < position) {
            at = fpduEnd(reference, at);
        }
        return at;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPartialWriteAtAnyByteLeavesTheSameBytesOnTheWire(boolean crc) {
        byte[] reference = reference(crc);
        for (int cut = 0; cut <= reference.length; cut++) {
            SingleStream stream = mixed(crc);
            stream.pair.first.write(cut);
            while (stream.pair.first.write(1 + cut % 997)) {
                assertThat(stream.pair.first.isRunning()).isTrue();
            }
            assertThat(Arrays.mismatch(withoutAddresses(stream), reference))
                    .as("cut at %d", cut)
                    .isEqualTo(-1);
        }
    }

    @Test
    void whatHasBegunIsFinishedWithTheBytesItBeganWith() {
        byte[] reference = reference(true);
        for (int cut = 0; cut <= reference.length; cut++) {
            SingleStream stream = mixed(true);
            stream.pair.first.write(cut);
            stream.memory.fill((byte) 0x55);
            stream.untapped();
            stream.pair.first.write(Integer.MAX_VALUE);

            int end = endOfBegun(reference, cut);
            byte[] written = withoutAddresses(stream);
            assertThat(Arrays.mismatch(written, 0, end, reference, 0, end))
                    .as("cut at %d", cut)
                    .isEqualTo(-1);
        }
    }

    @Test
    void onlyWhatHasBegunIsFinishedWhenTheStreamStops() {
        byte[] reference = reference(true);
        for (int cut = 0; cut <= reference.length; cut++) {
            SingleStream stream = mixed(true);
            stream.pair.first.write(cut);
            stream.memory.fill((byte) 0x55);
            stream.pair.first.lose();
            stream.pair.first.stop();

            int end = endOfBegun(reference, cut);
            byte[] written = withoutAddresses(stream);
            assertThat(written).as("cut at %d", cut).hasSize(end);
            assertThat(Arrays.mismatch(written, 0, end, reference, 0, end))
                    .as("cut at %d", cut)
                    .isEqualTo(-1);
            assertThat(SingleStream.completions(stream.pair.first))
                    .as("cut at %d", cut)
                    .hasSize(7);
        }
    }

    @Test
    void memoryThatIsGoneBeforeAnyByteOfItLeftEndsTheStreamThere() {
        int count = 12;
        for (int gone = 0; gone < count; gone++) {
            for (int accepted : new int[] {0, 1, 400, 1400, 2000}) {
                SingleStream stream = new SingleStream(StreamOptions.large(1200, true));
                List<PlainRegion> sources = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    sources.add(stream.pair.first.register(stream.memory.asSlice(500L * i, 500), Access.LOCAL_READ));
                    stream.write(i, sources.get(i), 0, 500);
                }
                stream.pair.first.write(accepted);
                sources.get(gone).close();
                while (stream.pair.first.write(333)) {
                    assertThat(stream.pair.first.isRunning()).isTrue();
                }

                // An FPDU of 500 bytes has 520; what has begun is safe.
                boolean safe = accepted > 520 * gone;
                String what = "region " + gone + " gone after " + accepted;
                assertThat(stream.pair.first.isRunning()).as(what).isEqualTo(safe);
                assertThat(stream.wire).as(what).hasSize(safe ? count : gone);
                stream.pair.first.stop();
                if (!safe) {
                    checkCompletions(SingleStream.completions(stream.pair.first), gone, count);
                    assertThat(stream.wire).as(what).hasSize(gone + 1);
                    assertThat(stream.wire.getLast().opcode()).isEqualTo(WireSegment.TERMINATE);
                    assertThat(stream.wire.getLast().ulpdu().limit()).isEqualTo(22);
                }
            }
        }
    }

    private static void checkCompletions(List<String> completions, int gone, int count) {
        for (int i = 0; i < count; i++) {
            String status = i < gone ? "SUCCESS" : i == gone ? "LOCAL_PROTECTION_ERROR" : "FLUSHED";
            assertThat(completions.get(i)).isEqualTo(i + " " + status);
        }
    }
}
