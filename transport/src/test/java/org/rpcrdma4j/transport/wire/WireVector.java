// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;

/** Whole messages, to the byte. Each was made by one encoder and read by another before it came here. */
public enum WireVector {
    /** NFSv3 NULL call, inline, 128 credits. */
    V1(28, """
            7b3f1c20 00000001 00000080 00000000
            00000000 00000000 00000000 7b3f1c20
            00000000 00000002 000186a3 00000003
            00000000 00000000 00000000 00000000
            00000000
            """),
    /** WRITE call, one Read chunk of one segment. */
    V2(52, """
            0a000001 00000001 00000080 00000000
            00000001 0000008c 00001a01 00002000
            0a000001 00010000 00000000 00000000
            00000000
            """),
    /** The same, two segments of one chunk, 5097 bytes together. */
    V2B(76, """
            0a000001 00000001 00000080 00000000
            00000001 0000008c 00001a02 00001000
            0a000001 00000200 00000001 0000008c
            00001b07 000003e9 0a000001 00031000
            00000000 00000000 00000000
            """),
    /** READ call, a Write chunk of 65536 bytes. */
    V3(52, """
            0a000002 00000001 00000080 00000000
            00000000 00000001 00000001 00002c11
            00010000 0a000002 00000000 00000000
            00000000
            """),
    /** Its reply: 64 credits, 4097 bytes written. */
    V3R(52, """
            0a000002 00000001 00000040 00000000
            00000000 00000001 00000001 00002c11
            00001001 0a000002 00000000 00000000
            00000000
            """),
    /** A reply to V3 that had no data: the chunk comes back unused. */
    V3Z(52, """
            0a000002 00000001 00000040 00000000
            00000000 00000001 00000001 00002c11
            00000000 0a000002 00000000 00000000
            00000000
            """),
    /** The same from a server that returns an empty chunk. */
    V3E(36, """
            0a000002 00000001 00000040 00000000
            00000000 00000001 00000000 00000000
            00000000
            """),
    /** READ call for 4097 bytes, with a segment for the pad, as Linux offers it. */
    V3P(68, """
            0a000002 00000001 00000080 00000000
            00000000 00000001 00000002 00002c12
            00001001 0a000002 00000000 00000f01
            00000004 00000000 00000ffc 00000000
            00000000
            """),
    /** READDIR call, a Reply chunk of 32768 bytes. */
    V4(48, """
            0a000003 00000001 00000080 00000000
            00000000 00000000 00000001 00000001
            00003d21 00008000 0a000003 00008000
            """),
    /** Its reply: RDMA_NOMSG, 20480 bytes in the Reply chunk. */
    V4R(48, """
            0a000003 00000001 00000040 00000001
            00000000 00000000 00000001 00000001
            00003d21 00005000 0a000003 00008000
            """),
    /** Long Call: RDMA_NOMSG, a Position-Zero Read chunk of 4096 + 2500 bytes. */
    V5(76, """
            0a000004 00000001 00000080 00000001
            00000001 00000000 00004e31 00001000
            0a000004 00000000 00000001 00000000
            00004e32 000009c4 0a000004 00001000
            00000000 00000000 00000000
            """),
    /** ERR_VERS, the answer to a call of version 2. */
    V6(28, "7b3f1c20 00000002 00000040 00000004 00000001 00000001 00000001"),
    /** ERR_CHUNK, the answer to V5. */
    V7(20, "0a000004 00000001 00000040 00000004 00000002"),
    /** Reverse call CB_NULL, 2 credits. */
    V8(28, """
            55aa0010 00000001 00000002 00000000
            00000000 00000000 00000000 55aa0010
            00000000 00000002 40000000 00000001
            00000000 00000000 00000000 00000000
            00000000
            """);

    private final int headerBytes;
    private final String hex;

    WireVector(int headerBytes, String hex) {
        this.headerBytes = headerBytes;
        this.hex = hex;
    }

    /** Where the RPC message begins. */
    public int headerBytes() {
        return headerBytes;
    }

    /** The message. */
    public byte[] bytes() {
        return octets(hex);
    }

    /** The message with another word at an index. */
    public byte[] with(int wordIndex, int word) {
        byte[] changed = bytes();
        Words.put(MemorySegment.ofArray(changed), (long) wordIndex * Words.BYTES, word);
        return changed;
    }

    /** Bytes from hexadecimal digits with blanks between them. */
    static byte[] octets(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
    }
}
