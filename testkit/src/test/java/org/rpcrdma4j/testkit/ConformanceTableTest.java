// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The document docs/conformance.md names what exists in whatever module, each rule and each fault once, none of a list left out, and as many
 * rows as it says.
 */
class ConformanceTableTest {
    private static final Pattern RULE = Pattern.compile("R\\d{4}-[\\w.]+-\\w+");
    private static final Pattern FAULT = Pattern.compile("[FIU]\\d+");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");
    private static final Pattern KIND = Pattern.compile("\\*\\*([^*]+)\\*\\*: .*");
    private static final Pattern TEST_METHOD =
            Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|Property|Example)\\b[\\s\\S]*?\\bvoid (\\w+)\\(");
    private static final String OBEYED = "obeyed";
    private static final int COLUMNS = 5;

    /** Columns of the table of numbers. */
    private static final List<String> PARTS = List.of("iWARP", "RPC-over-RDMA", "faults");

    private static final Set<String> IWARP = Set.of("5044", "6581", "5041", "5040", "5042");
    private static final int FAULTS_OF_THE_SEED = 32;
    private static final int INVARIANTS = 10;

    private static final Path ROOT = projectRoot();

    /** One row: what stands in its columns. */
    private record Row(String id, String part, List<String> classes, List<String> tests, String kind) {
        static Row of(List<String> cells) {
            assertThat(cells).as("columns of %s", cells.getFirst()).hasSize(COLUMNS);
            var kind = KIND.matcher(cells.get(4));
            return new Row(
                    cells.getFirst(),
                    partOf(cells.getFirst()),
                    names(cells.get(2)),
                    names(cells.get(3)),
                    kind.matches() ? kind.group(1) : OBEYED);
        }

        private static String partOf(String id) {
            if (FAULT.matcher(id).matches()) {
                return PARTS.get(2);
            }
            return IWARP.contains(id.substring(1, 5)) ? PARTS.get(0) : PARTS.get(1);
        }

        private static List<String> names(String cell) {
            return NAME.matcher(cell).results().map(found -> found.group(1)).toList();
        }
    }

    @Test
    void everyClassNamedExistsInTheProduct() throws IOException {
        Set<String> known = sources(
                        module -> !module.startsWith("testkit") && !module.startsWith("benchmarks"), "src/main")
                .keySet();
        assertThat(rows())
                .flatExtracting(Row::classes)
                .filteredOn(name -> !known.contains(name))
                .as("classes that do not exist")
                .isEmpty();
    }

    @Test
    void everyTestNamedExists() throws IOException {
        Set<String> known = testSources().entrySet().stream()
                .flatMap(source -> testsOf(source.getKey(), source.getValue()))
                .collect(Collectors.toSet());
        assertThat(rows())
                .flatExtracting(Row::tests)
                .filteredOn(name -> !known.contains(name))
                .as("tests that do not exist")
                .isEmpty();
    }

    @Test
    void theClassOfATestNamedIsTheOnlyOneOfItsName() throws IOException {
        Map<String, List<String>> texts = testSources();
        assertThat(rows())
                .flatExtracting(Row::tests)
                .extracting(name -> name.substring(0, name.indexOf('.')))
                .filteredOn(name -> texts.getOrDefault(name, List.of()).size() > 1)
                .as("names of several classes")
                .isEmpty();
    }

    @Test
    void aRuleThatIsObeyedHasItsClassAndItsTest() throws IOException {
        assertThat(rows()).filteredOn(row -> row.kind().equals(OBEYED)).allSatisfy(row -> {
            assertThat(row.classes()).as("classes of %s", row.id()).isNotEmpty();
            assertThat(row.tests()).as("tests of %s", row.id()).isNotEmpty();
        });
    }

    @Test
    void everyRuleStandsOnce() throws IOException {
        assertThat(rows()).extracting(Row::id).doesNotHaveDuplicates();
    }

    @Test
    void noFaultOfTheSeedAndNoInvariantIsLeftOut() throws IOException {
        assertThat(rows()).extracting(Row::id).containsAll(numbered("F", FAULTS_OF_THE_SEED));
        assertThat(rows()).extracting(Row::id).containsAll(numbered("I", INVARIANTS));
    }

    private static List<String> numbered(String letter, int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> letter + i).toList();
    }

    @Test
    void thereAreAsManyRowsOfEachKindAsTheHeadSays() throws IOException {
        Map<String, List<Long>> counted = new HashMap<>();
        Set<String> kinds = new HashSet<>(numbersOfTheHead().keySet());
        rows().forEach(row -> kinds.add(row.kind()));
        for (String kind : kinds) {
            counted.put(kind, PARTS.stream().map(part -> count(part, kind)).toList());
        }
        assertThat(counted).isEqualTo(numbersOfTheHead());
    }

    private static long count(String part, String kind) {
        return rows().stream()
                .filter(row -> row.part().equals(part))
                .filter(row -> kind.equals("all") || row.kind().equals(kind))
                .count();
    }

    /** By kind, the numbers of the parts in their order. */
    private static Map<String, List<Long>> numbersOfTheHead() {
        Map<String, List<Long>> said = new HashMap<>();
        for (List<String> cells : tableRows()) {
            if (cells.size() == PARTS.size() + 2 && cells.get(1).matches("\\d+")) {
                said.put(
                        cells.getFirst(),
                        cells.subList(1, 1 + PARTS.size()).stream()
                                .map(Long::valueOf)
                                .toList());
            }
        }
        return said;
    }

    private static List<Row> rows() {
        List<Row> rows = tableRows().stream()
                .filter(cells -> RULE.matcher(cells.getFirst()).matches()
                        || FAULT.matcher(cells.getFirst()).matches())
                .map(Row::of)
                .toList();
        assertThat(rows).isNotEmpty();
        return rows;
    }

    private static List<List<String>> tableRows() {
        List<List<String>> all = new ArrayList<>();
        for (String line : read(ROOT.resolve("docs/conformance.md")).lines().toList()) {
            if (line.startsWith("| ") && line.endsWith("|")) {
                String inner = line.substring(1, line.length() - 1);
                all.add(Stream.of(inner.split("\\|", -1)).map(String::strip).toList());
            }
        }
        return all;
    }

    private static Stream<String> testsOf(String name, List<String> texts) {
        return texts.stream()
                .flatMap(text -> TEST_METHOD.matcher(text).results())
                .map(found -> name + "." + found.group(1));
    }

    /** The texts of all Java sources there, by simple class name; packages may have classes of the same name. */
    private static Map<String, List<String>> sources(Predicate<String> modules, String directory) throws IOException {
        List<Path> roots;
        try (Stream<Path> all = Files.list(ROOT)) {
            roots = all.filter(module -> modules.test(module.getFileName().toString()))
                    .map(module -> module.resolve(directory))
                    .filter(Files::isDirectory)
                    .toList();
        }
        Map<String, List<String>> texts = new HashMap<>();
        for (Path root : roots) {
            try (Stream<Path> files = Files.walk(root)) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(file -> {
                    String name = file.getFileName().toString().replace(".java", "");
                    texts.computeIfAbsent(name, key -> new ArrayList<>()).add(read(file));
                });
            }
        }
        return texts;
    }

    /** Tests, and the contract suite, whose tests other modules run. */
    private static Map<String, List<String>> testSources() throws IOException {
        Map<String, List<String>> texts = sources(module -> true, "src/test");
        texts.putAll(sources(module -> module.startsWith("testkit"), "src/main"));
        return texts;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path projectRoot() {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("docs/conformance.md"))) {
            at = at.getParent();
            assertThat(at).as("a directory with docs/conformance.md").isNotNull();
        }
        return at;
    }
}
