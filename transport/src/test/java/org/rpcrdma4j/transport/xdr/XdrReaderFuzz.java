// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.rpcrdma4j.transport.fuzz.Pieces;

/**
 * Any row of reads on any bytes: nothing but {@link XdrException}, the same values and positions from a message in one piece and in
 * many.
 *
 * <p>Input: number of reads, one byte for each, a byte for the cuts, the message.
 */
public final class XdrReaderFuzz {
    private static final int MAX_BOUND = 64;

    private XdrReaderFuzz() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length < 2) {
            return;
        }
        int end = Math.min(1 + (input[0] & 0x1F), input.length - 1);
        byte[] reads = Arrays.copyOfRange(input, 1, end);
        byte[] message = Arrays.copyOfRange(input, end + 1, input.length);
        String whole = read(new XdrReader(MemorySegment.ofArray(message)), reads, message.length);
        String cut = read(new XdrReader(Pieces.cut(message, input[end])), reads, message.length);
        if (!whole.equals(cut)) {
            throw new AssertionError("expected " + whole + ", found " + cut);
        }
    }

    private static String read(XdrReader in, byte[] reads, int length) {
        StringBuilder text = new StringBuilder();
        long absent = 0;
        try {
            for (byte read : reads) {
                long before = in.position();
                int bound = (read >> 4 & 0x0F) * 4;
                absent += readOne(in, read & 0x0F, bound, text);
                text.append(" @").append(in.position()).append('\n');
                if (in.position() < before || in.position() - absent + in.remaining() != length) {
                    throw new AssertionError("position " + in.position() + ", remaining " + in.remaining());
                }
            }
        } catch (XdrException e) {
            text.append(e.reason());
        }
        return text.toString();
    }

    /** Returns how far the position moved over bytes that are not there. */
    private static long readOne(XdrReader in, int read, int bound, StringBuilder text) throws XdrException {
        switch (read) {
            case 0 -> text.append(in.readInt());
            case 1 -> text.append(in.readUnsignedInt());
            case 2 -> text.append(in.readHyper());
            case 3 -> text.append(in.readBool());
            case 4 -> text.append(in.readEnum(-1, bound));
            case 5 -> text.append(in.readCount(bound, 4));
            case 6 -> text.append(in.readLength(bound));
            case 7 -> hex(in.readOpaque(bound), text);
            case 8 -> hex(in.readFixedOpaque(bound + 1L), text);
            case 9 -> text.append(in.readString(bound));
            case 10 -> {
                List<MemorySegment> pieces = new ArrayList<>();
                in.readPieces(bound, pieces);
                pieces.forEach(piece -> hex(piece, text));
            }
            case 11 -> in.skip(bound);
            case 12 -> text.append(in.skipOpaque(MAX_BOUND));
            case 13 -> {
                in.skipAbsent(bound);
                return bound;
            }
            case 14 -> in.requireEnd();
            default -> text.append(in.readCount(Integer.MAX_VALUE, Integer.MAX_VALUE));
        }
        return 0;
    }

    private static void hex(MemorySegment bytes, StringBuilder text) {
        text.append(HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE)));
    }
}
