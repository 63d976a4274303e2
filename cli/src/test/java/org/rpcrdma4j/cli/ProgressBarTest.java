// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressBarTest {
    private static final long SECOND = 1_000_000_000;
    private static final long MIB = 1 << 20;

    private final CommandRun terminal = CommandRun.onTerminal();

    /** What stands on the line after the last return of the carriage. */
    private String shown() {
        String drawn = terminal.drawn();
        return drawn.substring(drawn.lastIndexOf('\r') + 1).stripTrailing();
    }

    @Test
    void showsPercentageBarRateAndRemainingTime() {
        ProgressBar bar = new ProgressBar(terminal.streams(), "big.iso");
        bar.expect(100 * MIB);
        terminal.nanos.addAndGet(SECOND);
        bar.advance(10 * MIB);

        assertThat(shown()).matches("big\\.iso  10% \\[=+> +] 10 MiB of 100 MiB  10 MiB/s  0:09 left");
    }

    @Test
    void theRateFollowsWhatHappensLately() {
        ProgressBar bar = new ProgressBar(terminal.streams(), "f");
        bar.expect(1000 * MIB);
        terminal.nanos.addAndGet(SECOND);
        bar.advance(100 * MIB);
        for (int i = 0; i < 30; i++) {
            terminal.nanos.addAndGet(SECOND);
            bar.advance(MIB);
        }

        assertThat(shown()).contains(" 1.0 MiB/s ");
    }

    @Test
    void withoutATotalItShowsWhatWasMoved() {
        ProgressBar bar = new ProgressBar(terminal.streams(), "-");
        terminal.nanos.addAndGet(2 * SECOND);
        bar.advance(5 * MIB);

        assertThat(shown()).isEqualTo("- 5.0 MiB  2.5 MiB/s");
    }

    @Test
    void moreThanExpectedIsNoPercentageAboveAHundred() {
        ProgressBar bar = new ProgressBar(terminal.streams(), "grows");
        bar.expect(MIB);
        terminal.nanos.addAndGet(SECOND);
        bar.advance(2 * MIB);

        assertThat(shown()).isEqualTo("grows 2.0 MiB  2.0 MiB/s");
    }

    @Test
    void aStallHasNoRemainingTime() {
        ProgressBar bar = new ProgressBar(terminal.streams(), "f");
        bar.expect(MIB);
        terminal.nanos.addAndGet(SECOND);
        bar.advance(0);

        assertThat(shown()).endsWith("0 B of 1.0 MiB  0 B/s  --:-- left");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 10, 20, 40, 60, 80, 200})
    void theLineFitsTheTerminalAndWrapsNowhere(int columns) {
        terminal.columns(columns);
        ProgressBar bar = new ProgressBar(terminal.streams(), "ein/langer/Name/日本語/" + "x".repeat(100));
        bar.expect(3000 * MIB);
        terminal.nanos.addAndGet(SECOND);
        bar.advance(1234 * MIB);

        assertThat(TextWidth.of(shown())).isLessThan(columns);
    }

    @Test
    void itIsDrawnTenTimesASecondAtMost() {
        ProgressBar bar = new ProgressBar(terminal.streams(), "f");
        for (int i = 0; i < 1000; i++) {
            terminal.nanos.addAndGet(SECOND / 1000);
            bar.advance(1);
        }

        assertThat(terminal.drawn().chars().filter(c -> c == '\r')).hasSizeLessThanOrEqualTo(11);
    }

    @Test
    void atTheEndOneLineStands() {
        try (ProgressBar bar = new ProgressBar(terminal.streams(), "f")) {
            bar.expect(100 * MIB);
            terminal.nanos.addAndGet(4 * SECOND);
            bar.advance(100 * MIB);
            bar.finish("3 files,");
        }

        assertThat(terminal.drawn()).endsWith(System.lineSeparator());
        assertThat(terminal.drawn().strip()).contains("\r3 files, 100 MiB in 4.0 s, 25 MiB/s");
    }

    @Test
    void closedEarlyItLeavesAnEmptyLine() {
        try (ProgressBar bar = new ProgressBar(terminal.streams(), "f")) {
            terminal.nanos.addAndGet(SECOND);
            bar.advance(1);
        }

        assertThat(shown()).isEmpty();
    }

    @Test
    void aMessageTakesTheBarsPlaceAndTheBarComesBack() {
        ProgressBar bar = new ProgressBar(terminal.streams(), "f");
        terminal.nanos.addAndGet(SECOND);
        bar.advance(1);
        bar.message("cannot read x");
        bar.advance(1);

        assertThat(terminal.drawn()).contains("\rcannot read x" + System.lineSeparator() + "\rf 2 B");
    }

    @Test
    void withoutATerminalThereAreOnlyMessages() {
        CommandRun piped = CommandRun.piped();
        try (ProgressBar bar = new ProgressBar(piped.streams(), "f")) {
            bar.expect(2);
            piped.nanos.addAndGet(SECOND);
            bar.advance(1);
            bar.message("cannot read x");
            bar.label("g");
            bar.finish("done");
        }

        assertThat(piped.drawn()).isEqualTo("cannot read x" + System.lineSeparator());
    }

    @ParameterizedTest
    @CsvSource({"abc, 3, abc", "abcd, 3, …cd", "日本語, 5, …本語", "日本語, 4, …語", "abc, 1, …"})
    void aTextThatIsTooLongKeepsItsEnd(String text, int columns, String end) {
        assertThat(TextWidth.end(text, columns)).isEqualTo(end);
        assertThat(TextWidth.of(end)).isLessThanOrEqualTo(columns);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1.0 KiB",
        "10188, 9.9 KiB",
        "10240, 10 KiB",
        "1048575, 1.0 MiB",
        "5368709120, 5.0 GiB",
        "9223372036854775807, 8.0 EiB"
    })
    void amountsAreShort(long bytes, String text) {
        assertThat(ByteSize.approximate(bytes)).isEqualTo(text);
    }
}
