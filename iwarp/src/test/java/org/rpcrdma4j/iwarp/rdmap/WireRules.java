// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one end may send: exactly the messages that were posted, in that order, and between whole messages the Responses to what it
 * was asked, in that order. Every segment is compared with the message it must belong to.
 */
final class WireRules implements Consumer<WireSegment> {
    private static final int CONTROL_VERSION = 0x40;

    private final int ord;
    private final Deque<WireMessage> posted = new ArrayDeque<>();
    private final Deque<WireMessage> responses = new ArrayDeque<>();
    private final int[] nextMsn = {1, 1, 1};
    private @Nullable WireMessage open;
    private int sent;
    private int openReads;
    private int mostOpenReads;
    private long segments;
    private final Deque<WireMessage> underWay = new ArrayDeque<>();
    private boolean terminated;
    private @Nullable WireSegment terminate;

    WireRules(int ord) {
        this.ord = ord;
    }

    void presetMsn(int send, int read) {
        nextMsn[0] = send;
        nextMsn[1] = read;
    }

    /** A request that will cause this message was posted. */
    void posted(WireMessage message) {
        posted.add(message);
    }

    /** A Read Request that will cause this Response was delivered. */
    void asked(WireMessage response) {
        responses.add(response);
    }

    /** The oldest Read was answered. */
    void answered() {
        openReads--;
    }

    int openReads() {
        return openReads;
    }

    int mostOpenReads() {
        return mostOpenReads;
    }

    long segments() {
        return segments;
    }

    /** The last segment of the oldest message under way was delivered. */
    void delivered() {
        underWay.remove().onDelivered().run();
    }

    boolean isIdle() {
        return posted.isEmpty() && responses.isEmpty() && open == null;
    }

    /** Bytes of the open Response that were sent. */
    int sentOfOpen() {
        return open == null ? 0 : sent;
    }

    boolean isAnswering() {
        return open != null && open.opcode() == WireSegment.RESPONSE;
    }

    /** The Response that is being sent or comes next. */
    WireMessage nextResponse() {
        WireMessage message = open;
        return message != null && isAnswering() ? message : responses.element();
    }

    /** The Terminate that was sent, if any. */
    @Nullable
    WireSegment terminate() {
        return terminate;
    }

    @Override
    public void accept(WireSegment segment) {
        require(!terminated, "nothing is sent behind a Terminate", segment);
        segments++;
        require(segment.ddpRest() == 1, "DDP version 1, reserved bits zero", segment);
        require((segment.control() & 0xF0) == CONTROL_VERSION, "RDMAP version 1, reserved bits zero", segment);
        require(segment.tagged() == (segment.opcode() == 0 || segment.opcode() == 2), "T bit", segment);
        if (segment.opcode() == WireSegment.TERMINATE) {
            terminated = true;
            terminate = segment;
            return;
        }
        WireMessage message = open;
        if (message == null) {
            message = begin(segment);
        }
        require(segment.opcode() == message.opcode(), "one message at a time: " + message, segment);
        checkHeader(message, segment);
        checkPayload(message, segment);
        sent += segment.payloadBytes();
        boolean whole = sent == message.payload().remaining();
        require(segment.last() == whole, "L on the last segment and on no other", segment);
        require(segment.last() || segment.payloadBytes() > 0, "no empty segment inside a message", segment);
        if (whole) {
            end(message);
        }
    }

    private WireMessage begin(WireSegment segment) {
        boolean response = segment.opcode() == WireSegment.RESPONSE;
        WireMessage message = response ? responses.poll() : posted.poll();
        require(message != null, "nothing more to send", segment);
        if (message == null) {
            throw new AssertionError();
        }
        require(!message.fence() || openReads == 0, "a fenced request waits for the Reads", segment);
        open = message;
        sent = 0;
        return message;
    }

    private void checkHeader(WireMessage message, WireSegment segment) {
        if (segment.tagged()) {
            require(segment.stag() == message.stag(), "STag of " + message, segment);
            require(segment.to() == message.to() + sent, "TO of " + message, segment);
            return;
        }
        int queue = segment.opcode() == WireSegment.READ_REQUEST ? 1 : 0;
        require(segment.stag() == message.stag(), "STag to invalidate of " + message, segment);
        require(segment.queue() == queue, "queue of " + message, segment);
        require(segment.msn() == nextMsn[queue], "MSN " + nextMsn[queue], segment);
        require(segment.mo() == sent, "MO " + sent, segment);
        if (segment.last()) {
            nextMsn[queue]++;
        }
    }

    private void checkPayload(WireMessage message, WireSegment segment) {
        ByteBuffer expected = message.payload();
        int left = expected.remaining() - sent;
        require(segment.payloadBytes() <= left, "no more bytes than " + message, segment);
        ByteBuffer part = expected.slice(sent, segment.payloadBytes());
        require(part.equals(segment.payload()), "the bytes of " + message + " from " + sent, segment);
    }

    private void end(WireMessage message) {
        open = null;
        message.onSent().run();
        underWay.add(message);
        if (message.opcode() == WireSegment.READ_REQUEST) {
            openReads++;
            mostOpenReads = Math.max(mostOpenReads, openReads);
            if (openReads > ord) {
                throw new AssertionError(openReads + " Reads open, agreed are " + ord);
            }
        }
    }

    private static void require(boolean good, String rule, WireSegment segment) {
        if (!good) {
            throw new AssertionError("expected: " + rule + "; found: " + segment + " at " + segment.start());
        }
    }
}
