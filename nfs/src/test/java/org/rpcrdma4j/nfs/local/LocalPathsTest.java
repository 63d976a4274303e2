// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.PathBytes;

class LocalPathsTest {
    @Test
    void everyByteButSlashAndZeroSurvivesTheWayThereAndBack() {
        for (int b = 1; b < 256; b++) {
            if (b != '/') {
                FileName name = FileName.of(new byte[] {'a', (byte) b, 'z'});
                assertThat(LocalPaths.nameOf(LocalPaths.toPath(name))).isEqualTo(name);
            }
        }
    }

    @Test
    void aDirectorysListingGivesTheBytesThatTheFileWasMadeWith(@TempDir Path directory) throws IOException {
        byte[] bytes = new byte[255];
        new Random(1).nextBytes(bytes);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = bytes[i] == 0 || bytes[i] == '/' ? (byte) '\n' : bytes[i];
        }
        FileName name = FileName.of(bytes);
        Files.createFile(directory.resolve(LocalPaths.toPath(name)));

        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            assertThat(LocalPaths.nameOf(entries.iterator().next())).isEqualTo(name);
        }
    }

    @Test
    void aLinkSaysTheBytesThatItWasMadeWith(@TempDir Path directory) throws IOException {
        for (String text : new String[] {"a", "../b/c", "/", "/x/../y", "\u00ff/\n"}) {
            PathBytes target = PathBytes.of(text);
            Path link = directory.resolve("link");
            Files.createSymbolicLink(link, LocalPaths.toTarget(target));
            assertThat(LocalPaths.toBytes(Files.readSymbolicLink(link))).isEqualTo(target);
            Files.delete(link);
        }
    }

    @Test
    void aPathThatIsADirectoryHasNoSlashAtItsEnd(@TempDir Path directory) throws IOException {
        Path odd = Files.createDirectory(directory.resolve(LocalPaths.toPath(FileName.of(new byte[] {(byte) 0xff}))));

        byte[] bytes = LocalPaths.toBytes(odd).bytes();

        assertThat(Arrays.copyOfRange(bytes, bytes.length - 2, bytes.length)).containsExactly('/', 0xff);
    }

    @Test
    void refusesWhatIsNoName() {
        for (String text : new String[] {"", "a/b", "a\0"}) {
            assertThatThrownBy(() -> LocalPaths.toPath(FileName.of(text))).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void refusesWhatNoLinkCanSay() {
        for (String text : new String[] {"", "a\0b"}) {
            assertThatThrownBy(() -> LocalPaths.toTarget(PathBytes.of(text))).isInstanceOf(InvalidPathException.class);
        }
    }
}
