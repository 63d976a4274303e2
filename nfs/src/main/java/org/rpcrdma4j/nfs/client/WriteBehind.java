// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.client.WriteBlock.State;
import org.rpcrdma4j.nfs.protocol.Commit;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Write;

/**
 * The blocks of a file on their way to the server's stable storage: WRITEs in flight, then COMMIT, and anew what the server forgot in
 * between. Blocks never overlap.
 *
 * <p>Thread rule: all state is touched under {@link #lock}. Replies come on threads of the client, which take the lock and never wait for
 * anything else.
 */
final class WriteBehind {

    private final NfsClient client;
    private final FileHandle file;
    private final String subject;
    private final int writeBytes;
    private final int mostInFlight;
    private final long mostHeldBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** All blocks that are not released, by their offsets. */
    private final TreeMap<Long, WriteBlock> held = new TreeMap<>();

    private final Deque<WriteBlock> waiting = new ArrayDeque<>();
    private int inFlight;
    private long heldBytes;
    private long writtenBytes;
    private boolean committing;
    private @Nullable IOException failure;

    WriteBehind(NfsClient client, FileHandle file, String subject, int writeBytes, MountOptions options) {
        this.client = client;
        this.file = file;
        this.subject = subject;
        this.writeBytes = writeBytes;
        mostInFlight = options.writeBehind();
        mostHeldBytes = options.uncommittedBytes();
    }

    /** Waits until another block may be made. */
    void awaitRoom() throws IOException {
        lock.lock();
        try {
            while (failure == null
                    && (inFlight + waiting.size() >= mostInFlight || (heldBytes >= mostHeldBytes && !held.isEmpty()))) {
                changed.await();
            }
            throwFailure();
        } catch (InterruptedException e) {
            throw interrupted();
        } finally {
            lock.unlock();
        }
    }

    /** Whether some block has bytes of the range. */
    boolean overlaps(long offset, long length) {
        lock.lock();
        try {
            Map.Entry<Long, WriteBlock> before = held.floorEntry(offset + length - 1);
            return before != null && before.getValue().end() > offset;
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return held.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Takes a block over, which overlaps no other. */
    void submit(WriteBlock block) throws IOException {
        lock.lock();
        try {
            if (failure != null) {
                block.release();
            }
            throwFailure();
            block.state = State.WAITING;
            held.put(block.offset(), block);
            heldBytes += block.heldBytes();
            waiting.addLast(block);
            pump();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until nothing is left that is not on stable storage. */
    void drain() throws IOException {
        lock.lock();
        try {
            while (failure == null && !held.isEmpty()) {
                if (inFlight == 0 && waiting.isEmpty() && !committing) {
                    commit();
                } else {
                    changed.await();
                }
            }
            throwFailure();
        } catch (InterruptedException e) {
            throw interrupted();
        } finally {
            lock.unlock();
        }
    }

    private IOException interrupted() {
        Thread.currentThread().interrupt();
        return Waiting.interruption("write", subject);
    }

    private void throwFailure() throws IOException {
        IOException first = failure;
        if (first != null) {
            throw first;
        }
    }

    /** Sends what may be sent. */
    private void pump() {
        while (failure == null && inFlight < mostInFlight && !waiting.isEmpty()) {
            send(waiting.removeFirst());
        }
        if (failure == null && !committing && writtenBytes >= mostHeldBytes / 2) {
            commit();
        }
    }

    private void send(WriteBlock block) {
        block.state = State.SENT;
        inFlight++;
        Write.Arguments arguments =
                new Write.Arguments(file, block.restOffset(), block.how, List.of(block.rest(writeBytes)));
        var _ = client.write(arguments).whenComplete((reply, problem) -> {
            lock.lock();
            try {
                inFlight--;
                onReply(block, arguments.count(), reply, problem);
                pump();
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        });
    }

    private void onReply(
            WriteBlock block, long asked, @Nullable NfsReply<Write.Results> reply, @Nullable Throwable problem) {
        if (reply == null) {
            fail(problem);
        } else if (!(reply.results() instanceof Write.Ok ok)) {
            fail(new NfsException(reply.results().status(), "write", subject));
        } else if (ok.count() == 0 || ok.count() > asked) {
            fail(new CallFailedException(
                    "write", subject, "the server says that it wrote " + ok.count() + " of " + asked + " bytes"));
        } else if (failure == null) {
            advance(block, ok);
        }
        if (failure != null) {
            release(block);
        }
    }

    private void advance(WriteBlock block, Write.Ok ok) {
        if (!block.written(ok)) {
            block.state = State.WAITING;
            waiting.addFirst(block);
        } else if (block.isStable()) {
            release(block);
        } else if (block.isMixed()) {
            writeAnew(block);
        } else {
            block.state = State.WRITTEN;
            writtenBytes += block.heldBytes();
        }
    }

    private void writeAnew(WriteBlock block) {
        if (block.restart()) {
            waiting.addLast(block);
        } else {
            fail(new CallFailedException("write", subject, "the server forgets what was written, again and again"));
        }
    }

    /** COMMIT of the whole file; it counts for what was written when it was sent. */
    private void commit() {
        committing = true;
        List<WriteBlock> covered = new ArrayList<>();
        for (WriteBlock block : held.values()) {
            if (block.state == State.WRITTEN) {
                covered.add(block);
            }
        }
        var _ = client.commit(new Commit.Arguments(file, 0, 0)).whenComplete((reply, problem) -> {
            lock.lock();
            try {
                committing = false;
                if (reply == null) {
                    fail(problem);
                } else if (!(reply.results() instanceof Commit.Ok ok)) {
                    fail(new NfsException(reply.results().status(), "write", subject));
                } else if (failure == null) {
                    committed(covered, ok);
                }
                pump();
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        });
    }

    private void committed(List<WriteBlock> covered, Commit.Ok ok) {
        for (WriteBlock block : covered) {
            writtenBytes -= block.heldBytes();
            if (block.isCommittedBy(ok.verifier())) {
                release(block);
            } else {
                writeAnew(block);
            }
        }
    }

    private void release(WriteBlock block) {
        if (block.state != State.RELEASED) {
            held.remove(block.offset());
            heldBytes -= block.heldBytes();
            block.release();
        }
    }

    /** Nothing more is sent. What is in flight keeps its memory until it has ended. */
    private void fail(@Nullable Throwable problem) {
        if (failure == null) {
            failure = asFailure(problem);
        }
        waiting.clear();
        for (WriteBlock block : List.copyOf(held.values())) {
            if (block.state != State.SENT) {
                release(block);
            }
        }
        changed.signalAll();
    }

    /** Gives up: whatever is called from now on fails with this, unless something failed before. */
    void abort(IOException reason) {
        lock.lock();
        try {
            fail(reason);
        } finally {
            lock.unlock();
        }
    }

    private IOException asFailure(@Nullable Throwable problem) {
        Throwable cause =
                problem instanceof CompletionException && problem.getCause() != null ? problem.getCause() : problem;
        if (cause == null) {
            return new IOException("cannot write " + subject);
        }
        try {
            return Waiting.failure(cause, "write", subject);
        } catch (RuntimeException | Error e) {
            // A fault of the program's own; whoever waits is told all the same.
            return new IOException("cannot write " + subject + ": " + e, e);
        }
    }
}
