// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * What a command reads and writes, as bytes, and what it needs to know to draw on a terminal.
 *
 * @param in standard input
 * @param out standard output; what fails throws {@link OutputException}
 * @param err standard error, for progress; messages go to picocli's writer
 * @param outIsTerminal whether a person reads the output
 * @param errIsTerminal whether progress may be drawn
 * @param columns width of the terminal
 * @param nanoTime the clock
 */
public record StandardStreams(
        ReadableByteChannel in,
        WritableByteChannel out,
        PrintStream err,
        boolean outIsTerminal,
        boolean errIsTerminal,
        IntSupplier columns,
        LongSupplier nanoTime) {

    private static final int DEFAULT_COLUMNS = 80;
    private static final int OUT_BUFFER_BYTES = 64 << 10;
    private static final Pattern TERMINAL = Pattern.compile("/dev/(?:pts/\\d+|tty.*|console|hvc\\d+)");

    /** Those of this process; the same object each time would do, closing is nobody's task. */
    public static StandardStreams ofProcess() {
        return new StandardStreams(
                new FileInputStream(FileDescriptor.in).getChannel(),
                new OutputGuard(new FileOutputStream(FileDescriptor.out).getChannel()),
                System.err,
                isTerminal(1),
                isTerminal(2),
                StandardStreams::terminalColumns,
                System::nanoTime);
    }

    /** Standard output behind a buffer, for small pieces; to be flushed by the caller. */
    public OutputStream bufferedOut() {
        return new BufferedOutputStream(Channels.newOutputStream(out), OUT_BUFFER_BYTES);
    }

    /** Writes all of a buffer to standard output. */
    public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            out.write(bytes);
        }
    }

    /** Each of the streams by itself: {@code System.console()} tells only of input and output together. */
    @SuppressWarnings("SystemConsoleNull") // since JDK 25 it is null again without a terminal
    private static boolean isTerminal(int descriptor) {
        try {
            Path behind = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor));
            return TERMINAL.matcher(behind.toString()).matches();
        } catch (IOException | UnsupportedOperationException e) {
            return System.console() != null && System.console().isTerminal();
        }
    }

    private static int terminalColumns() {
        try {
            // "24 80". No Java API tells the size of a terminal.
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(Path.of("/dev/tty").toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!stty.waitFor(1, TimeUnit.SECONDS)) {
                stty.destroy();
                return DEFAULT_COLUMNS;
            }
            String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            int columns = Integer.parseInt(size.substring(size.indexOf(' ') + 1));
            return columns > 0 ? columns : DEFAULT_COLUMNS;
        } catch (IOException | NumberFormatException e) {
            return DEFAULT_COLUMNS;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return DEFAULT_COLUMNS;
        }
    }

    /** Tells a reader that has gone away from other failures. */
    private record OutputGuard(WritableByteChannel out) implements WritableByteChannel {

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            try {
                return out.write(bytes);
            } catch (IOException e) {
                throw OutputException.of(e);
            }
        }

        @Override
        public boolean isOpen() {
            return out.isOpen();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
