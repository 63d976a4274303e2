// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongConsumer;
import org.rpcrdma4j.nfs.client.NfsFile;

/**
 * Goes through a tree ahead of its copy, to know how much is to be copied. What it cannot read it leaves out, without a word: the copy will say so.
 */
public final class Survey implements AutoCloseable {
    /** Enough for a person who waits; beyond, the copy has no known end. */
    private static final int MAX_DIRECTORIES = 1_000_000;

    private final Side side;
    private final LongConsumer found;
    private final Thread thread;

    /** @param found is told the size of each regular file, on a thread of the survey's own */
    public Survey(Side side, NfsFile root, LongConsumer found) {
        this.side = side;
        this.found = found;
        thread = Thread.ofVirtual().name("survey").start(() -> run(root));
    }

    private void run(NfsFile root) {
        Deque<NfsFile> todo = new ArrayDeque<>();
        todo.add(root);
        int directories = 0;
        while (!todo.isEmpty()
                && directories < MAX_DIRECTORIES
                && !Thread.currentThread().isInterrupted()) {
            NfsFile next = todo.removeLast();
            if (next.attributes().isDirectory()) {
                directories++;
                list(next, todo);
            } else if (next.attributes().isRegular()) {
                found.accept(next.attributes().size());
            }
        }
    }

    private void list(NfsFile directory, Deque<NfsFile> todo) {
        if (directory.path().depth() > Copier.MAX_DEPTH) {
            return;
        }
        try (Side.Listing listing = side.list(directory)) {
            NfsFile child = listing.next();
            while (child != null) {
                if (child.attributes().isDirectory()) {
                    todo.add(child);
                } else if (child.attributes().isRegular()) {
                    found.accept(child.attributes().size());
                }
                child = listing.next();
            }
        } catch (IOException _) {
            // The copy finds the same.
        }
    }

    /** Ends it, wherever it is. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
