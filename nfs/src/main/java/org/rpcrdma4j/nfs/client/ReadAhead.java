// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.rpcrdma4j.nfs.protocol.FileHandle;

/** The pieces of a file in order, some of them asked for before they are wanted. Used by one thread at a time. */
final class ReadAhead {

    private final NfsClient client;
    private final FileHandle file;
    private final String subject;
    private final int pieceBytes;
    private final BufferPool buffers;
    private final long knownSize;
    private final Deque<Piece> asked = new ArrayDeque<>();
    /** Where the next piece to be taken begins, and the next one to be asked for. */
    private long takeAt;

    private long askAt;
    private boolean ended;

    private record Piece(NfsBuffer buffer, ChunkRead read) {}

    /**
     * A piece that was taken.
     *
     * @param buffer its data; the taker's
     * @param filled how much, and whether the file ends there
     */
    record Taken(NfsBuffer buffer, ChunkRead.Filled filled) {}

    ReadAhead(NfsClient client, FileHandle file, String subject, int pieceBytes, BufferPool buffers, long knownSize) {
        this.client = client;
        this.file = file;
        this.subject = subject;
        this.pieceBytes = pieceBytes;
        this.buffers = buffers;
        this.knownSize = knownSize;
    }

    long position() {
        return takeAt;
    }

    boolean hasEnded() {
        return ended;
    }

    /** Begins anew at an offset. */
    void restart(long offset) {
        drop();
        takeAt = offset;
        askAt = offset;
        ended = false;
    }

    /** Asks for pieces until so many are on their way; behind the known end of the file for one at a time. */
    void ask(int window, int bytes) {
        while (!ended && asked.size() < window && (askAt < knownSize || asked.isEmpty())) {
            long left = askAt < knownSize ? knownSize - askAt : pieceBytes;
            int length = (int) Math.min(left, Math.min(bytes, pieceBytes));
            NfsBuffer buffer = buffers.take();
            ChunkRead read =
                    new ChunkRead(client, file, subject, askAt, buffer.memory().asSlice(0, length));
            asked.addLast(new Piece(buffer, read));
            askAt += length;
            var _ = read.start();
        }
    }

    /** Waits for the next piece, which was asked for. */
    Taken take() throws IOException {
        Piece piece = asked.removeFirst();
        ChunkRead.Filled filled;
        try {
            filled = Waiting.await(piece.read, "read", subject);
        } catch (IOException | RuntimeException e) {
            piece.buffer.close();
            restart(takeAt);
            throw e;
        }
        takeAt += filled.length();
        if (filled.endOfFile()) {
            ended = true;
            drop();
        }
        return new Taken(piece.buffer.filled(piece.read.offset(), filled.length()), filled);
    }

    /** Gives up what is on its way; its memory goes back when nobody uses it any more. */
    void drop() {
        for (Piece piece : asked) {
            var _ = piece.read.whenComplete((filled, failure) -> piece.buffer.close());
            piece.read.cancel(false);
        }
        asked.clear();
        askAt = takeAt;
    }
}
