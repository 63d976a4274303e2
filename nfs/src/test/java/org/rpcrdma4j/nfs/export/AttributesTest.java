// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.ChangeResults;
import org.rpcrdma4j.nfs.protocol.Create;
import org.rpcrdma4j.nfs.protocol.CreateResults;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.FsInfo;
import org.rpcrdma4j.nfs.protocol.FsStat;
import org.rpcrdma4j.nfs.protocol.MkDir;
import org.rpcrdma4j.nfs.protocol.MkNod;
import org.rpcrdma4j.nfs.protocol.PathConf;
import org.rpcrdma4j.nfs.protocol.SetAttr;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.nfs.protocol.Time;
import org.rpcrdma4j.nfs.protocol.WeakCacheData;

/** GETATTR, SETATTR, CREATE and what tells of the file system. */
class AttributesTest {

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
    void attributesAreThoseOfTheFile() throws IOException {
        Path path = Files.writeString(root.resolve("f"), "hello");
        Files.setAttribute(path, "unix:mode", 04751);
        Attributes attributes = caller.attributes(caller.at("f"));
        FileStatus status = FileStatus.read(path);
        assertThat(attributes.type()).isEqualTo(FileType.REGULAR);
        assertThat(attributes.mode()).isEqualTo(04751);
        assertThat(attributes.size()).isEqualTo(5);
        assertThat(attributes.used()).isEqualTo(4096);
        assertThat(attributes.links()).isEqualTo(1);
        assertThat(attributes.fileId()).isEqualTo(status.inode());
        assertThat(attributes.uid()).isEqualTo(status.uid());
        assertThat(attributes.modifyTime())
                .isEqualTo(Time.of(status.modifyTime().toInstant()));
        assertThat(attributes.fileSystem())
                .isEqualTo(caller.attributes(caller.root()).fileSystem());
        assertThat(caller.attributes(caller.root()).type()).isEqualTo(FileType.DIRECTORY);
    }

