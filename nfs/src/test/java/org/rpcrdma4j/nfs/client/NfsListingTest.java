// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.nfs.protocol.CookieVerifier;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.Procedure;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.Status;

@Timeout(60)
class NfsListingTest {

    private final FakeNfs nfs = new FakeNfs();

    private List<NfsEntry> list() throws IOException {
        List<NfsEntry> entries = new ArrayList<>();
        try (Volumes volumes = new Volumes(nfs);
                NfsListing listing = volumes.volume.list(NfsPath.ROOT)) {
            for (NfsEntry entry = listing.next(); entry != null; entry = listing.next()) {
                entries.add(entry);
            }
        }
        return entries;
    }

    private List<String> fill(int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add("file" + i);
            nfs.addFile(nfs.root, "file" + i, new byte[i]);
        }
        return names;
    }

    private static List<String> names(List<NfsEntry> entries) {
        return entries.stream().map(entry -> entry.name().toString()).toList();
    }

    @Test
    void allEntriesOfAllPagesComeWithTheirAttributes() throws IOException {
        List<String> names = fill(100);
        List<NfsEntry> entries = list();
        assertThat(names(entries)).isEqualTo(names);
        assertThat(entries).allSatisfy(entry -> {
            assertThat(entry.handle()).isNotNull();
            assertThat(entry.attributes()).isNotNull();
        });
        assertThat(nfs.count(Procedure.LOOKUP)).isZero();
    }

    @Test
    void anEmptyDirectoryHasNoEntries() throws IOException {
        assertThat(list()).isEmpty();
    }

    @Test
    void withoutReaddirplusNamesAreLookedUp() throws IOException {
        List<String> names = fill(20);
        nfs.knowsPlus = false;
        List<NfsEntry> entries = list();
        assertThat(names(entries)).isEqualTo(names);
        assertThat(entries).allSatisfy(entry -> assertThat(entry.attributes()).isNotNull());
        assertThat(nfs.count(Procedure.READDIRPLUS)).isEqualTo(1);
        assertThat(nfs.count(Procedure.LOOKUP)).isEqualTo(20);
    }

    @Test
    void whatAServerDoesNotTellIsLookedUp() throws IOException {
        List<String> names = fill(10);
        nfs.tellsAttributes = false;
        assertThat(names(list())).isEqualTo(names);
    }

    @Test
    void anEntryThatIsGoneIsLeftOutAndOneThatIsForbiddenHasNoAttributes() throws IOException {
        fill(3);
        nfs.knowsPlus = false;
        nfs.instead.put(Procedure.LOOKUP, a -> {
            String name = ((Lookup.Arguments) a).name().toString();
            return switch (name) {
                case "file0" -> new Lookup.Failed(Status.NOENT, null);
                case "file1" -> new Lookup.Failed(Status.ACCES, null);
                default -> null;
            };
        });
        List<NfsEntry> entries = list();
        assertThat(names(entries)).containsExactly("file1", "file2");
        assertThat(entries.getFirst().attributes()).isNull();
    }

    private static ReadDirPlus.Ok page(long cookie, String... names) {
        List<ReadDirPlus.Entry> entries = new ArrayList<>();
        for (String name : names) {
            entries.add(new ReadDirPlus.Entry(1, FileName.of(name), cookie, null, null));
        }
        return new ReadDirPlus.Ok(null, CookieVerifier.NONE, entries, false);
    }

    @Test
    void aListingThatGoesRoundInACircleIsAnError() {
        nfs.instead.put(Procedure.READDIRPLUS, a -> page(((ReadDirPlus.Arguments) a).cookie() == 5 ? 6 : 5, ".", "."));
        assertThatThrownBy(this::list)
                .isInstanceOf(CallFailedException.class)
                .hasMessage("cannot list nfs://fake/export: the server's listing goes round in a circle");
    }

    @Test
    void aPageWithoutEntriesThatIsNotTheLastIsAnError() {
        nfs.instead.put(Procedure.READDIRPLUS, a -> page(0));
        assertThatThrownBy(this::list).isInstanceOf(CallFailedException.class);
    }

    @Test
    void aListingWithoutEndIsAnErrorInTheEnd() throws IOException {
        AtomicLong cookies = new AtomicLong();
        nfs.instead.put(Procedure.READDIRPLUS, a -> page(cookies.incrementAndGet(), "."));
        try (Volumes volumes = new Volumes(nfs);
                NfsListing listing = new NfsListing(
                        volumes.volume.client(), volumes.volume.file(NfsPath.ROOT, true), "it", 4096, 100)) {
            assertThatThrownBy(listing::next)
                    .isInstanceOf(CallFailedException.class)
                    .hasMessage("cannot list it: the server's listing has no end");
        }
    }

    @Test
    void whatIsNoNameIsNotHandedOn() {
        for (String name : new String[] {"a/b", "", "a\0"}) {
            nfs.instead.put(Procedure.READDIRPLUS, a -> page(1, name));
            assertThatThrownBy(this::list).as(name).isInstanceOf(CallFailedException.class);
        }
    }

    @Test
    void aFileHasNoListing() throws IOException {
        fill(1);
        try (Volumes volumes = new Volumes(nfs)) {
            assertThatThrownBy(() -> volumes.volume.list(NfsPath.parse("file0")))
                    .hasMessage("cannot list nfs://fake/export/file0: not a directory");
        }
    }
}
