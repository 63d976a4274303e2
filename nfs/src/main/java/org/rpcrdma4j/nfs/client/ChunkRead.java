// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Read;

/**
 * Reads one piece of a file into memory, with as many READs, one after the other, as the server wants: one that returns less than was asked
 * for goes on where it ended (RFC 1813, Section 3.3.6). Completes when the memory is the caller's again, also when it is given up.
 */
final class ChunkRead extends CompletableFuture<ChunkRead.Filled> {

    /** A server that returns less than that many parts' worth each time is given up. */
    private static final int MAX_PARTS = 4096;

    private final NfsClient client;
    private final FileHandle file;
    private final String subject;
    private final long offset;
    private final MemorySegment target;
    private int done;
    private int parts;
    private boolean givenUp;
    private @Nullable CompletableFuture<NfsReply<Read.Results>> pending;

    /**
     * What was read.
     *
     * @param length how much; less than was asked for only at the end of the file
     * @param endOfFile whether the server says that the file ends there
     * @param attributes the file's, from the last READ; null if the server did not tell
     */
    record Filled(int length, boolean endOfFile, @Nullable Attributes attributes) {}

    ChunkRead(NfsClient client, FileHandle file, String subject, long offset, MemorySegment target) {
        this.client = client;
        this.file = file;
        this.subject = subject;
        this.offset = offset;
        this.target = target;
    }

    long offset() {
        return offset;
    }

    int wanted() {
        return (int) target.byteSize();
    }

    ChunkRead start() {
        send();
        return this;
    }

    private void send() {
        CompletableFuture<NfsReply<Read.Results>> call;
        synchronized (this) {
            if (givenUp) {
                super.completeExceptionally(new CancellationException());
                return;
            }
            MemorySegment rest = target.asSlice(done);
            call = client.read(new Read.Arguments(file, offset + done, rest.byteSize()), rest);
            pending = call;
        }
        var _ = call.whenComplete(this::ended);
    }

    private void ended(@Nullable NfsReply<Read.Results> reply, @Nullable Throwable failure) {
        if (reply == null) {
            super.completeExceptionally(failure == null ? new CancellationException() : failure);
        } else if (!(reply.results() instanceof Read.Ok ok)) {
            super.completeExceptionally(new NfsException(reply.results().status(), "read", subject));
        } else {
            done += ok.count();
            parts++;
            // Nothing at all, and not the end: taken for the end, as a server without an end would be asked for ever.
            boolean isEnd = ok.endOfFile() || ok.count() == 0;
            if (isEnd || done == target.byteSize()) {
                super.complete(new Filled(done, isEnd, ok.attributes()));
            } else if (parts >= MAX_PARTS) {
                super.completeExceptionally(
                        new CallFailedException("read", subject, "the server sends next to nothing for each READ"));
            } else {
                send();
            }
        }
    }

    /** Gives it up; it completes when its memory is the caller's again. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        CompletableFuture<NfsReply<Read.Results>> call;
        synchronized (this) {
            givenUp = true;
            call = pending;
        }
        return call != null && call.cancel(mayInterruptIfRunning);
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
