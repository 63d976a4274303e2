// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.jfr.Name;
import org.junit.jupiter.api.Test;

/** docs/observability.md names what there is, and nothing else. */
class ObservabilityDocumentTest {

    private static final Pattern ROW = Pattern.compile("\\| `([A-Za-z_.]+)` \\| .+ \\|");

    private static Map<String, List<String>> namesBySection() throws IOException {
        Map<String, List<String>> sections = new TreeMap<>();
        String document = Files.readString(Path.of("..", "docs", "observability.md"));
        for (String section : document.split("\n#+ ", -1)) {
            List<String> names = section.lines()
                    .map(ROW::matcher)
                    .filter(Matcher::matches)
                    .map(row -> row.group(1))
                    .toList();
            sections.put(section.lines().findFirst().orElseThrow(), names);
        }
        return sections;
    }

    private static List<String> names(Enum<?>[] constants) {
        return Stream.of(constants).map(Enum::name).toList();
    }

    @Test
    void namesEveryCounterGaugeAndEventInItsTable() throws IOException {
        Map<String, List<String>> sections = namesBySection();

        assertThat(sections.get("Client")).isEqualTo(names(ClientCounter.values()));
        assertThat(sections.get("Server")).isEqualTo(names(ServerCounter.values()));
        assertThat(sections.get("Gauges")).isEqualTo(names(Gauge.values()));
        assertThat(sections.get("Events"))
                .containsExactlyInAnyOrderElementsOf(Stream.of(
                                ConnectionEvents.class,
                                QueueEvents.class,
                                CallEvents.class,
                                RegionEvents.class,
                                RequestEvents.class)
                        .flatMap(holder -> Stream.of(holder.getDeclaredClasses()))
                        .map(type ->
                                requireNonNull(type.getAnnotation(Name.class)).value())
                        .toList());
    }
}
