// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.export.Export;
import org.rpcrdma4j.nfs.export.Identity;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.CallContext;

/** The data path without a transport, where that runs short. */
class FileDataTest {

    /** A transport whose memory is used up. */
    private static final CallContext NO_MEMORY = new CallContext() {
        @Override
        public InetSocketAddress remoteAddress() {
            return ServerFixture.ANY;
        }

        @Override
        public MemorySegment allocate(long bytes) {
            throw new IllegalStateException("no memory for " + bytes + " bytes");
        }

        @Override
        public void whenReleased(Runnable task) {
            task.run();
        }
    };

    @TempDir
    private Path directory;

    @Test
    void aReadThatFindsNoMemoryIsToComeAgain() throws IOException {
        Files.writeString(directory.resolve("file"), "some text");
        Counters<NfsServerCounter> counters = new Counters<>(NfsServerCounter.class);
        try (Export export = Export.open(directory, ServerFixture.OPTIONS)) {
            FileData data = new FileData(export, counters);
            FileHandle file = ((Lookup.Ok)
                            export.lookup(Identity.ROOT, new Lookup.Arguments(export.root(), FileName.of("file"))))
                    .file();
            Read.Results refused = data.read(Identity.ROOT, new Read.Arguments(file, 0, 100), NO_MEMORY);
            assertThat(refused.status()).isEqualTo(Status.JUKEBOX);
            assertThat(counters.get(NfsServerCounter.READS_WITHOUT_MEMORY)).isEqualTo(1);
            // The end of the file takes none, and later there is some.
            assertThat(data.read(Identity.ROOT, new Read.Arguments(file, 9, 100), NO_MEMORY)
                            .isOk())
                    .isTrue();
            Read.Ok read = (Read.Ok) data.read(Identity.ROOT, new Read.Arguments(file, 0, 100), CallContext.NONE);
            assertThat(read.count()).isEqualTo(9);
            assertThat(read.endOfFile()).isTrue();
            assertThat(counters.get(NfsServerCounter.READ_BYTES)).isEqualTo(9);
        }
    }
}
