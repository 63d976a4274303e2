// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.iwarp.error.MpaException;

/** Start-up frames built octet by octet, so that they can be wrong, and a second implementation of their reading. */
final class RawFrame {
    static final String REQUEST_KEY = "MPA ID Req Frame";
    static final String REPLY_KEY = "MPA ID Rep Frame";
    static final int M = 0x80;
    static final int C = 0x40;
    static final int R = 0x20;
    static final int S = 0x10;
    static final int A = 0x8000;
    static final int B = 0x4000;
    static final int RTR_WRITE = 0x8000;
    static final int RTR_READ = 0x4000;

    private RawFrame() {}

    static byte[] of(String key, int flags, int revision, int pdLength, byte[] body) {
        return ByteBuffer.allocate(20 + body.length)
                .put(key.getBytes(StandardCharsets.US_ASCII))
                .put((byte) flags)
                .put((byte) revision)
                .putShort((short) pdLength)
                .put(body)
                .array();
    }

    static byte[] plain(String key, int flags, byte[] privateData) {
        return of(key, flags, 1, privateData.length, privateData);
    }

    /** A frame of revision 2 with S=1 and these control words. */
    static byte[] enhanced(String key, int flags, int word0, int word1, byte[] privateData) {
        byte[] body = ByteBuffer.allocate(4 + privateData.length)
                .putShort((short) word0)
                .putShort((short) word1)
                .put(privateData)
                .array();
        return of(key, flags | S, 2, body.length, body);
    }

    static byte[] request(int word0, int word1) {
        return enhanced(REQUEST_KEY, C, word0, word1, bytes(0));
    }

    static byte[] reply(int word0, int word1) {
        return enhanced(REPLY_KEY, C, word0, word1, bytes(0));
    }

    static int flags(byte[] frame) {
        return frame[16] & 0xFF;
    }

    static int revision(byte[] frame) {
        return frame[17] & 0xFF;
    }

    static int pdLength(byte[] frame) {
        return u16(frame, 18);
    }

    static int word0(byte[] frame) {
        return u16(frame, 20);
    }

    static int word1(byte[] frame) {
        return u16(frame, 22);
    }

    static int depth(int word) {
        return word & 0x3FFF;
    }

    /** 1, 2, 3, … so that a shifted byte is seen. */
    static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return bytes;
    }

    static MpaFrame read(MpaFrame.Kind kind, byte[] frame) throws MpaException {
        MpaFrameReader reader = new MpaFrameReader(kind);
        reader.read(ByteBuffer.wrap(frame));
        return reader.frame();
    }

    static MpaOutcome outcome(MpaInitiator initiator, byte[] reply) throws MpaException {
        return Objects.requireNonNull(initiator.onBytes(ByteBuffer.wrap(reply)), "the Reply is incomplete");
    }

    static EnhancedSetup words(@Nullable EnhancedSetup setup) {
        return Objects.requireNonNull(setup, "S=0");
    }

    private static int u16(byte[] frame, int at) {
        return ((frame[at] & 0xFF) << 8) | (frame[at + 1] & 0xFF);
    }
}
