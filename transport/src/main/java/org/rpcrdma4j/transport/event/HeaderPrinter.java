// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * Writes each message's transport header as a line of text, with one indented line for each segment of its chunk lists:
 *
 * <pre>
 *   SENT connection 3 xid 0x0000002a RDMA_MSG credits 32 read 1 write 1 reply 0 RPC call of 120 bytes
 *       read at 84 handle 0x00001103 length 65536 offset 0x00007f0012340000
 *       write 0.0 handle 0x00001204 length 8192 offset 0x00007f0012350000
 * </pre>
 *
 * <p>It reads by itself, not with the codec, and shows of a malformed message what can be read of it. Nothing on the wire, and no
 * failure of the target, makes it throw. It writes at most {@value #MAX_SEGMENT_LINES} segments of a message, in one piece. Any thread.
 */
final class HeaderPrinter implements WireListener {

    private static final int MAX_SEGMENT_LINES = 32;
    private static final int MAX_RAW_BYTES = 32;
    private static final int FIXED_BYTES = 16;
    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final String[] PROCEDURES = {"RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR"};

    private final Appendable target;

    HeaderPrinter(Appendable target) {
        this.target = target;
    }

    @Override
    public void onMessage(Direction direction, long connectionId, MemorySegment message, long offset, int length) {
        StringBuilder text = new StringBuilder(256);
        text.append(direction).append(" connection ").append(connectionId);
        try {
            new Header(message.asSlice(offset, length), text).print();
        } catch (RuntimeException e) {
            // The memory does not hold what was said, or is closed.
            text.append(" unreadable: ").append(e).append('\n');
        }
        write(text);
    }

    private synchronized void write(StringBuilder text) {
        try {
            target.append(text);
        } catch (IOException | RuntimeException e) {
            System.getLogger(HeaderPrinter.class.getName())
                    .log(System.Logger.Level.DEBUG, "wire listener cannot write", e);
        }
    }

    /** Tells that the message ends before its header does, or has a word that cannot stand there. */
    private static final class Malformed extends Exception {
        private static final long serialVersionUID = 1;

        Malformed(String what) {
            super(what, null, false, false);
        }
    }

    /** One message being read. */
    private static final class Header {
        private final MemorySegment message;
        private final StringBuilder line;
        private final StringBuilder segmentLines = new StringBuilder();
        private int segments;
        private long at;

        Header(MemorySegment message, StringBuilder line) {
            this.message = message;
            this.line = line;
        }

        void print() {
            if (message.byteSize() < FIXED_BYTES) {
                line.append(" short message of ").append(message.byteSize()).append(" bytes");
                raw(0);
            } else {
                try {
                    fixedPart();
                } catch (Malformed e) {
                    line.append(" MALFORMED at byte ").append(at).append(": ").append(e.getMessage());
                    raw(at);
                }
            }
            line.append('\n').append(segmentLines);
            if (segments > MAX_SEGMENT_LINES) {
                line.append("    and ").append(segments - MAX_SEGMENT_LINES).append(" more segments\n");
            }
        }

        private void fixedPart() throws Malformed {
            line.append(" xid ").append(hex(word()));
            int version = word();
            int credits = word();
            int procedure = word();
            boolean known = procedure >= 0 && procedure < PROCEDURES.length;
            line.append(' ').append(known ? PROCEDURES[procedure] : "procedure " + Integer.toUnsignedString(procedure));
            if (version != 1) {
                line.append(" version ").append(Integer.toUnsignedString(version));
            }
            line.append(" credits ").append(Integer.toUnsignedString(credits));
            if (version != 1 || !known) {
                // Nothing is known of what follows.
                line.append(", ").append(message.byteSize() - at).append(" bytes follow");
                raw(at);
                return;
            }
            switch (procedure) {
                case 0, 1 -> lists();
                case 2 -> {
                    line.append(" align ").append(Integer.toUnsignedString(word()));
                    line.append(" threshold ").append(Integer.toUnsignedString(word()));
                    lists();
                }
                case 4 -> error();
                default -> rest();
            }
        }

        private void lists() throws Malformed {
            int readSegments = 0;
            while (isPresent()) {
                int position = word();
                readSegments++;
                segment("read at " + Integer.toUnsignedString(position));
            }
            line.append(" read ").append(readSegments);
            int chunks = 0;
            while (isPresent()) {
                chunk("write " + chunks++);
            }
            line.append(" write ").append(chunks);
            if (isPresent()) {
                line.append(" reply ").append(chunk("reply 0"));
            } else {
                line.append(" no reply chunk");
            }
            rest();
        }

        private int chunk(String name) throws Malformed {
            int count = word();
            if (Integer.compareUnsigned(count, (int) ((message.byteSize() - at) / FIXED_BYTES)) > 0) {
                throw new Malformed("a chunk of " + Integer.toUnsignedString(count) + " segments");
            }
            for (int i = 0; i < count; i++) {
                segment(name + "." + i);
            }
            return count;
        }

        private void segment(String name) throws Malformed {
            int handle = word();
            int length = word();
            long offset = (long) word() << 32 | Integer.toUnsignedLong(word());
            if (segments++ < MAX_SEGMENT_LINES) {
                segmentLines.append("    ").append(name);
                segmentLines.append(" handle ").append(hex(handle));
                segmentLines.append(" length ").append(Integer.toUnsignedString(length));
                segmentLines
                        .append(" offset 0x")
                        .append(HexFormat.of().toHexDigits(offset))
                        .append('\n');
            }
        }

        private void error() throws Malformed {
            int code = word();
            switch (code) {
                case 1 ->
                    line.append(" ERR_VERS ")
                            .append(Integer.toUnsignedString(word()))
                            .append(" to ")
                            .append(Integer.toUnsignedString(word()));
                case 2 -> line.append(" ERR_CHUNK");
                default -> line.append(" error ").append(Integer.toUnsignedString(code));
            }
        }

        private void rest() {
            long left = message.byteSize() - at;
            if (left == 0) {
                line.append(" no RPC message");
                return;
            }
            line.append(" RPC ");
            if (left >= 8) {
                // RFC 5531, Section 9: the second word of a message tells whether it is a call or a reply.
                int type = message.get(WORD, at + 4);
                line.append(type == 0 ? "call of " : type == 1 ? "reply of " : "message of no known type of ");
            }
            line.append(left).append(" bytes");
        }

        private boolean isPresent() throws Malformed {
            int word = word();
            if (word != 0 && word != 1) {
                at -= 4;
                throw new Malformed(hex(word) + " is no list discriminator");
            }
            return word == 1;
        }

        private int word() throws Malformed {
            if (message.byteSize() - at < 4) {
                throw new Malformed("the header ends early");
            }
            int word = message.get(WORD, at);
            at += 4;
            return word;
        }

        private void raw(long from) {
            long count = Math.min(MAX_RAW_BYTES, message.byteSize() - from);
            if (count > 0) {
                byte[] bytes = message.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE);
                line.append(" [").append(HexFormat.of().formatHex(bytes)).append(']');
            }
        }

        private static String hex(int word) {
            return "0x" + HexFormat.of().toHexDigits(word);
        }
    }
}
