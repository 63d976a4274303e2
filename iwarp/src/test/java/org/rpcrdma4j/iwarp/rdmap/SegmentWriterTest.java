// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.iwarp.mem.AccessFault;
import org.rpcrdma4j.iwarp.mem.AccessKind;
import org.rpcrdma4j.iwarp.mem.PlainRegion;
import org.rpcrdma4j.verbs.Access;
import org.rpcrdma4j.verbs.SendRequest;

class SegmentWriterTest {
    @Test
    @Timeout(value = 30, unit = TimeUnit.SECONDS)
    void memoryOfARegionThatIsBeingClosedIsHeldUntilItIsWritten() throws InterruptedException {
        SingleStream stream = new SingleStream(StreamOptions.large(4096, true));
        StreamEnd end = stream.pair.first;
        FpduBatch batch = end.batch;
        SegmentWriter writer = new SegmentWriter(end.context, batch, true);
        PlainRegion region = end.register(stream.memory.asSlice(0, 1000), Access.LOCAL_READ);
        int stag = region.remoteKey();
        assertThat(region.enterLocal(stag, AccessKind.LOCAL_READ, end.domain, 1, 0, 1000))
                .isEqualTo(AccessFault.NONE);

        // The close has begun and waits for the access; the access goes on.
        Thread closing = Thread.ofPlatform().start(region::close);
        while (region.isValid()) {
            Thread.onSpinWait();
        }
        writer.beginTagged(Opcode.WRITE, 0x100, 0);
        writer.gather(region, stag, 0, 1000);
        writer.end(this, 0, true);
        region.leave();

        assertThat(region.length()).as("still mapped while the batch has it").isEqualTo(1000);
        batch.leaveAll();
        closing.join();
        assertThat(region.length()).isZero();
        assertThat(region.remoteKey()).isEqualTo(stag);
    }

    @Test
    void noSegmentInsideAMessageIsEmptyHoweverFullTheSlabIs() {
        for (int part = 1; part <= FpduBatch.INLINE_BYTES; part++) {
            SingleStream stream = new SingleStream(StreamOptions.large(64768, false));
            for (int i = 0; i < 40; i++) {
                SendRequest request = new SendRequest().id(i);
                for (int j = 0; j < StreamOptions.MAX_SGES; j++) {
                    request.sge(stream.region, j, j == 0 ? 1 + (part * 7 + i) % 256 : part);
                }
                stream.post(stream.pair.first, request);
            }
            while (stream.pair.first.write(Integer.MAX_VALUE)) {
                assertThat(stream.pair.first.isRunning()).isTrue();
            }
            assertThat(stream.wire)
                    .as("pieces of %d", part)
                    .allMatch(segment -> segment.last() || segment.payloadBytes() > 0)
                    .filteredOn(WireSegment::last)
                    .hasSize(40);
        }
    }
}
