// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;
import org.rpcrdma4j.testkit.Waits;

class OpenFileTest {

    @TempDir
    Path root;

    private Export export;
    private Caller caller;

    @BeforeEach
    void open() throws IOException {
        open(ExportOptions.DEFAULT);
    }

    private void open(ExportOptions options) throws IOException {
        export = Export.open(root, options);
        caller = new Caller(export, Identity.ROOT);
    }

    @AfterEach
    void close() {
        export.close();
    }

    @Test
    void callsThatFollowEachOtherShareAChannel() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        FileChannel first;
        try (OpenFile open = export.open(Identity.ROOT, file, OpenMode.READ)) {
            first = open.channel();
        }
        try (OpenFile open = export.open(Identity.ROOT, file, OpenMode.READ);
                OpenFile writing = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
            assertThat(open.channel()).isSameAs(first);
            assertThat(writing.channel()).isNotSameAs(first);
        }
    }

    @Test
    void aRenamedFileStaysOpenAndARemovedOneIsClosedAfterItsLastUser() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        caller.write(file, "text", 0);
        caller.rename(caller.root(), "f", caller.root(), "g");
        assertThat(caller.read(file)).isEqualTo("text");
        FileChannel channel;
        try (OpenFile open = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
            channel = open.channel();
            caller.remove(caller.root(), "g");
            assertThat(channel.isOpen()).isTrue();
            assertThat(open.change().after()).isNotNull();
        }
        assertThat(channel.isOpen()).isFalse();
        assertThat(caller.statusOfOpening(file, OpenMode.READ)).isEqualTo(Status.STALE);
    }

    @Test
    void aFileThatAnotherProcessRemovedIsStaleAlthoughItWasOpen() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        caller.write(file, "text", 0);
        Files.delete(root.resolve("f"));
        assertThat(Caller.patiently(() -> caller.getAttr(file)).status()).isEqualTo(Status.STALE);
        assertThat(caller.statusOfOpening(file, OpenMode.WRITE)).isEqualTo(Status.STALE);
    }

    @Test
    void aFileThatAnotherProcessMovedOutIsNotServedAlthoughItWasOpen(@TempDir Path outside) throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        caller.write(file, "text", 0);
        Files.move(root.resolve("f"), outside.resolve("f"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(caller.statusOfOpening(file, OpenMode.WRITE)).isIn(Status.JUKEBOX, Status.STALE);
        assertThat(caller.statusOfOpening(file, OpenMode.READ)).isIn(Status.JUKEBOX, Status.STALE);
    }

    @Test
    void noMoreFilesAreKeptOpenThanAllowed() throws IOException {
        export.close();
        open(ExportOptions.DEFAULT.withMaxOpenFiles(4));
        List<FileChannel> channels = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            FileHandle file = caller.file(caller.root(), "f" + i);
            try (OpenFile open = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
                channels.add(open.channel());
            }
        }
        assertThat(channels.stream().filter(FileChannel::isOpen).count()).isEqualTo(4);
        assertThat(channels.getLast().isOpen()).isTrue();
        export.close();
        assertThat(channels).noneMatch(FileChannel::isOpen);
    }

    @Test
    void whatNobodyUsesForAWhileIsClosed() throws IOException {
        export.close();
        open(ExportOptions.DEFAULT.withIdleFileTime(Duration.ofMillis(10)));
        FileHandle file = caller.file(caller.root(), "f");
        FileChannel channel;
        try (OpenFile open = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
            channel = open.channel();
        }
        Waits.until(() -> !channel.isOpen(), () -> "still open");
        assertThat(caller.write(file, "text", 0)).isEqualTo(Status.OK);
    }

    @Test
    void aWriteTellsTheAttributesBeforeAndAfter() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        WeakCacheData.Before before = WeakCacheData.Before.of(caller.attributes(file));
        try (OpenFile open = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
            open.channel().write(ByteBuffer.allocate(10), 0);
            assertThat(open.change()).isEqualTo(new WeakCacheData(before, caller.attributes(file)));
        }
    }

    @Test
    void aWriteThatWasNotAloneDoesNotTellTheAttributesBefore() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        try (OpenFile one = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
            try (OpenFile two = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
                assertThat(two.change().before()).isNull();
            }
            assertThat(one.change().before()).isNull();
            assertThat(one.change().after()).isNotNull();
        }
        try (OpenFile one = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
            caller.setAttr(file, SetAttributes.NONE.withSize(3));
            assertThat(one.change().before()).isNull();
        }
    }

    @Test
    void anInterruptedThreadSpoilsAChannelOnlyUntilTheNextCall() throws Exception {
        FileHandle file = caller.file(caller.root(), "f");
        try (OpenFile open = export.open(Identity.ROOT, file, OpenMode.WRITE)) {
            open.channel().close();
        }
        assertThat(caller.write(file, "text", 0)).isEqualTo(Status.OK);
    }

    @Test
    void directoriesAndLinksAreNotOpened() throws IOException {
        Files.createSymbolicLink(root.resolve("l"), Path.of("f"));
        assertThat(caller.statusOfOpening(caller.root(), OpenMode.READ)).isEqualTo(Status.ISDIR);
        assertThat(caller.statusOfOpening(caller.at("l"), OpenMode.READ)).isEqualTo(Status.INVAL);
    }
}
