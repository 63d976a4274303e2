// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The document docs/conformance.md names what exists, each rule once, and as many rows as it says. */
class ConformanceTableTest {
    private static final Pattern ID = Pattern.compile("R\\d{4}-[\\w.]+-\\w+");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");
    private static final Pattern KIND = Pattern.compile("\\*\\*([^*]+)\\*\\*: .*");
    private static final Pattern TEST_METHOD =
            Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|Property|Example)\\b[\\s\\S]*?\\bvoid (\\w+)\\(");
    private static final String OBEYED = "obeyed";

    private static final Path ROOT = projectRoot();

    /** One row: what stands in its five columns. */
    private record Row(String id, List<String> classes, List<String> tests, String kind) {
        static Row of(List<String> cells) {
            assertThat(cells).as("columns of %s", cells.getFirst()).hasSize(5);
            var kind = KIND.matcher(cells.get(4));
            return new Row(
                    cells.getFirst(),
                    names(cells.get(2)),
                    names(cells.get(3)),
                    kind.matches() ? kind.group(1) : OBEYED);
        }

        private static List<String> names(String cell) {
            return NAME.matcher(cell).results().map(found -> found.group(1)).toList();
        }
    }

    @Test
    void everyClassNamedExistsInTheProduct() throws IOException {
        Set<String> known = sources("iwarp/src/main", "verbs/src/main").keySet();
        assertThat(rows())
                .flatExtracting(Row::classes)
                .filteredOn(name -> !known.contains(name))
                .as("classes that do not exist")
                .isEmpty();
    }

    @Test
    void everyTestNamedExists() throws IOException {
        Set<String> known = sources("iwarp/src/test", "testkit/src/main").entrySet().stream()
                .flatMap(source -> testsOf(source.getKey(), source.getValue()))
                .collect(Collectors.toSet());
        assertThat(rows())
                .flatExtracting(Row::tests)
                .filteredOn(name -> !known.contains(name))
                .as("tests that do not exist")
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
    void thereAreAsManyRowsOfEachKindAsTheHeadSays() throws IOException {
        Map<String, Long> counted =
                new HashMap<>(rows().stream().collect(Collectors.groupingBy(Row::kind, Collectors.counting())));
        counted.put("all", (long) rows().size());
        assertThat(counted).isEqualTo(numbersOfTheHead());
    }

    private static Map<String, Long> numbersOfTheHead() throws IOException {
        Map<String, Long> said = new HashMap<>();
        for (List<String> cells : tableRows()) {
            if (cells.size() == 3 && cells.get(1).matches("\\d+")) {
                said.put(cells.getFirst(), Long.valueOf(cells.get(1)));
            }
        }
        return said;
    }

    private static List<Row> rows() throws IOException {
        List<Row> rows = tableRows().stream()
                .filter(cells -> ID.matcher(cells.getFirst()).matches())
                .map(Row::of)
                .toList();
        assertThat(rows).isNotEmpty();
        return rows;
    }

    private static List<List<String>> tableRows() throws IOException {
        List<List<String>> all = new ArrayList<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/conformance.md"))) {
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

    /** The texts of all Java sources below, by simple class name; packages may have classes of the same name. */
    private static Map<String, List<String>> sources(String... directories) throws IOException {
        Map<String, List<String>> texts = new HashMap<>();
        for (String directory : directories) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(directory))) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    String name = file.getFileName().toString().replace(".java", "");
                    texts.computeIfAbsent(name, key -> new ArrayList<>()).add(Files.readString(file));
                }
            }
        }
        return texts;
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
