// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.nfs.protocol.WriteVerifier;
import org.rpcrdma4j.testkit.Waits;

/** WRITEs of 1 KiB, four at a time, 8 KiB uncommitted. */
@Timeout(60)
class NfsWriterTest {

    private final FakeNfs nfs = new FakeNfs();
    private final byte[] data = new byte[50_500];
    private final Volumes volumes = new Volumes(nfs);
    private final BufferPool pool = new BufferPool(1024, 4);
    private final NfsFile file = volumes.volume.createFile(NfsPath.parse("file"), CreateMode.NEW, SetAttributes.NONE);

    NfsWriterTest() throws IOException {
        new Random(1).nextBytes(data);
    }

    @AfterEach
    void allMemoryIsBack() {
        Waits.until(() -> pool.lent() == 0, () -> "all buffers are back");
        volumes.close();
    }

    private NfsWriter writer() {
        return new NfsWriter(volumes.volume.client(), file, "the file", 1024, Volumes.options(), pool);
    }

    private byte[] durable() {
        return nfs.root.children.get(org.rpcrdma4j.nfs.protocol.FileName.of("file")).durable;
    }

    private void writeAll(NfsWriter writer, int pieceBytes) throws IOException {
        for (int at = 0; at < data.length; at += pieceBytes) {
            writer.write(at, ByteBuffer.wrap(data, at, Math.min(pieceBytes, data.length - at)));
        }
    }

    @Test
    void whatIsWrittenIsOnStableStorageAfterClose() throws IOException {
        for (int pieceBytes : new int[] {10, 1000, 1024, 5000, data.length}) {
            try (NfsWriter writer = writer()) {
                writeAll(writer, pieceBytes);
            }
            assertThat(durable()).isEqualTo(data);
        }
    }

    @Test
    void smallPiecesAreGathered() throws IOException {
        try (NfsWriter writer = writer()) {
            writeAll(writer, 10);
        }
        assertThat(nfs.count(Procedure.WRITE)).isEqualTo(50);
    }

    @Test
    void aSmallFileIsOneStableWriteWithoutCommit() throws IOException {
        try (NfsWriter writer = writer()) {
            writer.write(0, ByteBuffer.wrap(data, 0, 700));
        }
        assertThat(durable()).isEqualTo(Arrays.copyOf(data, 700));
        assertThat(nfs.count(Procedure.WRITE)).isEqualTo(1);
        assertThat(nfs.count(Procedure.COMMIT)).isZero();
    }

    @Test
    void nothingWrittenIsNoCall() throws IOException {
        writer().close();
        assertThat(nfs.count(Procedure.WRITE) + nfs.count(Procedure.COMMIT)).isZero();
    }

    @Test
    void shortWritesGoOnWhereTheyEnded() throws IOException {
        nfs.mostWritten = 300;
        try (NfsWriter writer = writer()) {
            writeAll(writer, 5000);
        }
        assertThat(durable()).isEqualTo(data);
    }

    @Test
    void uncommittedMemoryIsBoundedByCommitsInBetween() throws IOException {
        int mostLent = 0;
        try (NfsWriter writer = writer()) {
            for (int at = 0; at < data.length; at += 500) {
                writer.write(at, ByteBuffer.wrap(data, at, 500));
                mostLent = Math.max(mostLent, pool.lent());
            }
        }
        assertThat(durable()).isEqualTo(data);
        assertThat(mostLent).isLessThanOrEqualTo(9);
        assertThat(nfs.count(Procedure.COMMIT)).isGreaterThan(3);
    }

    @Test
    void whatAServerForgotIsWrittenAgain() throws IOException {
        Random random = new Random(3);
        try (NfsWriter writer = writer()) {
            for (int at = 0; at < data.length; at += 500) {
                writer.write(at, ByteBuffer.wrap(data, at, 500));
                if (random.nextInt(10) == 0) {
                    nfs.crash();
                }
            }
            nfs.crash();
            writer.flush();
            assertThat(durable()).isEqualTo(data);
        }
        assertThat(nfs.count(Procedure.WRITE)).isGreaterThan(50);
    }

    @Test
    void aCrashBetweenThePartsOfOneBlockIsNoticed() throws IOException {
        nfs.mostWritten = 300;
        AtomicInteger writes = new AtomicInteger();
        nfs.instead.put(Procedure.WRITE, a -> {
            if (writes.incrementAndGet() == 3) {
                nfs.crash();
            }
            return null;
        });
        try (NfsWriter writer = writer()) {
            writer.write(0, ByteBuffer.wrap(data, 0, 1024));
            writer.write(4096, ByteBuffer.wrap(data, 4096, 1024));
        }
        assertThat(Arrays.copyOf(durable(), 1024)).isEqualTo(Arrays.copyOf(data, 1024));
        assertThat(Arrays.copyOfRange(durable(), 4096, 5120)).isEqualTo(Arrays.copyOfRange(data, 4096, 5120));
    }

