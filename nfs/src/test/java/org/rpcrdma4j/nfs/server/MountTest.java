// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.Mount;
import org.rpcrdma4j.nfs.protocol.MountStatus;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** MOUNT, on the port of NFS. */
class MountTest {

    @TempDir
    private Path directory;

    private static NfsServerOptions named(String name, int maxMounts) {
        NfsServerOptions options = NfsServerOptions.DEFAULT;
        return options.withExportName(PathBytes.of(name)).withMaxMounts(maxMounts);
    }

    private static Mount.Results mount(Caller caller, String path) {
        return caller.mount(Mount.MNT, PathBytes.of(path), Mount.Results::read);
    }

    @Test
    void theExportAndDirectoriesBelowItAreMounted() throws IOException {
        Files.createDirectories(directory.resolve("a/b"));
        Files.createFile(directory.resolve("a/file"));
        Files.createSymbolicLink(directory.resolve("link"), Path.of("a"));
        try (ServerFixture fixture = new ServerFixture(directory, ServerFixture.OPTIONS, named("/srv/data", 10))) {
            Caller caller = fixture.caller();
            Mount.Ok root = (Mount.Ok) mount(caller, "/srv/data");
            assertThat(root.flavors()).containsExactly(1, 0);
            assertThat(mount(caller, "/srv/data/")).isEqualTo(root);
            assertThat(mount(caller, "srv/data")).isEqualTo(root);
            Mount.Ok below = (Mount.Ok) mount(caller, "/srv/data/a/b");
            assertThat(below.directory())
                    .isEqualTo(ServerFixture.lookup(caller, ServerFixture.lookup(caller, root.directory(), "a"), "b"));
            assertThat(mount(caller, "/srv/data//a//b/")).isEqualTo(below);
            assertThat(mount(caller, "/srv/data/none").status()).isEqualTo(MountStatus.NOENT);
            assertThat(mount(caller, "/srv/data/a/file").status()).isEqualTo(MountStatus.NOTDIR);
            assertThat(mount(caller, "/srv/data/link").status()).isIn(MountStatus.NOTDIR, MountStatus.ACCES);
            assertThat(mount(caller, "/srv/data/../data").status()).isNotEqualTo(MountStatus.OK);
            for (String elsewhere : List.of("/", "/srv", "/srv/database", "", "/etc", "/srv/dat")) {
                assertThat(mount(caller, elsewhere).status()).as(elsewhere).isEqualTo(MountStatus.ACCES);
            }
            assertThat(fixture.server.counters().get(NfsServerCounter.MOUNTS)).isEqualTo(5);
            assertThat(caller.mount(Mount.EXPORT, null, Mount::readExports))
                    .containsExactly(new Mount.Export(PathBytes.of("/srv/data"), List.of()));
        }
    }

    @Test
    void mountsAreListedUntilTheyAreTakenBack() throws IOException {
        Files.createDirectories(directory.resolve("a"));
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            String host = InetAddress.getLoopbackAddress().getHostAddress();
            mount(caller, "/");
            mount(caller, "/a");
            mount(caller, "/a");
            mount(caller, "/none");
            assertThat(caller.mount(Mount.DUMP, null, Mount::readEntries))
                    .containsExactly(
                            new Mount.Entry(host, PathBytes.of("/")), new Mount.Entry(host, PathBytes.of("/a")));
            caller.mount(Mount.UMNT, PathBytes.of("/"), in -> "");
            assertThat(caller.mount(Mount.DUMP, null, Mount::readEntries))
                    .containsExactly(new Mount.Entry(host, PathBytes.of("/a")));
            caller.mount(Mount.UMNTALL, null, in -> "");
            assertThat(caller.mount(Mount.DUMP, null, Mount::readEntries)).isEmpty();
        }
    }

    @Test
    void theListOfMountsIsBoundedAndLosesItsOldest() throws IOException {
        InetAddress host = InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
        MountTable table = new MountTable(3);
        for (int i = 0; i < 10; i++) {
            table.add(host, PathBytes.of("/" + i));
            table.add(host, PathBytes.of("/" + i));
        }
        assertThat(table.size()).isEqualTo(3);
        assertThat(table.list())
                .extracting(Mount.Entry::directory)
                .containsExactly(PathBytes.of("/7"), PathBytes.of("/8"), PathBytes.of("/9"));
        table.removeAll(InetAddress.getByAddress(new byte[] {10, 0, 0, 2}));
        assertThat(table.size()).isEqualTo(3);
        table.removeAll(host);
        assertThat(table.size()).isZero();
    }

    @Test
    void pathsThatAreTooLongAndBytesBehindThemAreGarbage() throws IOException {
        try (ServerFixture fixture = new ServerFixture(directory)) {
            Caller caller = fixture.caller();
            XdrWriter tooLong = new XdrWriter();
            tooLong.writeOpaque(new byte[Mount.MAX_PATH_BYTES + 1]);
            assertThat(caller.raw(Mount.PROGRAM, Mount.VERSION, Mount.MNT, tooLong.part(0)))
                    .isEqualTo(AcceptStatus.GARBAGE_ARGS);
            XdrWriter more = new XdrWriter();
            more.writeString("/");
            more.writeInt(1);
            for (int procedure : new int[] {Mount.MNT, Mount.UMNT, Mount.DUMP, Mount.UMNTALL, Mount.EXPORT}) {
                assertThat(caller.raw(Mount.PROGRAM, Mount.VERSION, procedure, more.part(0)))
                        .isEqualTo(AcceptStatus.GARBAGE_ARGS);
            }
            assertThat(caller.raw(Mount.PROGRAM, Mount.VERSION, 6, Caller.encode()))
                    .isEqualTo(AcceptStatus.PROC_UNAVAIL);
            assertThat(caller.raw(Mount.PROGRAM, 1, 0, Caller.encode())).isEqualTo(AcceptStatus.PROG_MISMATCH);
        }
    }

    @Test
    void anExportNameBeginsWithASlash() {
        assertThatIllegalArgumentException().isThrownBy(() -> named("data", 1));
        assertThatIllegalArgumentException().isThrownBy(() -> named("", 1));
        assertThatIllegalArgumentException().isThrownBy(() -> named("/", 0));
    }
}
