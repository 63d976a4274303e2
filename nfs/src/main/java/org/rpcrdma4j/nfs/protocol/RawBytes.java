// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** Names and paths are bytes of no declared encoding (RFC 1813, Section 3.2). */
final class RawBytes {

    private RawBytes() {}

    static byte[] read(XdrReader in, long most) throws XdrException {
        return toArray(in.readOpaque(most));
    }

    static byte[] toArray(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }

    /** UTF-8 if it is that and can be printed; every other byte as a backslash, x and two digits. */
    static String escape(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        int at = 0;
        while (at < bytes.length) {
            int length = lengthOfCharacter(bytes, at);
            if (length == 0 || !appendCharacter(bytes, at, length, text)) {
                text.append("\\x").append(HexFormat.of().toHexDigits(bytes[at]));
                length = 1;
            }
            at += length;
        }
        return text.toString();
    }

    /** How long the lead byte says that the character is; 0 if it is no lead byte or the character is cut. */
    private static int lengthOfCharacter(byte[] bytes, int at) {
        int lead = bytes[at] & 0xff;
        int length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
        return at + length <= bytes.length ? length : 0;
    }

    private static boolean appendCharacter(byte[] bytes, int at, int length, StringBuilder text) {
        CharBuffer decoded;
        try {
            decoded = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, at, length));
        } catch (CharacterCodingException e) {
            return false;
        }
        int character = Character.codePointAt(decoded, 0);
        if (character == '\\' || !isPrintable(character)) {
            return false;
        }
        text.append(decoded);
        return true;
    }

    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
