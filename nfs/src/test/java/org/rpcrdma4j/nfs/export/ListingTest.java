// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.ReadDir;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.transport.xdr.XdrWriter;

class ListingTest {

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

    private void fill(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            Files.createFile(root.resolve("file" + i));
        }
    }

    private static int bytesOf(NfsResults results) {
        XdrWriter out = new XdrWriter();
        results.write(out);
        return out.toByteArray().length;
    }

    @Test
    void anEmptyDirectoryHasDots() {
        FileHandle d = caller.directory(caller.root(), "d");
        ReadDir.Ok page = caller.readDir(d, 0, 4096);
        assertThat(page.endOfDirectory()).isTrue();
        assertThat(page.entries()).extracting(entry -> entry.name().toString()).containsExactly(".", "..");
        assertThat(page.entries())
                .extracting(ReadDir.Entry::fileId)
                .containsExactly(
                        caller.attributes(d).fileId(),
                        caller.attributes(caller.root()).fileId());
        assertThat(caller.readDir(d, page.entries().getLast().cookie(), 4096).entries())
                .isEmpty();
    }

    @Test
    void everyPageIsAsLargeAsAllowedAndNoLarger() throws IOException {
        fill(300);
        for (int count : new int[] {300, 512, 1000, 4096}) {
            Set<FileName> names = new HashSet<>();
            long cookie = 0;
            ReadDir.Ok page;
            do {
                page = caller.readDir(caller.root(), cookie, count);
                assertThat(bytesOf(page)).isLessThanOrEqualTo(count);
                if (!page.endOfDirectory()) {
                    assertThat(bytesOf(page)).isGreaterThan(count - 40);
                }
                for (ReadDir.Entry entry : page.entries()) {
                    assertThat(names.add(entry.name())).isTrue();
                    cookie = entry.cookie();
                }
            } while (!page.endOfDirectory());
            assertThat(names).hasSize(302);
        }
    }

    @Test
    void pagesWithAttributesKeepBothBounds() throws IOException {
        fill(100);
        for (long directoryCount : new long[] {100, 1000, 100_000}) {
            for (long maxCount : new long[] {500, 3000, 100_000}) {
                Set<FileName> names = new HashSet<>();
                long cookie = 0;
                ReadDirPlus.Ok page;
                do {
                    page = (ReadDirPlus.Ok) caller.readDirPlus(caller.root(), cookie, directoryCount, maxCount);
                    assertThat(bytesOf(page)).isLessThanOrEqualTo((int) maxCount);
                    assertThat(page.entries().stream()
                                    .mapToInt(ReadDirPlus.Entry::directoryBytes)
                                    .sum())
                            .isLessThanOrEqualTo((int) directoryCount);
                    for (ReadDirPlus.Entry entry : page.entries()) {
                        assertThat(names.add(entry.name())).isTrue();
                        cookie = entry.cookie();
                    }
                } while (!page.endOfDirectory());
                assertThat(names).hasSize(102);
            }
        }
    }

    @Test
    void aPageWithoutRoomForOneEntryIsTooSmall() {
        assertThat(export.readDir(Identity.ROOT, new ReadDir.Arguments(caller.root(), 0, CookieVerifier.NONE, 110))
                        .status())
                .isEqualTo(Status.TOOSMALL);
        assertThat(caller.readDirPlus(caller.root(), 0, 4096, 200).status()).isEqualTo(Status.TOOSMALL);
        assertThat(caller.readDirPlus(caller.root(), 0, 8, 4096).status()).isEqualTo(Status.TOOSMALL);
    }

    @Test
    void aCallCannotAskForMoreThanTheExportGives() throws IOException {
        export.close();
        open(ExportOptions.DEFAULT.withMaxDirectoryBytes(2048));
        fill(100);
        assertThat(bytesOf(caller.readDir(caller.root(), 0, 0xffff_ffffL))).isLessThanOrEqualTo(2048);
        assertThat(bytesOf(caller.readDirPlus(caller.root(), 0, 0xffff_ffffL, 0xffff_ffffL)))
                .isLessThanOrEqualTo(2048);
    }

    @Test
    void handlesAndAttributesOfEntriesAreThoseOfLookup() throws IOException {
        fill(20);
        Files.createSymbolicLink(root.resolve("link"), Path.of("nowhere"));
        Files.createDirectory(root.resolve("directory"));
        for (ReadDirPlus.Entry entry : caller.list(caller.root(), 4096)) {
            FileHandle handle = caller.at(entry.name().toString());
            assertThat(entry.file()).isEqualTo(handle);
            assertThat(entry.attributes()).isEqualTo(caller.attributes(handle));
            assertThat(entry.fileId()).isEqualTo(caller.attributes(handle).fileId());
        }
    }

    @Test
    void everySurvivorComesOnceWhenOthersAreRemovedAndMadeMeanwhile() throws IOException {
        fill(10_000);
        Set<String> survivors = new HashSet<>();
        for (int i = 0; i < 10_000; i += 2) {
            survivors.add("file" + i);
        }
        List<String> seen = new ArrayList<>();
        int next = 1;
        long cookie = 0;
        ReadDir.Ok page;
        do {
            page = caller.readDir(caller.root(), cookie, 8192);
            for (ReadDir.Entry entry : page.entries()) {
                cookie = entry.cookie();
                if (survivors.contains(entry.name().toString())) {
                    seen.add(entry.name().toString());
                }
            }
            for (int i = 0; i < 40 && next < 10_000; i++, next += 2) {
                caller.remove(caller.root(), "file" + next);
            }
            caller.create(caller.root(), "new" + next);
        } while (!page.endOfDirectory());
        assertThat(seen).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(survivors);
    }

    @Test
    void whoRemovesWhatTheyReadGetsToTheEnd() throws IOException {
        fill(1000);
        long cookie = 0;
        ReadDir.Ok page;
        do {
            page = caller.readDir(caller.root(), cookie, 4096);
            for (ReadDir.Entry entry : page.entries()) {
                cookie = entry.cookie();
                if (!entry.name().isDots()) {
                    assertThat(caller.remove(caller.root(), entry.name().toString())
                                    .status())
                            .isEqualTo(Status.OK);
                }
            }
        } while (!page.endOfDirectory());
        assertThat(caller.list(caller.root(), 4096)).isEmpty();
    }

    @Test
    void cookiesWorkAfterARestart() throws IOException {
        fill(500);
        Set<FileName> names = new HashSet<>();
        long cookie = 0;
        ReadDir.Ok page;
        do {
            page = caller.readDir(caller.root(), cookie, 2048);
            for (ReadDir.Entry entry : page.entries()) {
                assertThat(names.add(entry.name())).isTrue();
                cookie = entry.cookie();
            }
            export.close();
            open();
        } while (!page.endOfDirectory());
        assertThat(names).hasSize(502);
    }

    @Test
    void aDirectoryLargerThanTheBoundOfMemoryIsReadInParts() throws IOException {
        export.close();
        open(ExportOptions.DEFAULT.withMaxListedNames(64));
        fill(1000);
        List<ReadDirPlus.Entry> all = caller.list(caller.root(), 2048);
        assertThat(all)
                .extracting(ReadDirPlus.Entry::name)
                .doesNotHaveDuplicates()
                .hasSize(1000);
    }

    @Test
    void whoBeginsAnewSeesWhatWasMadeJustNow() {
        for (int i = 0; i < 200; i++) {
            caller.file(caller.root(), "f" + i);
            assertThat(caller.list(caller.root(), 100_000)).hasSize(i + 1);
        }
    }

    @Test
    void aCookieThatWasNeverGivenOutIsHarmless() throws IOException {
        fill(10);
        assertThat(caller.readDir(caller.root(), Long.MAX_VALUE, 4096).entries())
                .isEmpty();
        assertThat(caller.readDir(caller.root(), 12345, 4096).endOfDirectory()).isTrue();
        assertThat(export.readDir(Identity.ROOT, new ReadDir.Arguments(caller.root(), -1, CookieVerifier.NONE, 4096))
                        .status())
                .isEqualTo(Status.BAD_COOKIE);
    }

    @Test
    void namesOfTheSameHashAreToldApart() throws IOException {
        fill(50);
        Snapshot all = Snapshot.read(root, 0, 1000);
        for (int i = 0; i < all.items().size(); i++) {
            assertThat(all.indexAfter(all.items().get(i).cookie())).isEqualTo(i + 1);
        }
        assertThat(all.items()).extracting(Snapshot.Item::cookie).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void aFileIsNoDirectory() {
        FileHandle file = caller.file(caller.root(), "f");
        assertThat(caller.readDirPlus(file, 0, 4096, 4096).status()).isEqualTo(Status.NOTDIR);
    }
}
