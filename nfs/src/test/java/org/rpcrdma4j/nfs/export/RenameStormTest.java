// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.Lookup;
import org.rpcrdma4j.nfs.protocol.Status;

/** Many clients at once. */
class RenameStormTest {

    private static final int THREADS = 4;
    private static final int ROUNDS = 250;

    @TempDir
    Path root;

    private Export export;
    private Caller caller;

    @BeforeEach
    void open() throws IOException {
        // Few directories are kept open, so that they are walked to often.
        export = Export.open(
                root, ExportOptions.DEFAULT.withMaxOpenDirectories(4).withMaxOpenFiles(2));
        caller = new Caller(export, Identity.ROOT);
    }

    @AfterEach
    void close() {
        export.close();
    }

    private static void runAll(List<Callable<Void>> tasks) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(tasks.size())) {
            List<Future<Void>> all = new ArrayList<>();
            for (Callable<Void> task : tasks) {
                all.add(threads.submit(task));
            }
            for (Future<Void> one : all) {
                one.get(Caller.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void handlesWorkAllTheTimeWhileFilesAndDirectoriesAreRenamed() throws Exception {
        List<FileHandle> directories = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            directories.add(caller.directory(caller.root(), "d" + i));
        }
        List<Callable<Void>> tasks = new ArrayList<>();
        tasks.add(() -> {
            renameDirectories();
            return null;
        });
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            tasks.add(() -> {
                renameFile(directories, thread);
                return null;
            });
        }
        runAll(tasks);
        assertThat(caller.list(caller.root(), 4096)).hasSize(6);
    }

    /** Each directory is renamed to and fro, all of them in the root. */
    private void renameDirectories() {
        for (int round = 0; round < ROUNDS; round++) {
            String name = "d" + round % 6;
            assertThat(caller.rename(caller.root(), name, caller.root(), "away").status())
                    .isEqualTo(Status.OK);
            assertThat(caller.rename(caller.root(), "away", caller.root(), name).status())
                    .isEqualTo(Status.OK);
        }
    }

    private void renameFile(List<FileHandle> directories, int thread) throws IOException {
        Random random = new Random(thread);
        String name = "f" + thread;
        FileHandle at = directories.get(thread);
        FileHandle file = caller.file(at, name);
        assertThat(caller.write(file, name, 0)).isEqualTo(Status.OK);
        for (int round = 0; round < ROUNDS; round++) {
            FileHandle to = directories.get(random.nextInt(directories.size()));
            FileHandle from = at;
            assertThat(Caller.patiently(() -> caller.rename(from, name, to, name))
                            .status())
                    .isEqualTo(Status.OK);
            at = to;
            assertThat(Caller.patiently(() -> caller.getAttr(file)).status()).isEqualTo(Status.OK);
            Lookup.Results found = Caller.patiently(() -> caller.lookup(to, name));
            assertThat(found).isInstanceOf(Lookup.Ok.class);
            assertThat(((Lookup.Ok) found).file()).isEqualTo(file);
            if (round % 10 == 0) {
                assertThat(caller.read(file)).isEqualTo(name);
            }
        }
    }

    @Test
    void renamesInOppositeDirectionsDoNotWaitForEachOther() throws Exception {
        FileHandle a = caller.directory(caller.root(), "a");
        FileHandle b = caller.directory(caller.root(), "b");
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            String name = "f" + i;
            FileHandle from = i % 2 == 0 ? a : b;
            FileHandle to = i % 2 == 0 ? b : a;
            FileHandle file = caller.file(from, name);
            tasks.add(() -> {
                for (int round = 0; round < ROUNDS; round++) {
                    assertThat(caller.rename(from, name, to, name).status()).isEqualTo(Status.OK);
                    assertThat(caller.link(file, from, name).status()).isEqualTo(Status.OK);
                    assertThat(caller.remove(to, name).status()).isEqualTo(Status.OK);
                }
                return null;
            });
        }
        runAll(tasks);
        assertThat(caller.list(a, 4096)).hasSize(2);
        assertThat(caller.list(b, 4096)).hasSize(2);
    }

    @Test
    void manyThreadsMakeAndRemoveInOneDirectory() throws Exception {
        FileHandle d = caller.directory(caller.root(), "d");
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            String name = "f" + i;
            tasks.add(() -> {
                for (int round = 0; round < ROUNDS / 4; round++) {
                    FileHandle file = caller.file(d, name);
                    assertThat(caller.write(file, name, 0)).isEqualTo(Status.OK);
                    assertThat(caller.list(d, 4096)).anyMatch(entry -> file.equals(entry.file()));
                    assertThat(caller.remove(d, name).status()).isEqualTo(Status.OK);
                    assertThat(caller.getAttr(file).status()).isEqualTo(Status.STALE);
                }
                return null;
            });
        }
        runAll(tasks);
        assertThat(caller.rmDir(caller.root(), "d").status()).isEqualTo(Status.OK);
    }
}
