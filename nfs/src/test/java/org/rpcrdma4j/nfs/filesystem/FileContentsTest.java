// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What programs do with the contents of files, in the local file system and in a mounted one: both are to answer alike. */
@ParameterizedClass
@EnumSource(TestedFileSystem.class)
class FileContentsTest {

    @Parameter
    TestedFileSystem tested = TestedFileSystem.LOCAL;

    @TempDir
    Path directory = Path.of("");

    private TestedFileSystem.Opened opened;
    private Path root = Path.of("");

    @BeforeEach
    void open() throws IOException {
        opened = tested.open(directory);
        root = opened.root();
    }

    @AfterEach
    void close() throws IOException {
        opened.close();
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(root.resolve(name), text);
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file);
    }

    @Test
    void whatIsWrittenIsReadBack() throws IOException {
        Path file = file("a", "one\ntwo\n");
        assertThat(text(file)).isEqualTo("one\ntwo\n");
        assertThat(Files.readAllLines(file)).containsExactly("one", "two");
        assertThat(Files.size(file)).isEqualTo(8);
        Files.writeString(file, "three\n", APPEND);
        assertThat(text(file)).isEqualTo("one\ntwo\nthree\n");
        Files.writeString(file, "x");
        assertThat(text(file)).isEqualTo("x");
        Files.writeString(file, "yz", WRITE);
        assertThat(Files.readString(directory.resolve("a"))).isEqualTo("yz");
        Files.write(root.resolve("empty"), new byte[0]);
        assertThat(Files.readAllBytes(root.resolve("empty"))).isEmpty();
    }

    @Test
    void streamsReadAndWrite() throws IOException {
        Path file = root.resolve("stream");
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int i = 0; i < 1000; i++) {
                out.write(("line " + i + "\n").getBytes(UTF_8));
            }
        }
        try (InputStream in = Files.newInputStream(file)) {
            assertThat(in.skip(5)).isEqualTo(5);
            assertThat(in.read()).isEqualTo('0');
            assertThat(in.readAllBytes()).hasSize(8890 - 6);
            assertThat(in.read()).isEqualTo(-1);
        }
        assertThatThrownBy(() -> Files.newInputStream(file, WRITE)).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void optionsOfOpeningAreKept() throws IOException {
        Path file = root.resolve("f");
        assertThatThrownBy(() -> Files.newByteChannel(file))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("f");
        assertThatThrownBy(() -> Files.newByteChannel(file, WRITE)).isInstanceOf(NoSuchFileException.class);
        Files.newByteChannel(file, WRITE, CREATE_NEW).close();
        assertThatThrownBy(() -> Files.newByteChannel(file, WRITE, CREATE_NEW))
                .isInstanceOf(FileAlreadyExistsException.class);
        file("f", "0123456789");
        Files.newByteChannel(file, WRITE, CREATE).close();
        Files.newByteChannel(file, READ, TRUNCATE_EXISTING).close();
        assertThat(text(file)).isEqualTo("0123456789");
        try (SeekableByteChannel channel = Files.newByteChannel(file, WRITE)) {
            assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1)))
                    .isInstanceOf(NonReadableChannelException.class);
        }
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1)))
                    .isInstanceOf(NonWritableChannelException.class);
            assertThatThrownBy(() -> channel.truncate(1)).isInstanceOf(NonWritableChannelException.class);
        }
        assertThatThrownBy(() -> Files.newByteChannel(file, APPEND, TRUNCATE_EXISTING))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Files.newByteChannel(file, APPEND, READ)).isInstanceOf(IllegalArgumentException.class);
        Files.newByteChannel(file, WRITE, TRUNCATE_EXISTING).close();
        assertThat(Files.size(file)).isZero();
        SeekableByteChannel closed = Files.newByteChannel(file, WRITE, DELETE_ON_CLOSE);
        closed.close();
        assertThat(Files.exists(file)).isFalse();
        assertThat(closed.isOpen()).isFalse();
        assertThatThrownBy(closed::size).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aChannelReadsAndWritesAnywhere() throws IOException {
        try (SeekableByteChannel channel = Files.newByteChannel(root.resolve("f"), READ, WRITE, CREATE)) {
            assertThat(channel.write(ByteBuffer.wrap("hello world".getBytes(UTF_8))))
                    .isEqualTo(11);
            assertThat(channel.position()).isEqualTo(11);
            assertThat(channel.size()).isEqualTo(11);
            channel.position(6).write(ByteBuffer.wrap("W".getBytes(UTF_8)));
            assertThat(read(channel.position(0), 100)).isEqualTo("hello World");
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            channel.position(15).write(ByteBuffer.wrap("!".getBytes(UTF_8)));
            assertThat(read(channel.position(9), 100)).isEqualTo("ld\0\0\0\0!");
            assertThat(channel.truncate(5).size()).isEqualTo(5);
            assertThat(channel.position()).isEqualTo(5);
            assertThat(channel.truncate(100).size()).isEqualTo(5);
            assertThat(read(channel.position(3), 100)).isEqualTo("lo");
            assertThat(channel.position(1000).read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> channel.position(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(channel.read(ByteBuffer.allocate(0))).isLessThanOrEqualTo(0);
        }
        assertThat(text(root.resolve("f"))).isEqualTo("hello");
    }

    private static String read(SeekableByteChannel channel, int most) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(most);
        channel.read(buffer);
        return UTF_8.decode(buffer.flip()).toString();
    }

    @Test
    void whatIsAppendedGoesToTheEnd() throws IOException {
        Path file = file("log", "a");
        try (SeekableByteChannel channel = Files.newByteChannel(file, APPEND, SYNC)) {
            channel.position(0);
            channel.write(ByteBuffer.wrap("b".getBytes(UTF_8)));
            assertThat(text(file)).isEqualTo("ab");
            channel.write(ByteBuffer.wrap("c".getBytes(UTF_8)));
            assertThat(channel.size()).isEqualTo(3);
        }
        assertThat(text(file)).isEqualTo("abc");
    }

    @Test
    void aReaderSeesWhatIsAddedBehindTheEnd() throws IOException {
        Path file = file("log", "abc");
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            assertThat(read(channel, 10)).isEqualTo("abc");
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            Files.writeString(file, "def", APPEND);
            assertThat(read(channel, 10)).isEqualTo("def");
        }
    }
}
