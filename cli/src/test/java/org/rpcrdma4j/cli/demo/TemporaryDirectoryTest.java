// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class TemporaryDirectoryTest {
    @Test
    void isRemovedWithAllThatIsInIt() throws Exception {
        Path path;
        try (TemporaryDirectory directory = TemporaryDirectory.create(1 << 20)) {
            path = directory.path();
            Files.createDirectories(path.resolve("a/b"));
            Files.createFile(path.resolve("a/b/file"));
            Files.createSymbolicLink(path.resolve("link"), Path.of("/"));
            assertThat(path).isDirectory();
        }
        assertThat(path).doesNotExist();
        assertThat(Path.of("/")).isNotEmptyDirectory();
    }
}
