// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.nfs.export.ExportOptions;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.Read;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.StableHow;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.Write;
import org.rpcrdma4j.transport.client.Reply;

/** READ, WRITE and COMMIT: what is in files comes to clients, and the other way, whatever the sizes. */
class DataPathTest {

    private static final int MIB = 1 << 20;

    @TempDir
    private Path directory;

    private static byte[] pattern(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >>> 8) * 7 + seed * 101 + 1);
        }
        return bytes;
    }

    private static FileHandle create(Caller caller, String name) {
        CreateResults made = caller.call(
                Procedure.CREATE,
                new Create.Arguments(
                        ServerFixture.root(caller),
                        FileName.of(name),
                        new Create.Guarded(SetAttributes.NONE.withMode(0644))),
                CreateResults::read);
        FileHandle handle = ((CreateResults.Ok) made).file();
        assertThat(handle).isNotNull();
        return handle;
    }

    private static FileHandle find(Caller caller, String name) {
        return ServerFixture.lookup(caller, ServerFixture.root(caller), name);
    }

    private static Read.Results read(Reply reply, long most) {
        return Caller.results(reply, in -> Read.Results.read(in, reply.placedBytes(), most));
    }

    private static Read.Results read(Caller caller, FileHandle file, long offset, MemorySegment target) {
        Reply reply = Caller.await(
                caller.sendInto(Procedure.READ, new Read.Arguments(file, offset, target.byteSize()), target));
        return read(reply, target.byteSize());
    }

    private static Read.Ok readOk(Caller caller, FileHandle file, long offset, MemorySegment target) {
        Read.Results results = read(caller, file, offset, target);
        assertThat(results).isInstanceOf(Read.Ok.class);
        Read.Ok ok = (Read.Ok) results;
        assertThat(ok.attributes()).isNotNull();
        return ok;
    }

    private static Write.Results write(
            Caller caller, FileHandle file, long offset, StableHow stable, MemorySegment... data) {
        return caller.call(
                Procedure.WRITE, new Write.Arguments(file, offset, stable, List.of(data)), Write.Results::read);
    }

    private static Write.Ok writeOk(
            Caller caller, FileHandle file, long offset, StableHow stable, MemorySegment... data) {
        Write.Results results = write(caller, file, offset, stable, data);
        assertThat(results).isInstanceOf(Write.Ok.class);
        return (Write.Ok) results;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 4095, 4096, 65_537, MIB - 1, MIB})
    void whatIsWrittenByChunkIsInTheFileAndReadBackIntoTheTarget(int length) throws IOException {
        byte[] bytes = pattern(length, length);
        try (ServerFixture fixture = new ServerFixture(directory);
                Arena arena = Arena.ofShared()) {
            Caller caller = fixture.caller();
            FileHandle file = create(caller, "file");
            MemorySegment data = arena.allocate(Math.max(1, length)).asSlice(0, length);
            data.copyFrom(MemorySegment.ofArray(bytes));
            Write.Ok written = writeOk(caller, file, 0, StableHow.UNSTABLE, data);
            assertThat(written.count()).isEqualTo(length);
            assertThat(Files.readAllBytes(directory.resolve("file"))).isEqualTo(bytes);
            // The target is larger than the file by an odd number.
            MemorySegment target = arena.allocate(length + 5).fill((byte) 0x55);
            if (length + 5 <= MIB) {
                Read.Ok read = readOk(caller, file, 0, target);
                assertThat(read.count()).isEqualTo(length);
                assertThat(read.endOfFile()).isTrue();
            }
            if (length > 0) {
                Read.Ok exact = readOk(caller, file, 0, target.asSlice(0, length));
                assertThat(exact.count()).isEqualTo(length);
                assertThat(exact.endOfFile()).isTrue();
            }
            assertThat(target.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
            assertThat(fixture.server.counters().get(NfsServerCounter.WRITTEN_BYTES))
                    .isEqualTo(length);
        }
    }

    @Test
    void aReadSaysWhereTheFileEnds() throws IOException {
        Files.write(directory.resolve("file"), pattern(1, 10_000));
        try (ServerFixture fixture = new ServerFixture(directory);
                Arena arena = Arena.ofShared()) {
            Caller caller = fixture.caller();
            FileHandle file = find(caller, "file");
            MemorySegment target = arena.allocate(4096);
            Read.Ok first = readOk(caller, file, 0, target);
            assertThat(first.count()).isEqualTo(4096);
            assertThat(first.endOfFile()).isFalse();
            Read.Ok last = readOk(caller, file, 8192, target);
            assertThat(last.count()).isEqualTo(1808);
            assertThat(last.endOfFile()).isTrue();
            assertThat(target.asSlice(0, 1808).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOfRange(pattern(1, 10_000), 8192, 10_000));
            for (long beyond : new long[] {10_000, 10_001, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
                Read.Ok nothing = readOk(caller, file, beyond, target);
                assertThat(nothing.count()).as("at %d", beyond).isZero();
                assertThat(nothing.endOfFile()).as("at %d", beyond).isTrue();
            }
        }
    }

    @Test
    void aReadWithoutTargetAndOneOfNoBytesAreAnsweredInTheMessage() throws IOException {
        Files.write(directory.resolve("file"), pattern(1, 101));
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle file = find(caller, "file");
            Read.Ok read = (Read.Ok)
                    read(Caller.await(caller.sendAsync(Procedure.READ, new Read.Arguments(file, 1, 100))), 100);
            assertThat(read.count()).isEqualTo(100);
            assertThat(read.endOfFile()).isTrue();
            assertThat(read.data().getFirst().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOfRange(pattern(1, 101), 1, 101));
            Read.Ok nothing =
                    (Read.Ok) read(Caller.await(caller.sendAsync(Procedure.READ, new Read.Arguments(file, 1, 0))), 0);
            assertThat(nothing.count()).isZero();
            assertThat(nothing.endOfFile()).isFalse();
        }
    }

    @Test
    void countsBeyondTheLimitsAreCut() throws IOException {
        Files.write(directory.resolve("file"), pattern(1, 100_000));
        ExportOptions small = ServerFixture.OPTIONS.withMaxReadBytes(8192).withMaxWriteBytes(4096);
        try (ServerFixture fixture = new ServerFixture(directory, small, NfsServerOptions.DEFAULT);
                Arena arena = Arena.ofShared()) {
            Caller caller = fixture.caller();
            FileHandle file = find(caller, "file");
            MemorySegment target = arena.allocate(65_536);
            Read.Ok read = readOk(caller, file, 0, target);
            assertThat(read.count()).isEqualTo(8192);
            assertThat(read.endOfFile()).isFalse();
            MemorySegment data = arena.allocate(10_000);
            data.copyFrom(MemorySegment.ofArray(pattern(7, 10_000)));
            assertThat(writeOk(caller, file, 100_000, StableHow.FILE_SYNC, data.asSlice(0, 1000), data.asSlice(1000))
                            .count())
                    .isEqualTo(4096);
            byte[] now = Files.readAllBytes(directory.resolve("file"));
            assertThat(now).hasSize(104_096);
            assertThat(Arrays.copyOfRange(now, 100_000, now.length)).isEqualTo(Arrays.copyOf(pattern(7, 10_000), 4096));
        }
    }

    @ParameterizedTest
    @EnumSource
    void dataIsAsStableAsWasAskedAndTheVerifierStays(StableHow stable) throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle file = create(caller, "file");
            Write.Ok first = writeOk(caller, file, 10, stable, MemorySegment.ofArray(pattern(1, 100)));
            assertThat(first.committed()).isEqualTo(stable);
            assertThat(first.count()).isEqualTo(100);
            assertThat(first.change().after()).isNotNull();
            Commit.Ok committed =
                    (Commit.Ok) caller.call(Procedure.COMMIT, new Commit.Arguments(file, 0, 0), Commit.Results::read);
            assertThat(committed.verifier()).isEqualTo(first.verifier());
            assertThat(committed.change().after()).isNotNull();
            assertThat(fixture.server.counters().get(NfsServerCounter.SYNCS))
                    .isEqualTo(stable == StableHow.UNSTABLE ? 1 : 2);
            fixture.restart();
            Caller again = fixture.caller();
            Commit.Ok later = (Commit.Ok)
                    again.call(Procedure.COMMIT, new Commit.Arguments(find(again, "file"), 0, 0), Commit.Results::read);
            assertThat(later.verifier()).isNotEqualTo(first.verifier());
        }
    }

    @Test
    void aWriteBeyondWhatAFileCanHoldIsTooBig() throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle file = create(caller, "file");
            for (long offset : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 2, Long.MIN_VALUE, -1}) {
                assertThat(write(caller, file, offset, StableHow.UNSTABLE, MemorySegment.ofArray(new byte[4]))
                                .status())
                        .as("at %d", offset)
                        .isEqualTo(Status.FBIG);
            }
            assertThat(directory.resolve("file")).isEmptyFile();
        }
    }

    @Test
    void aDirectoryIsNeitherReadNorWritten() throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            FileHandle root = ServerFixture.root(caller);
            assertThat(read(caller, root, 0, MemorySegment.ofArray(new byte[8])).status())
                    .isIn(Status.ISDIR, Status.INVAL);
            assertThat(write(caller, root, 0, StableHow.UNSTABLE, MemorySegment.ofArray(new byte[8]))
                            .status())
                    .isIn(Status.ISDIR, Status.INVAL);
            assertThat(caller.call(Procedure.COMMIT, new Commit.Arguments(root, 0, 0), Commit.Results::read)
                            .status())
                    .isIn(Status.ISDIR, Status.INVAL);
        }
    }

    @Test
    void manyReadsAndWritesAtOnceDoNotMeet() throws IOException {
        int pieces = 64;
        int length = 60_001;
        byte[] old = pattern(1, pieces * length);
        Files.write(directory.resolve("old"), old);
        try (ServerFixture fixture = new ServerFixture(directory);
                Arena arena = Arena.ofShared()) {
            Caller caller = fixture.caller();
            FileHandle from = find(caller, "old");
            FileHandle to = create(caller, "new");
            MemorySegment read = arena.allocate(old.length);
            MemorySegment written = arena.allocate(old.length);
            written.copyFrom(MemorySegment.ofArray(pattern(2, old.length)));
            List<CompletableFuture<Reply>> reads = new ArrayList<>();
            List<CompletableFuture<Reply>> writes = new ArrayList<>();
            for (int i = 0; i < pieces; i++) {
                long at = (long) i * length;
                reads.add(caller.sendInto(
                        Procedure.READ, new Read.Arguments(from, at, length), read.asSlice(at, length)));
                writes.add(caller.sendAsync(
                        Procedure.WRITE,
                        new Write.Arguments(to, at, StableHow.UNSTABLE, List.of(written.asSlice(at, length)))));
            }
            for (int i = 0; i < pieces; i++) {
                assertThat(((Read.Ok) read(Caller.await(reads.get(i)), length)).count())
                        .isEqualTo(length);
                assertThat(((Write.Ok) Caller.results(Caller.await(writes.get(i)), Write.Results::read)).count())
                        .isEqualTo(length);
            }
            assertThat(read.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(old);
            assertThat(Files.readAllBytes(directory.resolve("new"))).isEqualTo(pattern(2, old.length));
        }
    }

    /** Every answer is consistent in itself: so many bytes as its count says, of the file's, and no failure. */
    @Test
    void aFileThatIsCutAndGrowsWhileItIsReadGivesShortReads() throws Exception {
        int size = 300_000;
        Path path = directory.resolve("file");
        Files.write(path, pattern(1, size));
        AtomicBoolean stop = new AtomicBoolean();
        Thread changer = Thread.ofPlatform().start(() -> {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                byte[] all = pattern(1, size);
                while (!stop.get()) {
                    channel.truncate(1000);
                    channel.write(ByteBuffer.wrap(all), 0);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        try (ServerFixture fixture = new ServerFixture(directory);
                Arena arena = Arena.ofShared()) {
            Caller caller = fixture.caller();
            FileHandle file = find(caller, "file");
            MemorySegment target = arena.allocate(size);
            MemorySegment whole = MemorySegment.ofArray(pattern(1, size));
            for (int i = 0; i < 200; i++) {
                Read.Ok read = readOk(caller, file, 0, target);
                assertThat(read.count()).isBetween(1000, size);
                // What is cut off while it is read may be read as zeros; what never changes may not.
                for (int at = 0; at < read.count(); at++) {
                    byte is = target.get(ValueLayout.JAVA_BYTE, at);
                    if (is != whole.get(ValueLayout.JAVA_BYTE, at) && (is != 0 || at < 1000)) {
                        throw new AssertionError("round " + i + ": byte " + at + " of " + read.count() + " is " + is);
                    }
                }
                Read.Ok tail = readOk(caller, file, 200_000, target);
                assertThat(tail.count() > 0 || tail.endOfFile())
                        .as("%d bytes, end %s", tail.count(), tail.endOfFile())
                        .isTrue();
            }
        } finally {
            stop.set(true);
            changer.join();
        }
    }
}
