// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine;

/** Runs commands in this process, with streams and a clock of the test's own. */
final class CommandRun {
    final AtomicLong nanos = new AtomicLong();
    private final boolean terminal;
    private final StringWriter text = new StringWriter();
    private final StringWriter messages = new StringWriter();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final ByteArrayOutputStream drawn = new ByteArrayOutputStream();
    private InputStream in = new ByteArrayInputStream(new byte[0]);
    private int room = Integer.MAX_VALUE;
    private String failure = "";
    private int columns = 80;
    private long tickNanos;

    private CommandRun(boolean terminal) {
        this.terminal = terminal;
    }

    static CommandRun piped() {
        return new CommandRun(false);
    }

    static CommandRun onTerminal() {
        return new CommandRun(true);
    }

    CommandRun columns(int value) {
        columns = value;
        return this;
    }

    /** A clock that goes on by so much whenever somebody looks. */
    CommandRun ticking(long nanosPerLook) {
        tickNanos = nanosPerLook;
        return this;
    }

    CommandRun in(byte[] input) {
        in = new ByteArrayInputStream(input);
        return this;
    }

    /** Standard output that fails after some bytes. */
    CommandRun outFailsAfter(int count, String reason) {
        room = count;
        failure = reason;
        return this;
    }

    private void write(ByteBuffer some) throws IOException {
        if (some.remaining() > room - bytes.size()) {
            throw OutputException.of(new IOException(failure));
        }
        byte[] copy = new byte[some.remaining()];
        some.get(copy);
        bytes.write(copy);
    }

    private final class Out implements WritableByteChannel {
        @Override
        public int write(ByteBuffer some) throws IOException {
            int count = some.remaining();
            CommandRun.this.write(some);
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    StandardStreams streams() {
        return new StandardStreams(
                Channels.newChannel(in),
                new Out(),
                new PrintStream(drawn, true, StandardCharsets.UTF_8),
                terminal,
                terminal,
                () -> columns,
                () -> nanos.addAndGet(tickNanos));
    }

    int run(String... args) {
        CommandLine line = Main.commandLine(streams());
        line.setOut(new PrintWriter(text, true));
        line.setErr(new PrintWriter(messages, true));
        return line.execute(args);
    }

    /** Runs a command that says nothing but its output. */
    void succeeds(String... args) {
        assertThat(run(args)).as("%s", this).isZero();
        assertThat(err()).isEmpty();
    }

    /** Runs a command that fails with one line, which holds the parts, and says nothing else. */
    void fails(List<String> parts, String... args) {
        assertThat(run(args)).as("%s", this).isEqualTo(1);
        assertThat(err().lines())
                .singleElement()
                .asString()
                .startsWith("rpcrdma " + args[0] + ": ")
                .contains(parts)
                .doesNotContain("Exception", "java.");
        assertThat(out()).isEmpty();
    }

    /** What was written to standard output, as text or as bytes. */
    String out() {
        return text + bytes.toString(StandardCharsets.UTF_8);
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** The messages on standard error. */
    String err() {
        return messages.toString();
    }

    /** What else went to standard error: the bar. */
    String drawn() {
        return drawn.toString(StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return "out: " + out() + "\nerr: " + err() + drawn();
    }
}