    @Test
    void aCrashJustBeforeCommitIsNoticed() throws IOException {
        AtomicInteger commits = new AtomicInteger();
        nfs.instead.put(Procedure.COMMIT, a -> {
            if (commits.incrementAndGet() <= 2) {
                nfs.crash();
            }
            return null;
        });
        try (NfsWriter writer = writer()) {
            writeAll(writer, 1024);
        }
        assertThat(durable()).isEqualTo(data);
    }

    @Test
    void aServerThatForgetsForEverIsGivenUp() {
        nfs.instead.put(Procedure.COMMIT, a -> {
            nfs.crash();
            return null;
        });
        NfsWriter writer = writer();
        assertThatThrownBy(() -> {
                    writeAll(writer, 1024);
                    writer.close();
                })
                .isInstanceOf(CallFailedException.class)
                .hasMessage("cannot write the file: the server forgets what was written, again and again");
        writer.abort();
    }

    @Test
    void overlappingWritesHaveTheOrderInWhichTheyWereMade() throws IOException {
        Random random = new Random(4);
        byte[] expected = new byte[6000];
        try (NfsWriter writer = writer()) {
            for (int i = 0; i < 200; i++) {
                int length = 1 + random.nextInt(1500);
                int offset = random.nextInt(expected.length - length);
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                System.arraycopy(bytes, 0, expected, offset, length);
                writer.write(offset, ByteBuffer.wrap(bytes));
                if (random.nextInt(20) == 0) {
                    nfs.crash();
                }
            }
        }
        assertThat(durable()).isEqualTo(Arrays.copyOf(expected, durable().length));
    }

    @Test
    void filledBuffersAreWrittenWithoutACopy() throws IOException {
        try (NfsWriter writer = writer()) {
            for (int at = 0; at < data.length; at += 1024) {
                NfsBuffer buffer = writer.buffer();
                int length = Math.min(1024, data.length - at);
                MemorySegment.copy(MemorySegment.ofArray(data), at, buffer.memory(), 0, length);
                writer.write(at, buffer, length);
            }
        }
        assertThat(durable()).isEqualTo(data);
    }

    @Test
    void aFailureIsToldByEveryFurtherCall() throws IOException {
        AtomicInteger writes = new AtomicInteger();
        nfs.instead.put(
                Procedure.WRITE,
                a -> writes.incrementAndGet() == 7 ? new Write.Failed(Status.NOSPC, WeakCacheData.NONE) : null);
        NfsWriter writer = writer();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> {
                        writeAll(writer, 1000);
                        writer.flush();
                    })
                    .isInstanceOf(NfsException.class)
                    .hasMessage("cannot write the file: no space left at the server");
        }
        assertThatThrownBy(writer::close).isInstanceOf(NfsException.class);
        writer.close();
    }

    @Test
    void countsThatCannotBeAreRefused() {
        for (long count : new long[] {0, 2000, 0xffff_ffffL}) {
            nfs.instead.put(
                    Procedure.WRITE,
                    a -> new Write.Ok(WeakCacheData.NONE, count, StableHow.UNSTABLE, new WriteVerifier(1)));
            NfsWriter writer = writer();
            assertThatThrownBy(() -> {
                        writer.write(0, ByteBuffer.wrap(data, 0, 1000));
                        writer.close();
                    })
                    .isInstanceOf(CallFailedException.class)
                    .hasMessage("cannot write the file: the server says that it wrote " + count + " of 1000 bytes");
        }
    }

    @Test
    void lessStableThanAskedIsCommitted() throws IOException {
        AtomicInteger writes = new AtomicInteger();
        nfs.instead.put(Procedure.WRITE, a -> {
            writes.incrementAndGet();
            Write.Arguments arguments = (Write.Arguments) a;
            return new Write.Ok(
                    WeakCacheData.NONE, arguments.count(), StableHow.UNSTABLE, new WriteVerifier(nfs.verifier));
        });
        try (NfsWriter writer = writer()) {
            writer.write(0, ByteBuffer.wrap(data, 0, 100));
        }
        assertThat(nfs.count(Procedure.COMMIT)).isEqualTo(1);
    }

    @Test
    void anAbortedWriterWritesNoMoreAndClosesInSilence() throws IOException {
        NfsWriter writer = writer();
        writer.write(0, ByteBuffer.wrap(data, 0, 100));
        writer.abort();
        assertThatThrownBy(() -> writer.write(0, ByteBuffer.wrap(data, 0, 100))).isInstanceOf(IOException.class);
        writer.close();
        assertThat(nfs.count(Procedure.WRITE)).isZero();
    }

    @Test
    void aServerThatDoesNotAnswerIsAnErrorAndNoMemoryIsLost() {
        NfsWriter writer = writer();
        volumes.rpc.isDead = true;
        assertThatThrownBy(() -> {
                    writeAll(writer, 1000);
                    writer.close();
                })
                .isInstanceOf(CallFailedException.class)
                .hasMessage("cannot write the file: the server does not answer");
        writer.abort();
    }
}
