// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.nfs.protocol.WriteVerifier;
import org.rpcrdma4j.transport.event.Counters;

/** What happens when the disk fails or is full. */
class StableStorageTest {

    private final Counters<NfsServerCounter> counters = new Counters<>(NfsServerCounter.class);

    @Test
    void theVerifierChangesWhenDataMayBeLostAndOnlyThen() throws IOException {
        StableStorage storage = new StableStorage(counters);
        FaultyChannel channel = new FaultyChannel(100);
        WriteVerifier first = storage.verifier();
        assertThat(storage.bring(channel, true)).isEqualTo(first);
        assertThat(storage.bring(channel, false)).isEqualTo(first);
        channel.syncFails = true;
        assertThatIOException().isThrownBy(() -> storage.bring(channel, true));
        channel.syncFails = false;
        WriteVerifier second = storage.verifier();
        assertThat(second).isNotEqualTo(first);
        assertThat(storage.bring(channel, true)).isEqualTo(second);
        assertThat(counters.get(NfsServerCounter.SYNCS)).isEqualTo(4);
        assertThat(counters.get(NfsServerCounter.SYNC_FAILURES)).isEqualTo(1);
    }

    @Test
    void everyServerBeginsWithAnotherVerifier() {
        assertThat(new StableStorage(counters).verifier()).isNotEqualTo(new StableStorage(counters).verifier());
    }

    @Test
    void aDiskThatIsFullGivesAShortCountAndThenAFailure() throws IOException {
        List<MemorySegment> pieces = List.of(
                MemorySegment.ofArray(new byte[10]),
                MemorySegment.ofArray(new byte[0]),
                MemorySegment.ofArray(new byte[20]));
        assertThat(FileData.drain(pieces, 30, new FaultyChannel(100), 0)).isEqualTo(30);
        assertThat(FileData.drain(pieces, 30, new FaultyChannel(15), 0)).isEqualTo(15);
        assertThat(FileData.drain(pieces, 12, new FaultyChannel(100), 0)).isEqualTo(12);
        assertThatIOException().isThrownBy(() -> FileData.drain(pieces, 30, new FaultyChannel(0), 0));
    }
}
