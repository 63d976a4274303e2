// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A number of bytes as people write it: 4096, 64KiB, 256MiB, 1GiB. K, M and G alone mean the same.
 *
 * @param bytes the number
 */
record ByteSize(long bytes) {
    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,18})\\s*(?:([kmg])(?:ib)?|b)?", Pattern.CASE_INSENSITIVE);

    /** @throws IllegalArgumentException if it is no size, is 0, or is beyond 2^63 */
    static ByteSize parse(String text) {
        Matcher form = FORM.matcher(text.strip());
        if (!form.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no size; expected a number with B, KiB, MiB or GiB, such as 256MiB");
        }
        String unit = form.group(2);
        long factor = unit == null
                ? 1
                : switch (unit.toLowerCase(Locale.ROOT)) {
                    case "k" -> 1L << 10;
                    case "m" -> 1L << 20;
                    default -> 1L << 30;
                };
        long number = Long.parseLong(form.group(1));
        if (number == 0 || number > Long.MAX_VALUE / factor) {
            throw new IllegalArgumentException("'" + text + "' is out of bounds; expected 1B to less than 2^63 bytes");
        }
        return new ByteSize(number * factor);
    }

    @Override
    public String toString() {
        String[] units = {" B", " KiB", " MiB", " GiB"};
        int unit = 0;
        long value = bytes;
        while (unit < units.length - 1 && value % 1024 == 0) {
            value /= 1024;
            unit++;
        }
        return value + units[unit];
    }

    /** For people: 999 B, 1.0 KiB, 9.9 MiB, 10 GiB, 1023 GiB. */
    static String approximate(long bytes) {
        String[] units = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
        int unit = 0;
        double value = bytes;
        while (unit < units.length - 1 && Math.round(value) >= 1024) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit > 0 && value < 9.95 ? "%.1f%s" : "%.0f%s", value, units[unit]);
    }

    /** For picocli. */
    static final class Converter implements ITypeConverter<ByteSize> {
        Converter() {}

        @Override
        public ByteSize convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
