// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
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
    private OutputStream out = bytes;
    private int columns = 80;

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

    CommandRun in(byte[] input) {
        in = new ByteArrayInputStream(input);
        return this;
    }

    /** Standard output that fails after some bytes. */
    CommandRun outFailsAfter(int count, String reason) {
        out = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] some, int from, int length) throws IOException {
                if (bytes.size() + length > count) {
                    throw OutputException.of(new IOException(reason));
                }
                bytes.write(some, from, length);
            }
        };
        return this;
    }

    StandardStreams streams() {
        return new StandardStreams(
                in,
                out,
                new PrintStream(drawn, true, StandardCharsets.UTF_8),
                terminal,
                terminal,
                () -> columns,
                nanos::get);
    }

    int run(String... args) {
        CommandLine line = Main.commandLine(streams());
        line.setOut(new PrintWriter(text, true));
        line.setErr(new PrintWriter(messages, true));
        return line.execute(args);
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
