// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.raw;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Builds messages word by word. Knows the layout of RFC 8166 and RFC 5531 on its own, and nothing of the product's encoders. */
public final class Words {

    public static final int RDMA_MSG = 0;
    public static final int RDMA_NOMSG = 1;
    public static final int RDMA_MSGP = 2;
    public static final int RDMA_DONE = 3;
    public static final int RDMA_ERROR = 4;
    public static final int ERR_VERS = 1;
    public static final int ERR_CHUNK = 2;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    public Words() {}

    /** Words in hexadecimal, white space ignored. */
    public static Words hex(String text) {
        return new Words().raw(HexFormat.of().parseHex(text.replaceAll("\\s", "")));
    }

    /** The four fixed words of a transport header. */
    public static Words header(int xid, int version, int credits, int procedure) {
        return new Words().u32(xid, version, credits, procedure);
    }

    /** A header of version 1 without any chunk: what an inline message begins with. */
    public static Words inline(int xid, int credits) {
        return header(xid, 1, credits, RDMA_MSG).noChunks();
    }

    /** RDMA_ERROR with ERR_CHUNK. */
    public static Words errorChunk(int xid, int version, int credits) {
        return header(xid, version, credits, RDMA_ERROR).u32(ERR_CHUNK);
    }

    /** RDMA_ERROR with ERR_VERS. */
    public static Words errorVersion(int xid, int version, int credits, int low, int high) {
        return header(xid, version, credits, RDMA_ERROR).u32(ERR_VERS, low, high);
    }

    /** An RPC call with AUTH_NONE: 40 bytes, and the arguments. */
    public static Words call(int xid, int program, int version, int procedure) {
        return new Words().u32(xid, 0, 2, program, version, procedure, 0, 0, 0, 0);
    }

    /** An RPC reply, accepted with the given status: 24 bytes, and the results. */
    public static Words reply(int xid, int acceptStatus) {
        return new Words().u32(xid, 1, 0, 0, 0, acceptStatus);
    }

    public Words u32(int... words) {
        for (int word : words) {
            for (int shift = 24; shift >= 0; shift -= 8) {
                bytes.write(word >>> shift);
            }
        }
        return this;
    }

    public Words u64(long value) {
        return u32((int) (value >>> 32), (int) value);
    }

    /** Bytes as they are. */
    public Words raw(byte... some) {
        bytes.writeBytes(some);
        return this;
    }

    public Words add(Words other) {
        return raw(other.toBytes());
    }

    /** Bytes and their XDR padding. */
    public Words padded(byte... some) {
        raw(some);
        return raw(new byte[-some.length & 3]);
    }

    /** Variable-length opaque data: the count word, the bytes, the padding. */
    public Words opaque(byte... some) {
        return u32(some.length).padded(some);
    }

    /** Three empty lists. */
    public Words noChunks() {
        return u32(0, 0, 0);
    }

    /** One entry of a Read list, not the end of the list. */
    public Words readSegment(int position, Segment segment) {
        return u32(1, position).segment(segment);
    }

    /** One Write chunk, or a Reply chunk; not the end of the Write list. */
    public Words chunk(Segment... segments) {
        return chunk(List.of(segments));
    }

    /** One Write chunk, or a Reply chunk; not the end of the Write list. */
    public Words chunk(List<Segment> segments) {
        u32(1, segments.size());
        segments.forEach(this::segment);
        return this;
    }

    /** The end of a list, or an absent Reply chunk. */
    public Words end() {
        return u32(0);
    }

    private Words segment(Segment segment) {
        return u32(segment.handle(), segment.length()).u64(segment.offset());
    }

    public int length() {
        return bytes.size();
    }

    public byte[] toBytes() {
        return bytes.toByteArray();
    }

    /** The first bytes. */
    public byte[] cut(int length) {
        return Arrays.copyOf(toBytes(), length);
    }

    @Override
    public String toString() {
        return format(toBytes());
    }

    /** Bytes as words in hexadecimal. */
    public static String format(byte[] some) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < some.length; i++) {
            text.append(i > 0 && i % 4 == 0 ? " " : "").append(HexFormat.of().toHexDigits(some[i]));
        }
        return text.toString();
    }
}
