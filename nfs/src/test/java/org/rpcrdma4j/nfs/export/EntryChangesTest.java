// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.Link;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;

class EntryChangesTest {

    @TempDir
    Path root;

    private Export export;
    private Caller caller;

    @BeforeEach
    void open() throws IOException {
        export = Export.open(root, ExportOptions.DEFAULT);
        caller = new Caller(export, Identity.ROOT);
    }

    @AfterEach
    void close() {
        export.close();
    }

    @Test
    void removeIsForFilesAndRmdirForDirectories() {
        FileHandle d = caller.directory(caller.root(), "d");
        caller.file(d, "f");
        assertThat(caller.remove(caller.root(), "d").status()).isEqualTo(Status.ISDIR);
        assertThat(caller.rmDir(d, "f").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.rmDir(caller.root(), "d").status()).isEqualTo(Status.NOTEMPTY);
        assertThat(caller.remove(d, "none").status()).isEqualTo(Status.NOENT);
        assertThat(caller.rmDir(d, "none").status()).isEqualTo(Status.NOENT);
        assertThat(caller.remove(d, "f").status()).isEqualTo(Status.OK);
        assertThat(caller.rmDir(caller.root(), "d").status()).isEqualTo(Status.OK);
    }

    @Test
    void whatIsNoDirectoryHasNoEntries() {
        FileHandle f = caller.file(caller.root(), "f");
        assertThat(caller.lookup(f, "x").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.create(f, "x").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.remove(f, "x").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.rename(f, "x", caller.root(), "y").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.rename(caller.root(), "f", f, "y").status()).isEqualTo(Status.NOTDIR);
        assertThat(caller.link(f, f, "y").status()).isEqualTo(Status.NOTDIR);
    }

    @Test
    void aRenameReplacesWhatIsCompatible() {
        FileHandle one = caller.file(caller.root(), "one");
        FileHandle two = caller.file(caller.root(), "two");
        assertThat(caller.rename(caller.root(), "one", caller.root(), "two").status())
                .isEqualTo(Status.OK);
        assertThat(caller.at("two")).isEqualTo(one);
        assertThat(caller.getAttr(two).status()).isEqualTo(Status.STALE);
        FileHandle d = caller.directory(caller.root(), "d");
        FileHandle e = caller.directory(caller.root(), "e");
        assertThat(caller.rename(caller.root(), "d", caller.root(), "e").status())
                .isEqualTo(Status.OK);
        assertThat(caller.at("e")).isEqualTo(d);
        assertThat(caller.getAttr(e).status()).isEqualTo(Status.STALE);
    }

    @Test
    void aRenameReplacesNothingElse() {
        FileHandle d = caller.directory(caller.root(), "d");
        FileHandle e = caller.directory(caller.root(), "e");
        caller.file(caller.root(), "f");
        caller.file(e, "inside");
        assertThat(caller.rename(caller.root(), "d", caller.root(), "e").status())
                .isEqualTo(Status.NOTEMPTY);
        assertThat(caller.rename(caller.root(), "f", caller.root(), "d").status())
                .isEqualTo(Status.ISDIR);
        assertThat(caller.rename(caller.root(), "d", caller.root(), "f").status())
                .isEqualTo(Status.NOTDIR);
        assertThat(caller.rename(caller.root(), "none", caller.root(), "f").status())
                .isEqualTo(Status.NOENT);
        assertThat(caller.rename(caller.root(), "d", d, "below").status()).isEqualTo(Status.INVAL);
        FileHandle deeper = caller.directory(d, "deeper");
        assertThat(caller.rename(caller.root(), "d", deeper, "below").status()).isEqualTo(Status.INVAL);
        assertThat(caller.getAttr(deeper).status()).isEqualTo(Status.OK);
    }

    @Test
    void twoNamesOfOneFileAreLeftAlone() {
        FileHandle file = caller.file(caller.root(), "one");
        caller.link(file, caller.root(), "two");
        assertThat(caller.rename(caller.root(), "one", caller.root(), "two").status())
                .isEqualTo(Status.OK);
        assertThat(caller.rename(caller.root(), "one", caller.root(), "one").status())
                .isEqualTo(Status.OK);
        assertThat(caller.attributes(file).links()).isEqualTo(2);
        assertThat(caller.list(caller.root(), 4096)).hasSize(2);
    }

    @Test
    void directoriesAreNotLinkedAndNamesAreNotTakenTwice() {
        FileHandle d = caller.directory(caller.root(), "d");
        FileHandle f = caller.file(caller.root(), "f");
        assertThat(caller.link(d, caller.root(), "again").status()).isEqualTo(Status.ISDIR);
        assertThat(caller.link(f, caller.root(), "d").status()).isEqualTo(Status.EXIST);
        assertThat(caller.link(f, caller.root(), "f").status()).isEqualTo(Status.EXIST);
        Link.Results linked = caller.link(f, d, "f");
        assertThat(linked.status()).isEqualTo(Status.OK);
        assertThat(Objects.requireNonNull(linked.attributes()).links()).isEqualTo(2);
    }

    @Test
    void everyChangeTellsTheAttributesBeforeAndAfter() {
        FileHandle d = caller.directory(caller.root(), "d");
        FileHandle e = caller.directory(caller.root(), "e");
        Attributes before = caller.attributes(d);
        CreateResults made = caller.create(d, "f");
        before = assertChange(((CreateResults.Ok) made).directoryChange(), before, caller.attributes(d));
        FileHandle file = Caller.handleOf(made);
        before =
                assertChange(((CreateResults.Ok) caller.mkDir(d, "g")).directoryChange(), before, caller.attributes(d));
        before = assertChange(
                ((CreateResults.Ok) caller.symLink(d, "l", PathBytes.of("x"))).directoryChange(),
                before,
                caller.attributes(d));
        before = assertChange(caller.link(file, d, "h").directoryChange(), before, caller.attributes(d));
        Attributes other = caller.attributes(e);
        Rename.Results renamed = caller.rename(d, "f", e, "f");
        before = assertChange(renamed.fromChange(), before, caller.attributes(d));
        assertChange(renamed.toChange(), other, caller.attributes(e));
        before = assertChange(caller.rmDir(d, "g").change(), before, caller.attributes(d));
        before = assertChange(caller.remove(d, "h").change(), before, caller.attributes(d));
        ChangeResults failed = caller.remove(d, "none");
        assertChange(failed.change(), before, before);
    }

    private static Attributes assertChange(WeakCacheData change, Attributes before, Attributes after) {
        assertThat(change.before()).isEqualTo(WeakCacheData.Before.of(before));
        assertThat(change.after()).isEqualTo(after);
        return after;
    }
}
