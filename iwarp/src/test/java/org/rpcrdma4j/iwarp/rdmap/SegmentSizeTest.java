// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.RdmaWriteRequest;
import org.rpcrdma4j.verbs.SendRequest;

/** RFC 5044, Section 3, and RFC 5041, Section 5.2: no segment is larger than MULPDU, and all but the last are equally large. */
class SegmentSizeTest {

    @Test
    void aSendOfFourThousandBytesOverAnEthernetSegmentHasTheseOffsets() throws Exception {
        PureStream stream = new PureStream(Fpdu.mulpdu(Fpdu.emss(1500, false)));
        PlainRegion source = stream.region(4000, Access.LOCAL_READ);
        stream.sends.post(new SendRequest().sge(source, 0, 4000), 0);
        List<byte[]> segments = stream.transmit();
        assertThat(segments.stream().map(segment -> ByteBuffer.wrap(segment).getInt(14)))
                .containsExactly(0, 1424, 2848);
    }

    @ParameterizedTest
    @CsvSource({"1442", "1422", "1446", "128", "129", "130", "131", "8942"})
    void everyWriteStaysWithinMulpduAndItsWholeFpdusWithinTheTcpSegment(int mulpdu) throws Exception {
        PureStream stream = new PureStream(mulpdu);
        PlainRegion source = stream.region(100_000, Access.LOCAL_READ);
        stream.sends.post(new RdmaWriteRequest().sge(source, 0, 100_000).target(0x100, 0), 0);
        List<byte[]> segments = stream.transmit();
        long payload = 0;
        for (byte[] segment : segments) {
            assertThat(segment.length).isLessThanOrEqualTo(mulpdu);
            payload += segment.length - 14;
        }
        assertThat(payload).isEqualTo(100_000);
        assertThat(segments.stream()
                        .limit(segments.size() - 1L)
                        .map(segment -> segment.length)
                        .distinct())
                .singleElement()
                .satisfies(length -> assertThat(length).isBetween(mulpdu - 3, mulpdu));
        assertThat(segments.stream().filter(segment -> (segment[0] & 0x40) != 0))
                .containsExactly(segments.getLast());
    }
}
