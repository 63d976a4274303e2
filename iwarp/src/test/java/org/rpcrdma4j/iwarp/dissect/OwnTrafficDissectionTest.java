// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.dissect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.iwarp.device.IwarpSettings;
import org.rpcrdma4j.iwarp.device.SoftIwarpDevice;
import org.rpcrdma4j.testkit.capture.PcapWriter;
import org.rpcrdma4j.testkit.capture.RecordingProxy;
import org.rpcrdma4j.testkit.capture.Tshark;
import org.rpcrdma4j.verbs.MemoryRegion;
import org.rpcrdma4j.verbs.RdmaReadRequest;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendRequest;

/**
 * Wireshark, an implementation that is not ours, reads what our device sends: every FPDU has a good CRC, nothing is malformed. The traffic
 * passes through a recorder; the capture stays in the build folder.
 *
 * <p>Where tshark is missing the test is skipped, unless the system property {@code rpcrdma.require.tshark} is true.
 */
class OwnTrafficDissectionTest {
    private static final Path FOLDER = Path.of("target", "captures");
    private static final int BUFFER_BYTES = 1 << 20;

    @Test
    void tsharkFindsEveryCrcGoodAndNothingMalformed() throws Exception {
        Path capture = record("crc.pcap", Map.of());
        long fpdus = Fpdus.count(capture);
        String text = dissect(capture);
        assertThat(count(text, "\\(Good CRC32\\)")).as("FPDUs with a good CRC").isEqualTo(fpdus);
        assertThat(count(text, "\\(Bad CRC32")).as("FPDUs with a bad CRC").isZero();
        assertThat(count(text, "Malformed|malformed")).as("malformed").isZero();
        assertThat(fpdus).as("FPDUs recorded").isGreaterThan(200);
    }

    @Test
    void tsharkFindsNothingMalformedInSegmentsForCards() throws Exception {
        Path capture = record("hardware.pcap", Map.of("fpdu", "hardware"));
        String text = dissect(capture);
        assertThat(count(text, "\\(Good CRC32\\)")).isEqualTo(Fpdus.count(capture));
        assertThat(count(text, "Malformed|malformed")).isZero();
    }

    @Test
    void tsharkFindsNothingMalformedWithoutCrcs() throws Exception {
        Path capture = record("no-crc.pcap", Map.of("crc", "off"));
        String text = dissect(capture);
        assertThat(count(text, "ULPDU length: ")).isEqualTo(Fpdus.count(capture));
        assertThat(count(text, "Malformed|malformed")).isZero();
    }

    private static long count(String text, String pattern) {
        return Pattern.compile(pattern).matcher(text).results().count();
    }

    private static String dissect(Path capture) throws IOException, InterruptedException {
        // The payload is made up: the dissectors of upper layers would only guess at it.
        return Tshark.read(capture, "-V", "--disable-protocol", "rpcordma", "--disable-protocol", "smb_direct");
    }

    private static Path record(String name, Map<String, String> settings) throws Exception {
        Files.createDirectories(FOLDER);
        Path path = FOLDER.resolve(name);
        try (SoftIwarpDevice device = new SoftIwarpDevice(IwarpSettings.of(settings));
                PcapWriter pcap = new PcapWriter(path);
                Arena arena = Arena.ofShared()) {
            Ends ends = new Ends(device, arena, BUFFER_BYTES);
            try (RecordingProxy proxy = new RecordingProxy(ends.listen(), pcap)) {
                ends.connect(proxy.address());
                mix(ends);
                ends.provokeTerminate();
            }
        }
        return path;
    }

    private static void mix(Ends ends) {
        Random random = new Random(5);
        for (int i = 0; i < 120; i++) {
            int bytes = switch (i % 4) {
                case 0 -> random.nextInt(64);
                case 1 -> random.nextInt(3_000);
                case 2 -> random.nextInt(70_000);
                default -> i % 20 == 3 ? BUFFER_BYTES : random.nextInt(200_000);
            };
            MemoryRegion local = ends.clientRegion();
            MemoryRegion remote = ends.serverRegion();
            switch (i % 3) {
                case 0 ->
                    ends.run(new RdmaWriteRequest()
                            .sge(local, 0, bytes)
                            .target(remote.remoteKey(), remote.remoteAddress()));
                case 1 ->
                    ends.run(new RdmaReadRequest()
                            .sge(local, 0, bytes)
                            .source(remote.remoteKey(), remote.remoteAddress()));
                default ->
                    ends.run(new SendRequest()
                            .sge(local, 0, Math.min(bytes, Ends.RECEIVE_BYTES))
                            .solicited(i % 2 == 0));
            }
        }
        ends.sendWithInvalidate();
    }
}
