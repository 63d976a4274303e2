// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

/** How many columns of a terminal text takes: wide characters two, marks that stand over another character none. */
final class TextWidth {
    /** First and last characters of the ranges that are wide (Unicode Standard Annex 11), coarsely. */
    private static final int[] WIDE = {
        0x1100, 0x115f, 0x2e80, 0xa4cf, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe30, 0xfe6f, 0xff00, 0xff60, 0xffe0, 0xffe6,
        0x1f300, 0x1faff, 0x20000, 0x3fffd
    };

    private TextWidth() {}

    static int of(String text) {
        return text.codePoints().map(TextWidth::of).sum();
    }

    private static int of(int character) {
        int type = Character.getType(character);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK || type == Character.FORMAT) {
            return 0;
        }
        for (int i = 0; i < WIDE.length; i += 2) {
            if (character >= WIDE[i] && character <= WIDE[i + 1]) {
                return 2;
            }
        }
        return 1;
    }

    /** The text's end in at most so many columns, after an ellipsis if it does not fit: of a path the end tells most. */
    static String end(String text, int columns) {
        if (of(text) <= columns) {
            return text;
        }
        int from = text.length();
        int taken = 1;
        while (from > 0) {
            int character = text.codePointBefore(from);
            if (taken + of(character) > columns) {
                break;
            }
            taken += of(character);
            from -= Character.charCount(character);
        }
        return columns < 1 ? "" : "…" + text.substring(from);
    }
}
