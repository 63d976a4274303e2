// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.ReadDirPlus;
import org.rpcrdma4j.nfs.protocol.ReadLink;
import org.rpcrdma4j.nfs.protocol.Remove;
import org.rpcrdma4j.nfs.protocol.Rename;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.Status;

/** Names are bytes. */
class OddNamesTest {

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

    private static List<FileName> oddNames() {
        List<FileName> names = new ArrayList<>(List.of(
                FileName.of(" "),
                FileName.of("line\nbreak"),
                FileName.of("100%41%"),
                FileName.of("a?b#c&d;e:f\\g"),
                FileName.of("tab\tand\u007f"),
                FileName.of("gr\u00fc\u00dfe \ud83d\ude00"),
                FileName.of("u\u0308 is not \u00fc"),
                FileName.of("\ufffd"),
                FileName.of("..."),
                FileName.of("-rf"),
                FileName.of("~"),
                FileName.of("x".repeat(255)),
                FileName.of("\u00fc".repeat(127) + "x")));
        names.add(FileName.of(new byte[] {(byte) 0xff, (byte) 0xfe, 'x'}));
        names.add(FileName.of(new byte[] {(byte) 0xc3}));
        names.add(FileName.of("caf\u00e9".getBytes(StandardCharsets.ISO_8859_1)));
        Random random = new Random(4711);
        for (int i = 0; i < 40; i++) {
            byte[] bytes = new byte[1 + random.nextInt(255)];
            for (int j = 0; j < bytes.length; j++) {
                byte b = (byte) random.nextInt();
                bytes[j] = b == 0 || b == '/' ? (byte) 1 : b;
            }
            names.add(FileName.of(bytes));
        }
        return names;
    }

    @Test
    void everyNameThatLinuxTakesGoesBothWays() {
        List<FileName> names = oddNames();
        SetAttributes attributes = SetAttributes.NONE.withMode(0600);
        for (FileName name : names) {
            assertThat(caller.create(caller.root(), name, new Create.Guarded(attributes))
                            .status())
                    .as(name.toString())
                    .isEqualTo(Status.OK);
        }
        assertThat(caller.list(caller.root(), 4096))
                .extracting(ReadDirPlus.Entry::name)
                .containsExactlyInAnyOrderElementsOf(names);
        for (FileName name : names) {
            FileName other = FileName.of(reversed(name.bytes()));
            Rename.Results renamed =
                    export.rename(Identity.ROOT, new Rename.Arguments(caller.root(), name, caller.root(), other));
            assertThat(renamed.status()).as(name.toString()).isEqualTo(Status.OK);
            assertThat(caller.lookup(caller.root(), other)).isInstanceOf(Lookup.Ok.class);
            assertThat(export.remove(Identity.ROOT, new Remove.Arguments(caller.root(), other))
                            .status())
                    .isEqualTo(Status.OK);
        }
        assertThat(caller.list(caller.root(), 4096)).isEmpty();
    }

    /** The first byte stays: reversed, some would be in the way of others. */
    private static byte[] reversed(byte[] bytes) {
        byte[] reversed = bytes.clone();
        for (int i = 1; i < bytes.length; i++) {
            reversed[i] = bytes[bytes.length - i];
        }
        return reversed;
    }

    @Test
    void handlesOfOddNamesAreFoundByTheScan() throws IOException {
        List<FileHandle> handles = new ArrayList<>();
        for (FileName name : oddNames()) {
            CreateResults made = caller.create(caller.root(), name, new Create.Guarded(SetAttributes.NONE));
            handles.add(Caller.handleOf(made));
        }
        export.close();
        open();
        assertThat(handles)
                .allSatisfy(handle -> assertThat(
                                Caller.patiently(() -> caller.getAttr(handle)).status())
                        .isEqualTo(Status.OK));
    }

