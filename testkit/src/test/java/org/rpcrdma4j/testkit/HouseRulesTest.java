// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules of the house that are seen in the sources of all modules, also of those built after this one. */
class HouseRulesTest {
    private static final int MAX_LINES = 400;

    private static final Path ROOT = projectRoot();

    @Test
    void noSourceFileOfTheProductIsLongerThanItMayBe() throws IOException {
        assertNoneIsTooLong(sources("src/main"));
    }

    @Test
    void noSourceFileOfTheTestsIsLongerThanItMayBe() throws IOException {
        assertNoneIsTooLong(sources("src/test"));
    }

    private static void assertNoneIsTooLong(List<Path> files) {
        assertThat(files)
                .isNotEmpty()
                .filteredOn(file -> read(file).size() > MAX_LINES)
                .as("files of more than %d lines", MAX_LINES)
                .isEmpty();
    }

    @Test
    void nobodyOutsideIwarpNamesItsPackages() throws IOException {
        assertThat(sources("src/main"))
                .filteredOn(file -> !file.startsWith("iwarp"))
                // Measures parts of the device; nothing depends on it and it is not shipped.
                .filteredOn(file -> !file.startsWith("benchmarks"))
                .filteredOn(file -> read(file).stream().anyMatch(line -> line.contains("org.rpcrdma4j.iwarp")))
                .isEmpty();
    }

    /** Of all modules. */
    private static List<Path> sources(String directory) throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.map(module -> module.resolve(directory))
                    .filter(Files::isDirectory)
                    .flatMap(HouseRulesTest::javaFiles)
                    .map(ROOT::relativize)
                    .sorted()
                    .toList();
        }
    }

    private static Stream<Path> javaFiles(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> read(Path file) {
        try {
            return Files.readAllLines(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The tests of a module run in its directory, one below the root. */
    private static Path projectRoot() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve(".mvn"))) {
            directory = directory.getParent();
            if (directory == null) {
                throw new IllegalStateException(
                        "no directory with .mvn above " + Path.of("").toAbsolutePath());
            }
        }
        return directory;
    }
}
