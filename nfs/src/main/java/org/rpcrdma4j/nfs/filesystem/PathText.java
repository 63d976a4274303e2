// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import org.rpcrdma4j.nfs.protocol.FileName;

/**
 * Names as text and back, without loss: UTF-8, and each byte 0x80 to 0xFF that is no part of it as one of the characters U+DC80 to U+DCFF,
 * which UTF-8 never yields. So every name has a text of its own that leads back to it; encoders of other file systems refuse such a text
 * instead of making some other name of it.
 */
final class PathText {

    private static final char FIRST_ESCAPE = '\udc80';
    private static final char LAST_ESCAPE = '\udcff';
    private static final int ESCAPE_BASE = 0xdc00;

    private PathText() {}

    /**
     * The bytes of a text.
     *
     * @throws InvalidPathException if it holds a zero, or half a character
     */
    static byte[] encode(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); ) {
            int character = text.codePointAt(i);
            if (character == 0) {
                throw new InvalidPathException(text, "a zero character", i);
            } else if (character >= FIRST_ESCAPE && character <= LAST_ESCAPE) {
                bytes.write(character - ESCAPE_BASE);
            } else if (character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE) {
                throw new InvalidPathException(text, "half a character", i);
            } else {
                bytes.writeBytes(Character.toString(character).getBytes(StandardCharsets.UTF_8));
            }
            i += Character.charCount(character);
        }
        return bytes.toByteArray();
    }

    /** A name's text. */
    static String decode(FileName name) {
        byte[] bytes = name.bytes();
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException _) {
            return decodeInPieces(bytes);
        }
    }

    private static String decodeInPieces(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        int at = 0;
        while (at < bytes.length) {
            int length = lengthOfCharacter(bytes[at] & 0xff);
            if (at + length > bytes.length || !append(bytes, at, length, text)) {
                text.append((char) (ESCAPE_BASE + (bytes[at] & 0xff)));
                length = 1;
            }
            at += length;
        }
        return text.toString();
    }

    /** How long the lead byte says that the character is; 1 if it is no lead byte. */
    private static int lengthOfCharacter(int lead) {
        return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    }

    private static boolean append(byte[] bytes, int at, int length, StringBuilder text) {
        try {
            text.append(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, at, length)));
            return true;
        } catch (CharacterCodingException _) {
            return false;
        }
    }
}
