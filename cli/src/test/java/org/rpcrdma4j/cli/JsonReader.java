// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads JSON (RFC 8259) strictly: maps, lists, strings, {@link BigDecimal}, booleans and "null" for null. */
final class JsonReader {
    private static final Pattern TOKEN = Pattern.compile("[ \\t\\r\\n]*("
            + "[{}\\[\\],:]"
            + "|\"(?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4}))*\""
            + "|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?"
            + "|true|false|null)[ \\t\\r\\n]*");

    private final Matcher tokens;
    private String token = "";

    private JsonReader(String text) {
        tokens = TOKEN.matcher(text);
    }

    /** A text that is one object. */
    static Map<?, ?> object(String text) {
        JsonReader reader = new JsonReader(text);
        reader.advance();
        Object value = reader.value();
        if (reader.tokens.regionStart() != text.length()) {
            throw new AssertionError("something behind it: " + text);
        }
        return (Map<?, ?>) value;
    }

    private void advance() {
        if (!tokens.lookingAt()) {
            throw new AssertionError("no JSON from " + tokens.regionStart() + " on");
        }
        token = tokens.group(1);
        tokens.region(tokens.end(), tokens.regionEnd());
    }

    private void expect(String what) {
        if (!token.equals(what)) {
            throw new AssertionError("expected " + what + ", found " + token + " before " + tokens.regionStart());
        }
    }

    /** The value that begins with the token; the token is its last one then. */
    private Object value() {
        return switch (token.charAt(0)) {
            case '{' -> members();
            case '[' -> elements();
            case '"' -> token.substring(1, token.length() - 1);
            case 't' -> true;
            case 'f' -> false;
            case 'n' -> "null";
            default -> new BigDecimal(token);
        };
    }

    private Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        advance();
        while (!token.equals("}")) {
            if (!members.isEmpty()) {
                expect(",");
                advance();
            }
            String name = (String) value();
            advance();
            expect(":");
            advance();
            members.put(name, value());
            advance();
        }
        return members;
    }

    private List<Object> elements() {
        List<Object> elements = new ArrayList<>();
        advance();
        while (!token.equals("]")) {
            if (!elements.isEmpty()) {
                expect(",");
                advance();
            }
            elements.add(value());
            advance();
        }
        return elements;
    }
}
