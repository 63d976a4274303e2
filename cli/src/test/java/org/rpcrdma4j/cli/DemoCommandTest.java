// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class DemoCommandTest {
    private static final Pattern DIRECTORY = Pattern.compile("in (/\\S+/rpcrdma-demo-\\d+)/export,");

    private final CommandRun run = CommandRun.piped();

    @Test
    void theTableTellsOfBothTransfersAndOfTheCutConnection() {
        int status = run.run("demo", "--size", "8MiB");

        assertThat(status).as("%s", run).isZero();
        assertThat(run.err() + run.drawn()).isEmpty();
        assertThat(run.out())
                .containsPattern("WRITE +[0-9.]+ GiB/s +[0-9.]+ GiB/s +[0-9.]+\n")
                .containsPattern("READ +[0-9.]+ GiB/s +[0-9.]+ GiB/s +[0-9.]+\n")
                .containsPattern("connections +1 +2\n")
                .containsPattern("retransmitted calls +0 +[1-9]\\d*\n")
                .containsPattern("regions allocated +[1-9]\\d* +[1-9]\\d*\n")
                .containsPattern("registrations +[1-9]\\d* +[1-9]\\d*\n")
                .containsPattern("remote invalidations +[1-9]\\d* +[1-9]\\d*\n")
                .containsPattern("local invalidations +\\d+ +\\d+\n")
                .containsPattern("recovered +0 +[1-9]\\d*\n")
                .containsPattern("orphaned +0 +0\n")
                .containsPattern("8 MiB written and read \\d times?, .* all bytes equal")
                .containsPattern("mountstats +xprt:\trdma 0 0 2 ")
                .contains("0 bytes leased, 0 regions");
        Matcher directory = DIRECTORY.matcher(run.out());
        assertThat(directory.find()).as("%s", run).isTrue();
        assertThat(Path.of(directory.group(1))).doesNotExist();
    }

    @Test
    void jsonHasTheSameForPrograms() {
        int status = run.run("demo", "--size", "8MiB", "--crc", "off", "--json");

        assertThat(status).as("%s", run).isZero();
        Map<?, ?> facts = JsonReader.object(run.out());
        assertThat(facts.keySet().stream().map(String::valueOf).toList())
                .isEqualTo(List.of(
                        "device",
                        "provider",
                        "crc",
                        "bytes",
                        "files",
                        "rounds",
                        "callsInFlight",
                        "write",
                        "read",
                        "undisturbed",
                        "withCut",
                        "allBytesEqual",
                        "afterClose"));
        assertThat(facts.get("crc")).isEqualTo(false);
        assertThat(facts.get("bytes")).isEqualTo(new BigDecimal(8 << 20));
        assertThat(facts.get("allBytesEqual")).isEqualTo(true);
        assertThat(number(facts, "write", "rdmaBytesPerSecond")).isPositive();
        assertThat(number(facts, "write", "oncrpc4jTcpBytesPerSecond")).isPositive();
        assertThat(number(facts, "read", "ratio")).isPositive();
        assertThat(number(facts, "undisturbed", "retransmittedCalls")).isZero();
        assertThat(number(facts, "undisturbed", "connections")).isOne();
        assertThat(number(facts, "withCut", "retransmittedCalls")).isPositive();
        assertThat(number(facts, "withCut", "callsInFlightAtCut")).isPositive();
        assertThat(number(facts, "withCut", "connections")).isEqualByComparingTo("2");
        assertThat(number(facts, "afterClose", "leasedBytes")).isZero();
        assertThat(member(facts, "afterClose", Map.class).get("balanced")).isEqualTo(true);
    }

    private static BigDecimal number(Map<?, ?> facts, String group, String name) {
        return member(member(facts, group, Map.class), name, BigDecimal.class);
    }

    private static <T> T member(Map<?, ?> facts, String name, Class<T> type) {
        Object value = facts.get(name);
        assertThat(value).as("%s in %s", name, facts).isInstanceOf(type);
        return type.cast(Objects.requireNonNull(value));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1000001"})
    void sizesThatAreNoWholePiecesAreMovedToo(String size) {
        assertThat(run.run("demo", "--size", size)).as("%s", run).isZero();
        assertThat(run.out()).contains("all bytes equal").containsPattern("connections +1 +2\n");
    }

    @Test
    void aDamagedByteEndsItWithStatusOneAndALineThatTellsWhere() {
        int status = run.run("demo", "--size", "16000000", "--damage");

        assertThat(status).as("%s", run).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        // The last of eight files has two million bytes and some.
        assertThat(run.err().strip())
                .matches("rpcrdma demo: the data differ: file-7 at offset 1002049:"
                        + " expected 0x[0-9a-f]{2}, found 0x[0-9a-f]{2}, read over RDMA");
    }

    @Test
    void progressIsShownOnATerminalAndTakenAway() {
        CommandRun terminal = CommandRun.onTerminal().ticking(10_000_000);

        assertThat(terminal.run("demo", "--size", "1MiB")).as("%s", terminal).isZero();
        assertThat(terminal.drawn())
                .contains("warming up: ", "writing and reading: ", "cutting the connection: ")
                .endsWith("\r");
    }

    @Test
    void whatHasNoRoomIsRefusedAtOnce() {
        assertThat(run.run("demo", "--size", "1048576GiB")).isEqualTo(1);
        assertThat(run.err().lines()).singleElement().asString().contains("not enough room in ", "smaller --size");
    }
}
