// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.ProgramTable.Outcome;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * Remembers the replies to calls that must not be executed twice, so that a call that comes again is answered, and not executed again
 * (RFC 5531, Section 5). Used by a {@link ProgramTable} for procedures that are declared so by {@link RpcProgram.Builder#once}.
 *
 * <pre>
 *   (not known) --call--&gt; RUNNING --its reply--&gt; DONE --evicted--&gt; (not known)
 *                         a duplicate             a duplicate gets
 *                         waits for the reply     the recorded reply
 * </pre>
 *
 * <p>A call is known by its {@linkplain CallFingerprint host, XID, procedure, credential and arguments}, not by its connection: a client
 * that lost that sends again on another one. What is recorded is the RPC message with its items apart, never how it was sent; the
 * transport frames it anew for each duplicate, with what that one offers.
 *
 * <p>Bounded by the number of calls and by the bytes of their replies. Beyond either bound the client with the largest share loses its
 * oldest reply, so that one client cannot push out what others need. Running calls are never pushed out: if there are too many of
 * them, a further call runs without being remembered, and is counted. Nothing survives a restart of the server.
 *
 * <p>Any thread; one lock, held for a few look-ups.
 */
public final class ReplyCache {

    private static final System.Logger LOG = System.getLogger(ReplyCache.class.getName());

    /** Longer replies are not recorded: those of procedures that must not run twice are short. */
    public static final int MAX_REPLY_BYTES = 4096;

    /** Duplicates of one running call that may wait; beyond that the one that has waited longest, whose connection is the oldest, fails. */
    static final int MAX_WAITING = 16;

    private static final int DEFAULT_CALLS = 8192;
    private static final long DEFAULT_BYTES = 8L << 20;
    private static final long DEFAULT_WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final int maxCalls;
    private final long maxBytes;
    private final long waitNanos;
    private final Map<InetAddress, Client> clients = new HashMap<>();
    private int calls;
    private long bytes;

    private final LongAdder misses = new LongAdder();
    private final LongAdder hits = new LongAdder();
    private final LongAdder waits = new LongAdder();
    private final LongAdder failedWaits = new LongAdder();
    private final LongAdder evictions = new LongAdder();
    private final LongAdder tooLong = new LongAdder();
    private final LongAdder notAdmitted = new LongAdder();

    /** What one host has here. */
    private static final class Client {
        private final Map<CallFingerprint, Running> running = new HashMap<>();
        /** In the order of their last use. */
        private final LinkedHashMap<CallFingerprint, RecordedReply> done = new LinkedHashMap<>(16, 0.75f, true);

        private long bytes;
    }

    /** A call that is being executed, and the duplicates that wait for it. Touched under the cache's lock. */
    private static final class Running {
        private final List<Consumer<XdrWriter>> waiting = new ArrayList<>(0);
        private final CountDownLatch ended = new CountDownLatch(1);
        private int duplicates;
        private int blocked;
        /** Set at the end, if there are duplicates or it is recorded. */
        private @Nullable RecordedReply reply;
    }

    /**
     * What has been counted, and what is held now.
     *
     * @param misses calls that were executed
     * @param hits duplicates that were answered with a recorded reply
     * @param waits duplicates that came while the call was running
     * @param failedWaits of those: answered with SYSTEM_ERR, for they waited too long or were too many
     * @param evictions replies that were pushed out by others
     * @param tooLong replies that were not recorded for their length
     * @param notAdmitted calls that were executed without being remembered, because too many were running
     * @param calls calls remembered now
     * @param bytes bytes of their replies
     */
    public record Statistics(
            long misses,
            long hits,
            long waits,
            long failedWaits,
            long evictions,
            long tooLong,
            long notAdmitted,
            int calls,
            long bytes) {}

    /** A cache for 8192 calls and 8 MiB of replies. */
    public ReplyCache() {
        this(DEFAULT_CALLS, DEFAULT_BYTES);
    }

    /**
     * A cache.
     *
     * @param maxCalls most calls remembered, 1 or more
     * @param maxBytes most bytes of replies, 0 or more
     */
    public ReplyCache(int maxCalls, long maxBytes) {
        this(maxCalls, maxBytes, DEFAULT_WAIT_NANOS);
    }

    ReplyCache(int maxCalls, long maxBytes, long waitNanos) {
        if (maxCalls < 1 || maxBytes < 0) {
            throw new IllegalArgumentException(maxCalls + " calls and " + maxBytes + " bytes: at least 1 and 0");
        }
        this.maxCalls = maxCalls;
        this.maxBytes = maxBytes;
        this.waitNanos = waitNanos;
    }

    /**
     * Answers a call: by executing it, or by what its execution gave.
     *
     * @param request stands before the arguments
     * @param execution writes the reply, whatever happens
     */
    Outcome serve(CallHeader header, RpcRequest request, Runnable execution) {
        CallFingerprint call = CallFingerprint.of(header, request);
        RecordedReply recorded;
        Running running;
        boolean admitted;
        synchronized (clients) {
            Client client = clients.computeIfAbsent(call.host(), host -> new Client());
            recorded = client.done.get(call);
            running = client.running.get(call);
            if (running != null) {
                running.duplicates++;
            }
            admitted = recorded == null && running == null && makeRoom(0);
            if (admitted) {
                client.running.put(call, new Running());
                calls++;
            }
            forgetIfEmpty(call.host(), client);
        }
        if (recorded != null) {
            hits.increment();
            recorded.writeTo(request.results());
            return Outcome.REPLIED;
        }
        if (running != null) {
            waits.increment();
            return await(running, header.xid(), request);
        }
        misses.increment();
        if (admitted) {
            execute(call, request.results(), execution);
        } else {
            notAdmitted.increment();
            execution.run();
        }
        return Outcome.REPLIED;
    }

    private void execute(CallFingerprint call, XdrWriter results, Runnable execution) {
        boolean replied = false;
        try {
            execution.run();
            replied = true;
        } finally {
            end(call, replied ? results : RecordedReply.systemError(call.xid()));
        }
    }

    /** The call has ended: its reply is recorded, and then those that wait for it are answered. */
    private void end(CallFingerprint call, XdrWriter results) {
        boolean isShort = results.position() <= MAX_REPLY_BYTES;
        RecordedReply reply = isShort ? RecordedReply.of(results) : null;
        Running running;
        synchronized (clients) {
            Client client = clients.get(call.host());
            running = client == null ? null : client.running.remove(call);
            if (client == null || running == null) {
                throw new AssertionError(call + " ended, and was not running");
            }
            calls--;
            if (reply != null) {
                record(client, call, reply);
            } else {
                tooLong.increment();
                reply = running.duplicates > 0 ? RecordedReply.of(results) : null;
            }
            running.reply = reply;
            forgetIfEmpty(call.host(), client);
        }
        running.ended.countDown();
        for (Consumer<XdrWriter> waiting : running.waiting) {
            answer(waiting, Objects.requireNonNull(reply));
        }
    }

    private void record(Client client, CallFingerprint call, RecordedReply reply) {
        if (makeRoom(reply.length())) {
            client.done.put(call, reply);
            client.bytes += reply.length();
            calls++;
            bytes += reply.length();
        } else {
            evictions.increment();
        }
    }

    /** A duplicate of a running call is answered when that has ended; its thread is held only if the transport cannot do without. */
    private Outcome await(Running running, int xid, RpcRequest request) {
        Consumer<XdrWriter> later = request.context().answerLater();
        Consumer<XdrWriter> crowdedOut = null;
        RecordedReply reply;
        boolean blocks = false;
        synchronized (clients) {
            reply = running.reply;
            if (later != null && reply == null) {
                crowdedOut = running.waiting.size() < MAX_WAITING ? null : running.waiting.removeFirst();
                running.waiting.add(later);
            } else if (reply == null && running.blocked < MAX_WAITING) {
                blocks = true;
                running.blocked++;
            }
        }
        if (later != null) {
            if (reply != null) {
                answer(later, reply);
            } else if (crowdedOut != null) {
                failedWaits.increment();
                crowdedOut.accept(RecordedReply.systemError(xid));
            }
            return Outcome.ANSWERED_LATER;
        }
        if (blocks) {
            reply = block(running);
        }
        if (reply == null) {
            failedWaits.increment();
            ReplyHeader.of(xid, AcceptStatus.SYSTEM_ERR).encode(request.results());
        } else {
            reply.writeTo(request.results());
        }
        return Outcome.REPLIED;
    }

    private @Nullable RecordedReply block(Running running) {
        try {
            if (!running.ended.await(waitNanos, TimeUnit.NANOSECONDS)) {
                LOG.log(System.Logger.Level.DEBUG, "a duplicate waited in vain for the end of its call");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (clients) {
            running.blocked--;
            return running.reply;
        }
    }

    private static void answer(Consumer<XdrWriter> waiting, RecordedReply reply) {
        XdrWriter message = new XdrWriter();
        reply.writeTo(message);
        try {
            waiting.accept(message);
        } catch (RuntimeException e) {
            // The others wait too, and this call is owed its own answer.
            LOG.log(System.Logger.Level.DEBUG, "a duplicate cannot be answered", e);
        }
    }

    /** Makes room for one more call with a reply of that length; false if there are too many that are running. */
    private boolean makeRoom(int replyBytes) {
        if (replyBytes > maxBytes) {
            return false;
        }
        while (calls >= maxCalls || bytes + replyBytes > maxBytes) {
            Client largest = null;
            InetAddress host = null;
            for (Map.Entry<InetAddress, Client> entry : clients.entrySet()) {
                Client client = entry.getValue();
                if (!client.done.isEmpty() && (largest == null || share(client) > share(largest))) {
                    largest = client;
                    host = entry.getKey();
                }
            }
            if (largest == null || host == null) {
                return false;
            }
            RecordedReply oldest = largest.done.pollFirstEntry().getValue();
            evictions.increment();
            largest.bytes -= oldest.length();
            calls--;
            bytes -= oldest.length();
        }
        return true;
    }

    /** Of the bound that is nearer. */
    private double share(Client client) {
        double ofCalls = (double) (client.running.size() + client.done.size()) / maxCalls;
        return maxBytes == 0 ? ofCalls : Math.max(ofCalls, (double) client.bytes / maxBytes);
    }

    private void forgetIfEmpty(InetAddress host, Client client) {
        if (client.running.isEmpty() && client.done.isEmpty()) {
            clients.remove(host);
        }
    }

    /** The numbers now. */
    public Statistics statistics() {
        int callsNow;
        long bytesNow;
        synchronized (clients) {
            callsNow = calls;
            bytesNow = bytes;
        }
        return new Statistics(
                misses.sum(),
                hits.sum(),
                waits.sum(),
                failedWaits.sum(),
                evictions.sum(),
                tooLong.sum(),
                notAdmitted.sum(),
                callsNow,
                bytesNow);
    }

    @Override
    public String toString() {
        return "reply cache: " + statistics();
    }
}