    @Test
    void aNameThatIsTooLongOrNoneIsRefusedAsTheRfcSays() {
        SetAttributes attributes = SetAttributes.NONE;
        for (FileName name : List.of(FileName.of("x".repeat(256)), FileName.of("x".repeat(60_000)))) {
            assertThat(caller.create(caller.root(), name, new Create.Unchecked(attributes))
                            .status())
                    .isEqualTo(Status.NAMETOOLONG);
            assertThat(caller.lookup(caller.root(), name).status()).isEqualTo(Status.NAMETOOLONG);
        }
        assertThat(caller.create(caller.root(), "").status()).isEqualTo(Status.INVAL);
        assertThat(caller.lookup(caller.root(), "").status()).isEqualTo(Status.INVAL);
    }

    @Test
    void dotsAreThereAlreadyAndCannotBeTakenAway() {
        FileHandle d = caller.directory(caller.root(), "d");
        for (String dots : new String[] {".", ".."}) {
            assertThat(caller.create(d, dots).status()).isEqualTo(Status.EXIST);
            assertThat(caller.mkDir(d, dots).status()).isEqualTo(Status.EXIST);
            assertThat(caller.symLink(d, dots, PathBytes.of("x")).status()).isEqualTo(Status.EXIST);
            assertThat(caller.link(caller.root(), d, dots).status()).isEqualTo(Status.ISDIR);
            assertThat(caller.remove(d, dots).status()).isEqualTo(Status.ISDIR);
            assertThat(caller.rename(caller.root(), "d", d, dots).status()).isEqualTo(Status.INVAL);
            assertThat(caller.rename(d, dots, caller.root(), "x").status()).isEqualTo(Status.INVAL);
        }
        assertThat(caller.rmDir(d, ".").status()).isEqualTo(Status.INVAL);
        assertThat(caller.rmDir(d, "..").status()).isEqualTo(Status.NOTEMPTY);
    }

    @Test
    void aLinkSaysWhatWasSaid() {
        List<PathBytes> targets = List.of(
                PathBytes.of("a"),
                PathBytes.of("/"),
                PathBytes.of("/a/b"),
                PathBytes.of("../../x/./y"),
                PathBytes.of("."),
                PathBytes.of("100%/new\nline"),
                PathBytes.of("\u00fc/../\u00fc"),
                PathBytes.of("/\u00fc/" + "x".repeat(300)),
                PathBytes.of("x/".repeat(2000) + "x"),
                PathBytes.of(new byte[] {'/', (byte) 0xff, '/', '.', '.', '/', (byte) 0x80}),
                PathBytes.of(new byte[] {(byte) 0xff}));
        for (int i = 0; i < targets.size(); i++) {
            PathBytes target = targets.get(i);
            FileHandle link = Caller.handleOf(caller.symLink(caller.root(), "l" + i, target));
            ReadLink.Results read = caller.readLink(link);
            assertThat(read).as(target.toString()).isInstanceOf(ReadLink.Ok.class);
            assertThat(((ReadLink.Ok) read).target()).isEqualTo(target);
        }
    }

    @Test
    void slashesThatMeanNothingAreLostFromALink() {
        FileHandle link = Caller.handleOf(caller.symLink(caller.root(), "l", PathBytes.of("//a///b/")));
        assertThat(((ReadLink.Ok) caller.readLink(link)).target()).isEqualTo(PathBytes.of("/a/b"));
    }

    @Test
    void aLinkThatSaysNothingOrTooMuchIsRefused() {
        assertThat(caller.symLink(caller.root(), "l", PathBytes.of("")).status())
                .isEqualTo(Status.INVAL);
        assertThat(caller.symLink(caller.root(), "l", PathBytes.of("a\0b")).status())
                .isEqualTo(Status.INVAL);
        assertThat(caller.symLink(caller.root(), "l", PathBytes.of("x/".repeat(2048)))
                        .status())
                .isEqualTo(Status.NAMETOOLONG);
        assertThat(caller.readLink(caller.file(caller.root(), "f")).status()).isEqualTo(Status.INVAL);
    }
}
