// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** Writes maps, lists, strings, numbers, booleans and null as JSON (RFC 8259). */
final class JsonText {
    private JsonText() {}

    static String of(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case Map<?, ?> map -> {
                StringJoiner members = new StringJoiner(",", "{", "}");
                map.forEach((name, member) -> members.add(quoted(String.valueOf(name)) + ":" + of(member)));
                yield members.toString();
            }
            case List<?> list -> {
                StringJoiner elements = new StringJoiner(",", "[", "]");
                list.forEach(element -> elements.add(of(element)));
                yield elements.toString();
            }
            case Double number when !Double.isFinite(number) -> "null";
            case Number number -> number.toString();
            case Boolean flag -> flag.toString();
            default -> quoted(value.toString());
        };
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
