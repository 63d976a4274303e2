// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.testkit.Waits;

/** READs of 1 KiB, four at a time. */
@Timeout(60)
class NfsReaderTest {

    private static final NfsPath FILE = NfsPath.parse("file");

    private final FakeNfs nfs = new FakeNfs();
    private final byte[] data = new byte[10_300];
    private final FakeNode file = nfs.addFile(nfs.root, "file", data);

    NfsReaderTest() {
        new Random(1).nextBytes(data);
    }

    private static byte[] readAll(NfsReader reader) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (NfsBuffer buffer = reader.next(); buffer != null; buffer = reader.next()) {
            try (NfsBuffer closed = buffer) {
                assertThat(closed.offset()).isEqualTo(all.size());
                all.writeBytes(closed.data().toArray(ValueLayout.JAVA_BYTE));
            }
        }
        return all.toByteArray();
    }

    private byte[] readWhole(Volumes volumes) throws IOException {
        try (NfsReader reader = volumes.volume.openRead(FILE)) {
            return readAll(reader);
        }
    }

    @Test
    void aFileIsReadInOrder() throws IOException {
        try (Volumes volumes = new Volumes(nfs)) {
            assertThat(readWhole(volumes)).isEqualTo(data);
            volumes.rpc.places = false;
            assertThat(readWhole(volumes)).as("data in the message").isEqualTo(data);
            assertThat(nfs.count(Procedure.READ)).isEqualTo(2 * 11);
        }
    }

    @Test
    void aShortReadGoesOnWhereItEnded() throws IOException {
        nfs.mostRead = 100;
        try (Volumes volumes = new Volumes(nfs)) {
            assertThat(readWhole(volumes)).isEqualTo(data);
        }
    }

    @Test
    void anEmptyFileAndOneThatGrowsAreReadToTheirEnds() throws IOException {
        try (Volumes volumes = new Volumes(nfs)) {
            nfs.addFile(nfs.root, "empty", new byte[0]);
            try (NfsReader reader = volumes.volume.openRead(NfsPath.parse("empty"))) {
                assertThat(reader.next()).isNull();
                assertThat(reader.next()).isNull();
            }
            NfsFile before = volumes.volume.file(FILE, true);
            file.data = Arrays.copyOf(data, 15_000);
            try (NfsReader reader = volumes.volume.openRead(before)) {
                assertThat(readAll(reader)).isEqualTo(file.data);
            }
        }
    }

    @Test
    void aFileThatBecameShorterIsAnError() throws IOException {
        try (Volumes volumes = new Volumes(nfs);
                NfsReader reader = volumes.volume.openRead(FILE)) {
            file.data = Arrays.copyOf(data, 5000);
            assertThatThrownBy(() -> readAll(reader))
                    .isInstanceOfSatisfying(FileTruncatedException.class, e -> {
                        assertThat(e.expectedBytes()).isEqualTo(10_300);
                        assertThat(e.foundBytes()).isEqualTo(5000);
                    })
                    .hasMessage("cannot read nfs://fake/export/file: it became shorter while it was read, from 10300"
                            + " to 5000 bytes");
            nfs.tellsAttributes = false;
            reader.seek(4000);
            assertThatThrownBy(() -> readAll(reader)).isInstanceOf(FileTruncatedException.class);
        }
    }

    @Test
    void aServerThatLiesAboutTheEndIsFoundOut() throws IOException {
        nfs.instead.put(Procedure.READ, a -> Read.Ok.of(file.attributes(), true, MemorySegment.ofArray(new byte[10])));
        try (Volumes volumes = new Volumes(nfs);
                NfsReader reader = volumes.volume.openRead(FILE)) {
            assertThatThrownBy(() -> readAll(reader))
                    .isInstanceOf(CallFailedException.class)
                    .hasMessageContaining("says that it ends at 10, and that it has 10300 bytes");
        }
    }

    @Test
    void aServerThatSendsNothingAndNoEndIsNotAskedForEver() throws IOException {
        nfs.instead.put(Procedure.READ, a -> Read.Ok.of(null, false, MemorySegment.ofArray(new byte[0])));
        try (Volumes volumes = new Volumes(nfs);
                NfsReader reader = volumes.volume.openRead(FILE)) {
            assertThatThrownBy(() -> readAll(reader)).isInstanceOf(CallFailedException.class);
        }
    }

    @Test
    void moreThanWasAskedForIsRefused() throws IOException {
        nfs.instead.put(Procedure.READ, a -> Read.Ok.of(null, false, MemorySegment.ofArray(new byte[2000])));
        try (Volumes volumes = new Volumes(nfs);
                NfsReader reader = volumes.volume.openRead(FILE)) {
            volumes.rpc.places = false;
            assertThatThrownBy(() -> readAll(reader))
                    .isInstanceOf(CallFailedException.class)
                    .hasMessageContaining("bad reply");
        }
    }

    @Test
    void aFailureIsToldAndAllMemoryComesBack() throws IOException {
        nfs.instead.put(
                Procedure.READ, a -> ((Read.Arguments) a).offset() == 3072 ? new Read.Failed(Status.IO, null) : null);
        try (Volumes volumes = new Volumes(nfs)) {
            BufferPool pool = new BufferPool(1024, 4);
            NfsReader reader =
                    new NfsReader(volumes.volume.client(), volumes.volume.file(FILE, true), "the file", 1024, 4, pool);
            assertThatThrownBy(() -> readAll(reader))
                    .isInstanceOf(NfsException.class)
                    .hasMessage("cannot read the file: input/output error at the server");
            reader.close();
            Waits.until(() -> pool.lent() == 0, () -> "all buffers are back");
        }
    }

    @Test
    void readingFromAnywhereGivesTheBytesThatAreThere() throws IOException {
        Random random = new Random(2);
        try (Volumes volumes = new Volumes(nfs);
                NfsReader reader = volumes.volume.openRead(FILE);
                Arena arena = Arena.ofShared()) {
            for (int i = 0; i < 300; i++) {
                int offset = random.nextInt(11_000);
                int length = 1 + random.nextInt(4000);
                byte[] expected =
                        Arrays.copyOfRange(data, Math.min(offset, data.length), Math.min(offset + length, data.length));
                MemorySegment into =
                        random.nextBoolean() ? arena.allocate(length) : MemorySegment.ofArray(new byte[length]);
                long read = reader.read(offset, into);
                assertThat(read).isEqualTo(expected.length == 0 ? -1 : expected.length);
                if (read > 0) {
                    assertThat(into.asSlice(0, read).toArray(ValueLayout.JAVA_BYTE))
                            .isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void readingInOrderInSmallPiecesIsReadAhead() throws IOException {
        try (Volumes volumes = new Volumes(nfs);
                NfsReader reader = volumes.volume.openRead(FILE)) {
            ByteBuffer all = ByteBuffer.allocate(20_000);
            int read;
            do {
                ByteBuffer piece = all.slice(all.position(), 10);
                read = reader.read(all.position(), piece);
                all.position(all.position() + Math.max(0, read));
            } while (read > 0);
            assertThat(Arrays.copyOf(all.array(), all.position())).isEqualTo(data);
            assertThat(nfs.count(Procedure.READ)).isLessThan(20);
        }
    }

    @Test
    void aFileThatGrewIsSeenByReadAtItsOldEnd() throws IOException {
        try (Volumes volumes = new Volumes(nfs);
                NfsReader reader = volumes.volume.openRead(FILE)) {
            assertThat(reader.read(10_300, ByteBuffer.allocate(5))).isEqualTo(-1);
            file.data = Arrays.copyOf(data, 10_303);
            assertThat(reader.read(10_300, ByteBuffer.allocate(5))).isEqualTo(3);
        }
    }

    @Test
    void aClosedReaderReadsNothing() throws IOException {
        try (Volumes volumes = new Volumes(nfs)) {
            NfsReader reader = volumes.volume.openRead(FILE);
            reader.close();
            for (ThrowingRead read :
                    List.<ThrowingRead>of(reader::next, () -> reader.read(0, ByteBuffer.allocate(1)))) {
                assertThatThrownBy(read::run).isInstanceOf(IOException.class).hasMessageContaining("closed");
            }
        }
    }

    @FunctionalInterface
    private interface ThrowingRead {
        Object run() throws IOException;
    }
}
