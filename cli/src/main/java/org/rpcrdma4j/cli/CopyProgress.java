// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.cli.copy.CopyListener;
import picocli.CommandLine;

/** Shows a copy to whoever waits for it: the bar, what failed, and the end. Any thread may call. */
final class CopyProgress implements CopyListener, AutoCloseable {
    private final CommandLine at;
    private final String label;
    private final @Nullable ProgressBar bar;
    private final AtomicInteger known = new AtomicInteger();
    private final AtomicInteger copied = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    /** @param isShown whether there is a bar, if there is a terminal */
    CopyProgress(CommandLine at, StandardStreams streams, String label, boolean isShown) {
        this.at = at;
        this.label = label;
        bar = isShown && streams.errIsTerminal() ? new ProgressBar(streams, label) : null;
    }

    boolean isShown() {
        return bar != null;
    }

    /** One more file is to be copied, of that size. */
    void expect(long bytes) {
        if (bar != null) {
            known.incrementAndGet();
            bar.expect(bytes);
        }
    }

    @Override
    public void began(String name) {
        if (bar != null && known.get() > 1) {
            bar.label(copied.get() + " of " + known.get() + " files");
        }
    }

    @Override
    public void moved(long bytes) {
        if (bar != null) {
            bar.advance(bytes);
        }
    }

    @Override
    public void copied() {
        copied.incrementAndGet();
    }

    @Override
    public void failed(IOException why) {
        failed.incrementAndGet();
        tell(Main.line(why));
        if (RpcrdmaCommand.isVerbose(at)) {
            StringWriter trace = new StringWriter();
            why.printStackTrace(new PrintWriter(trace));
            message(trace.toString().stripTrailing());
        }
    }

    /** Prints a line that begins with the command's name. */
    void tell(String text) {
        message(at.getCommandSpec().qualifiedName() + ": " + text);
    }

    private void message(String text) {
        if (bar != null) {
            bar.message(text);
        } else {
            at.getErr().println(text);
            at.getErr().flush();
        }
    }

    int copiedFiles() {
        return copied.get();
    }

    boolean hasFailed() {
        return failed.get() > 0;
    }

    /** Says how it ended, if somebody looks on or something failed. */
    void finish() {
        String files = copied.get() + (copied.get() == 1 ? " file" : " files");
        if (failed.get() > 0) {
            tell(files + " copied, " + failed.get() + " failed");
        } else if (bar != null) {
            bar.finish(copied.get() == 1 ? label : files);
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