    @Test
    void aSizeIsSetByCuttingAndByExtendingWithZeros() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        caller.write(file, "hello", 0);
        assertThat(caller.setAttr(file, SetAttributes.NONE.withSize(2)).status())
                .isEqualTo(Status.OK);
        assertThat(caller.setAttr(file, SetAttributes.NONE.withSize(4)).status())
                .isEqualTo(Status.OK);
        assertThat(caller.read(file)).isEqualTo("he\0\0");
        assertThat(caller.setAttr(file, SetAttributes.NONE.withSize(1L << 33)).status())
                .isEqualTo(Status.OK);
        assertThat(caller.attributes(file).size()).isEqualTo(1L << 33);
        assertThat(caller.setAttr(file, SetAttributes.NONE.withSize(-1)).status())
                .isEqualTo(Status.FBIG);
        assertThat(caller.setAttr(file, SetAttributes.NONE.withSize(Long.MAX_VALUE))
                        .status())
                .isIn(Status.FBIG, Status.INVAL);
        assertThat(caller.setAttr(caller.root(), SetAttributes.NONE.withSize(0)).status())
                .isEqualTo(Status.ISDIR);
    }

    @Test
    void settingTheSizeThatAFileHasMakesItModifiedNow() {
        FileHandle file = caller.file(caller.root(), "f");
        SetTime old = new SetTime.To(new Time(1000, 0));
        caller.setAttr(file, SetAttributes.NONE.withTimes(old, old));
        caller.setAttr(file, SetAttributes.NONE.withSize(0));
        assertThat(caller.attributes(file).modifyTime().seconds()).isNotEqualTo(1000);
    }

    @Test
    void timesAreSetToTheNanosecondAndToTheServersTime() {
        FileHandle file = caller.file(caller.root(), "f");
        Time access = new Time(1_000_000_000, 123_456_789);
        Time modify = new Time((int) 4_000_000_000L, 1);
        assertThat(caller.setAttr(file, SetAttributes.NONE.withTimes(new SetTime.To(access), new SetTime.To(modify)))
                        .status())
                .isEqualTo(Status.OK);
        assertThat(caller.attributes(file).accessTime()).isEqualTo(access);
        assertThat(caller.attributes(file).modifyTime()).isEqualTo(modify);
        caller.setAttr(file, SetAttributes.NONE.withTimes(SetTime.Keep.INSTANCE, SetTime.Server.INSTANCE));
        assertThat(caller.attributes(file).accessTime()).isEqualTo(access);
        assertThat(caller.attributes(file).modifyTime().toInstant())
                .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(1));
        SetTime bad = new SetTime.To(new Time(0, 1_000_000_000));
        assertThat(caller.setAttr(file, SetAttributes.NONE.withTimes(bad, SetTime.Keep.INSTANCE))
                        .status())
                .isEqualTo(Status.INVAL);
    }

    @Test
    void aGuardThatDoesNotMatchKeepsEverythingAsItWas() {
        FileHandle file = caller.file(caller.root(), "f");
        Attributes before = caller.attributes(file);
        SetAttributes mode = SetAttributes.NONE.withMode(0400);
        ChangeResults refused = export.setAttr(Identity.ROOT, new SetAttr.Arguments(file, mode, new Time(1, 1)));
        assertThat(refused.status()).isEqualTo(Status.NOT_SYNC);
        assertThat(refused.change()).isEqualTo(WeakCacheData.of(before, before));
        ChangeResults done = export.setAttr(Identity.ROOT, new SetAttr.Arguments(file, mode, before.changeTime()));
        assertThat(done.status()).isEqualTo(Status.OK);
        assertThat(done.change()).isEqualTo(WeakCacheData.of(before, caller.attributes(file)));
    }

    @Test
    void modesOfFilesAndDirectoriesAreSetWhole() {
        FileHandle file = caller.file(caller.root(), "f");
        FileHandle directory = caller.directory(caller.root(), "d");
        for (int mode : new int[] {0, 0111, 0222, 0444, 0644, 01777, 06755}) {
            assertThat(caller.setAttr(file, SetAttributes.NONE.withMode(mode)).status())
                    .isEqualTo(Status.OK);
            assertThat(caller.attributes(file).mode()).isEqualTo(mode);
            assertThat(caller.setAttr(directory, SetAttributes.NONE.withMode(mode | 0700))
                            .status())
                    .isEqualTo(Status.OK);
            assertThat(caller.attributes(directory).mode()).isEqualTo(mode | 0700);
        }
        assertThat(caller.setAttr(caller.root(), SetAttributes.NONE.withMode(0711))
                        .status())
                .isEqualTo(Status.OK);
    }

    @Test
    void theMaskOfTheServerIsNotApplied() {
        CreateResults file =
                caller.create(caller.root(), FileName.of("f"), new Create.Guarded(SetAttributes.NONE.withMode(0666)));
        assertThat(caller.attributes(Caller.handleOf(file)).mode()).isEqualTo(0666);
        CreateResults directory = export.mkDir(
                Identity.ROOT, new MkDir.Arguments(caller.root(), FileName.of("d"), SetAttributes.NONE.withMode(0777)));
        assertThat(caller.attributes(Caller.handleOf(directory)).mode()).isEqualTo(0777);
    }

    @Test
    void uncheckedCreationTakesWhatIsThereAndOnlyItsSizeIsSet() throws IOException {
        FileHandle file = caller.file(caller.root(), "f");
        caller.write(file, "hello", 0);
        SetAttributes attributes = SetAttributes.NONE.withMode(0700);
        CreateResults again = caller.create(caller.root(), FileName.of("f"), new Create.Unchecked(attributes));
        assertThat(Caller.handleOf(again)).isEqualTo(file);
        assertThat(caller.attributes(file).mode()).isEqualTo(0644);
        assertThat(caller.read(file)).isEqualTo("hello");
        caller.create(caller.root(), FileName.of("f"), new Create.Unchecked(attributes.withSize(0)));
        assertThat(caller.attributes(file).size()).isZero();
        caller.directory(caller.root(), "d");
        assertThat(caller.create(caller.root(), FileName.of("d"), new Create.Unchecked(attributes))
                        .status())
                .isEqualTo(Status.EXIST);
    }

    @Test
    void guardedCreationDoesNot() {
        caller.file(caller.root(), "f");
        caller.directory(caller.root(), "d");
        assertThat(caller.create(caller.root(), "f").status()).isEqualTo(Status.EXIST);
        assertThat(caller.mkDir(caller.root(), "f").status()).isEqualTo(Status.EXIST);
        assertThat(caller.mkDir(caller.root(), "d").status()).isEqualTo(Status.EXIST);
    }

    @Test
    void exclusiveCreationThatComesAgainFindsItsOwnFileEvenAfterARestart() throws IOException {
        Create.How how = new Create.Exclusive(0xfedc_ba98_7654_3210L);
        FileHandle file = Caller.handleOf(caller.create(caller.root(), FileName.of("f"), how));
        export.close();
        open();
        assertThat(Caller.handleOf(caller.create(caller.root(), FileName.of("f"), how)))
                .isEqualTo(file);
        assertThat(caller.create(caller.root(), FileName.of("f"), new Create.Exclusive(1))
                        .status())
                .isEqualTo(Status.EXIST);
        caller.write(file, "used", 0);
        assertThat(caller.create(caller.root(), FileName.of("f"), how).status()).isEqualTo(Status.EXIST);
    }

    @Test
    void aFileThatCannotGetItsAttributesIsNotLeftBehind() {
        SetAttributes bad = SetAttributes.NONE.withTimes(new SetTime.To(new Time(0, -1)), SetTime.Keep.INSTANCE);
        assertThat(caller.create(caller.root(), FileName.of("f"), new Create.Guarded(bad))
                        .status())
                .isEqualTo(Status.INVAL);
        assertThat(caller.create(caller.root(), FileName.of("f"), new Create.Guarded(SetAttributes.NONE.withSize(-1)))
                        .status())
                .isEqualTo(Status.FBIG);
        assertThat(caller.list(caller.root(), 4096)).isEmpty();
    }

    @Test
    void pipesAndDevicesAreNotMade() {
        MkNod.What pipe = new MkNod.Pipe(FileType.FIFO, SetAttributes.NONE);
        assertThat(export.mkNod(Identity.ROOT, new MkNod.Arguments(caller.root(), FileName.of("p"), pipe))
                        .status())
                .isEqualTo(Status.NOTSUPP);
        MkNod.What file = new MkNod.Other(FileType.REGULAR);
        assertThat(export.mkNod(Identity.ROOT, new MkNod.Arguments(caller.root(), FileName.of("p"), file))
                        .status())
                .isEqualTo(Status.BADTYPE);
    }

    @Test
    void aPipeThatIsThereHoldsNobodyUp() throws Exception {
        Process made = new ProcessBuilder("mkfifo", root.resolve("p").toString()).start();
        assertThat(made.waitFor()).isZero();
        FileHandle pipe = caller.at("p");
        assertThat(caller.attributes(pipe).type()).isEqualTo(FileType.FIFO);
        assertThat(caller.statusOfOpening(pipe, OpenMode.READ)).isEqualTo(Status.INVAL);
        assertThat(caller.statusOfOpening(pipe, OpenMode.WRITE)).isEqualTo(Status.INVAL);
        assertThat(caller.setAttr(pipe, SetAttributes.NONE.withMode(0600)).status())
                .isEqualTo(Status.INVAL);
        assertThat(caller.setAttr(pipe, SetAttributes.NONE.withSize(0)).status())
                .isEqualTo(Status.INVAL);
        assertThat(caller.remove(caller.root(), "p").status()).isEqualTo(Status.OK);
    }

    @Test
    void theFileSystemTellsOfItself() {
        FsStat.Ok space = (FsStat.Ok) export.fsStat(Identity.ROOT, new FsStat.Arguments(caller.root()));
        assertThat(space.totalBytes()).isGreaterThanOrEqualTo(space.freeBytes()).isPositive();
        assertThat(space.freeFiles()).isPositive();
        FsInfo.Ok info = (FsInfo.Ok) export.fsInfo(Identity.ROOT, new FsInfo.Arguments(caller.root()));
        assertThat(info.readMax()).isEqualTo(1 << 20);
        assertThat(info.writeMax()).isEqualTo(1 << 20);
        assertThat(info.properties())
                .isEqualTo(FsInfo.LINK | FsInfo.SYMLINK | FsInfo.HOMOGENEOUS | FsInfo.CAN_SET_TIME);
        PathConf.Ok path = (PathConf.Ok) export.pathConf(Identity.ROOT, new PathConf.Arguments(caller.root()));
        assertThat(path.maxNameBytes()).isEqualTo(255);
        assertThat(path.noTruncation()).isTrue();
        assertThat(path.caseInsensitive()).isFalse();
    }

    @Test
    void onlyADirectoryIsExported() throws IOException {
        Path file = Files.createFile(root.resolve("f"));
        assertThatThrownBy(() -> Export.open(file, ExportOptions.DEFAULT)).isInstanceOf(NotDirectoryException.class);
        assertThatThrownBy(() -> Export.open(root.resolve("none"), ExportOptions.DEFAULT))
                .isInstanceOf(IOException.class);
    }
}
