// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Runs every fuzz target on every input that a fuzzer or a person ever found worth keeping; needs no fuzzer. */
class FuzzCorpusTest {
    private static final String SUFFIX = "Fuzz.class";

    @TestFactory
    Stream<DynamicTest> noInputOfTheCorpusIsAFind() throws Exception {
        return list(directory("/fuzz"))
                .map(corpus -> DynamicTest.dynamicTest(corpus.getFileName().toString(), () -> replay(corpus)));
    }

    private static void replay(Path corpus) throws Exception {
        MethodHandle target = MethodHandles.publicLookup()
                .findStatic(
                        Class.forName(corpus.getFileName().toString()),
                        "fuzzerTestOneInput",
                        MethodType.methodType(void.class, byte[].class));
        List<Path> inputs = list(corpus).toList();
        assertThat(inputs).isNotEmpty();
        for (Path input : inputs) {
            byte[] bytes = Files.readAllBytes(input);
            try {
                target.invokeExact(bytes);
            } catch (Throwable e) {
                throw new AssertionError(
                        "%s: %s".formatted(input.getFileName(), HexFormat.of().formatHex(bytes)), e);
            }
        }
    }

    @Test
    void everyTargetHasACorpus() throws Exception {
        Path classes = directory("/fuzz").getParent();
        try (Stream<Path> all = Files.walk(classes)) {
            List<String> targets = all.map(file -> classes.relativize(file).toString())
                    .filter(name -> name.endsWith(SUFFIX))
                    .map(name -> name.substring(0, name.length() - ".class".length())
                            .replace(classes.getFileSystem().getSeparator(), "."))
                    .toList();
            assertThat(list(directory("/fuzz"))
                            .map(corpus -> corpus.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(targets);
        }
    }

    private static Path directory(String resource) throws Exception {
        URL url = FuzzCorpusTest.class.getResource(resource);
        assertThat(url).as(resource).isNotNull();
        return Path.of(URI.create(String.valueOf(url)));
    }

    private static Stream<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.sorted().toList().stream();
        }
    }
}
